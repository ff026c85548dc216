"""
What a fake provider is to say, and what it was asked.
"""

from __future__ import annotations

import json
import reprlib
import threading

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, final

from ... import ToolCall, Turn


Data: TypeAlias = dict[str, Any]

_DICT: Any = dict


def _is_mapping(given: object) -> bool:
    return isinstance(given, Mapping)


class NotSayableError(Exception):
    """
    The wire has no words for what the script says.
    """


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class FakeReply:
    """
    A turn of a script, with what else can happen on the way.

    Attributes:
        turn: What is said.
        provider_items: Put before it as they are: calls of the provider's own tools,
            thoughts, in the words of the wire that is spoken.
        refused: The text is a refusal.
        ending: Why the turn ended, in the words of the wire, instead of what fits.
        cut_after: Events of a stream after which the connection breaks; without a
            stream, bytes of the answer.
        silently: The connection does not break then: it ends as if all were said.
        until: The end of the answer waits until this is set; all before it is sent.

    Raises:
        TypeError: One of these is another kind of thing.
        ValueError: *cut_after* is below 0, or *silently* has nothing that is cut.
    """

    turn: Turn
    provider_items: Sequence[Mapping[str, Any]] = ()
    refused: bool = False
    ending: str | None = None
    cut_after: int | None = None
    silently: bool = False
    until: threading.Event | None = None

    def __post_init__(self) -> None:
        self._check("turn", "a Turn", Turn)
        self._check("provider_items", "a list of objects", Sequence)
        for item in self.provider_items:
            if not _is_mapping(item):
                raise self._refusal("provider_items", "a list of objects", item)
        self._check("refused", "True or False", bool)
        self._check("silently", "True or False", bool)
        self._check("ending", "a text or None", str, type(None))
        rule = "a whole number from 0, or None"
        self._check("cut_after", rule, int, type(None))
        if isinstance(self.cut_after, bool):
            raise self._refusal("cut_after", rule, self.cut_after)
        if self.cut_after is not None and self.cut_after < 0:
            raise ValueError(
                f"FakeReply(cut_after=...) takes {rule}, got {self.cut_after}."
            )
        if self.silently and self.cut_after is None:
            raise ValueError(
                "FakeReply(silently=True) says how an answer is cut off, so it takes "
                "cut_after=... as well."
            )
        self._check("until", "a threading.Event or None", threading.Event, type(None))

    def _check(self, option: str, rule: str, *kinds: type) -> None:
        given: object = getattr(self, option)
        if not isinstance(given, kinds):
            raise self._refusal(option, rule, given)

    def _refusal(self, option: str, rule: str, given: object) -> TypeError:
        return TypeError(
            f"FakeReply({option}=...) takes {rule}, got {reprlib.repr(given)}."
        )


def checked(entry: object) -> FakeReply | int:
    """
    Return an entry of a script: a reply, or the status that a request fails with.

    Raises:
        TypeError: It is neither, nor a turn.
    """
    if isinstance(entry, Turn):
        return FakeReply(turn=entry)
    if isinstance(entry, FakeReply) or (isinstance(entry, int) and 400 <= entry < 600):
        return entry

    raise TypeError(f"A script has turns, replies and HTTP statuses, got {entry!r}.")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class FakeRequest:
    """
    A request that a fake provider got.

    Attributes:
        path: Where it went, with its query.
        headers: Its headers, the names in lower case.
        body: What it said.
    """

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any] = field(repr=False)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """
    One reply, about to be put into the words of a wire.

    Attributes:
        reply: What is said.
        number: Which request it answers, from 1.
        model: The model that was asked for.
        piece: Characters of each piece of a stream.
        makes_ids: Whether calls without an id get one.
    """

    reply: FakeReply
    number: int
    model: str
    piece: int
    makes_ids: bool

    @property
    def turn(self) -> Turn:
        """
        What is said.
        """
        return self.reply.turn

    def id_of(self, place: int, call: ToolCall, prefix: str) -> str | None:
        """
        Return the id of a call, or None where it goes without.
        """
        if call.id is not None or not self.makes_ids:
            return call.id

        return f"{prefix}_{self.number}_{place}"

    def pieces(self, text: str) -> list[str]:
        """
        Cut a text into the pieces of a stream.
        """
        return [text[i : i + self.piece] for i in range(0, len(text), self.piece)]


class Speaker(Protocol):
    """
    One wire.
    """

    def whole(self, saying: Saying, /) -> Data:
        """
        Return the answer in one piece.
        """
        ...

    def events(self, saying: Saying, /) -> list[Data]:
        """
        Return the answer as the events of a stream.
        """
        ...


def text_in(call: ToolCall) -> str | None:
    """
    Return the arguments of a call as text; None where there are none.
    """
    given = call.arguments
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, bytes):
        return given.decode("utf-8", "replace")

    return json.dumps(dict(given), ensure_ascii=False)


def object_in(call: ToolCall) -> Data:
    """
    Return the arguments of a call as an object.

    Raises:
        NotSayableError: They are text that is none.
    """
    try:
        read: Any = json.loads(text_in(call) or "{}")
    except ValueError as error:
        raise NotSayableError(
            f"This wire has arguments as objects, and those of {call.name!r} are none."
        ) from error
    if not isinstance(read, _DICT):
        raise NotSayableError(
            f"This wire has arguments as objects, and those of {call.name!r} are none."
        )
    made: Data = read

    return made


def without_none(**members: Any) -> Data:
    """
    Return an object without the members that are None.
    """
    return {name: value for name, value in members.items() if value is not None}
