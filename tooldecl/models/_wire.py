"""
What the wires of the providers have in common.

A wire is pure: it makes the body of a request, and reads a whole answer, both as plain
data. A streamed answer is put together first, so that there is one reader of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, final

from .. import ModelRequest, Turn


# What goes over a wire is JSON, and what is in it is known once it is read.
Data: TypeAlias = dict[str, Any]
Given: TypeAlias = Mapping[str, Any]

# What is no error for a model: that nothing was found is an answer too.
_RAN = ("ok", "not_found", "pending")

# Stands where a user said nothing: providers refuse a message of nothing.
NO_TEXT = "(no text)"

_MAPPING: Any = Mapping
_DICT: Any = dict
_LIST: Any = list


@final
@dataclass(frozen=True, slots=True)
class Asked:
    """
    What is sent.

    Attributes:
        body: The request.
        before: What the provider said of this turn before it paused.
    """

    body: Data
    before: Sequence[Data] = ()


class Pieces(Protocol):
    """
    Puts a streamed answer together.
    """

    def add(self, event: Data, /) -> str:
        """
        Take the next event; return the piece of text that it brought.
        """
        ...

    def answer(self) -> Data:
        """
        Return the answer as it would have come in one piece.

        Raises:
            ConnectionError: The stream ended before its turn was complete.
        """
        ...


class Wire(Protocol):
    """
    How one provider is spoken to.
    """

    def body(self, request: ModelRequest, /) -> Data:
        """
        Return what is sent.
        """
        ...

    def read(self, asked: Asked, answer: Data, /) -> Turn | Asked:
        """
        Return the turn; or what is sent next, where the provider only paused.

        Raises:
            RuntimeError: The provider failed, and says so in its answer.
        """
        ...

    def pieces(self) -> Pieces:
        """
        Return what puts one streamed answer together.
        """
        ...


def listed(data: Given, key: str) -> list[Data]:
    """
    Return a list in what was read, or an empty one.
    """
    value: Any = data.get(key)

    return value if isinstance(value, _LIST) else []


def within(data: Given, key: str) -> Data:
    """
    Return an object in what was read, or an empty one.
    """
    value: Any = data.get(key)

    return value if isinstance(value, _DICT) else {}


def parts_of(content: object) -> list[Any] | None:
    """
    Return the parts of a content that comes in some; None where it is one text.
    """
    parts: Any = content

    return [*parts] if isinstance(content, _LIST) else None


def cut_off() -> ConnectionError:
    """
    Make the error of a stream that ended too early.
    """
    return ConnectionError("The stream ended before its turn was complete.")


def ended(reason: object) -> str:
    """
    Say in the model's place why it says nothing: an empty answer would hide it.
    """
    return f"(The provider ended this turn: {reason}.)"


def options_of(
    given: Given | None, ours: Sequence[str], *, single: Sequence[str] = ()
) -> Data:
    """
    Copy the options that go to the provider as they are.

    Args:
        given: The options, or None.
        ours: Those that the model sets itself.
        single: Those that say how many answers there are; the first is read.

    Raises:
        ValueError: One is set by the model itself, so that it would not hold, or asks
            for answers that nobody reads.
    """
    options = dict(given or {})
    taken = [name for name in ours if name in options]
    if taken:
        raise ValueError(
            f"options takes what the model does not set itself, got {', '.join(taken)}."
        )
    for name in single:
        count = options.get(name, 1)
        if isinstance(count, bool) or count != 1:
            raise ValueError(
                f"options takes {name}=1 alone, as only the first answer is read, "
                f"got {count!r}."
            )

    return options


def checked_name(model: object) -> str:
    """
    Return the name of a model.

    Raises:
        TypeError: It is no text.
        ValueError: It is empty.
    """
    if not isinstance(model, str):
        raise TypeError(f"model takes a name, got {model!r}.")
    if not model.strip():
        raise ValueError(f"model takes a name, got {model!r}.")

    return model


def check_flag(option: str, given: object) -> None:
    """
    Check an option that is on or off.

    Raises:
        TypeError: It is neither True nor False.
    """
    if not isinstance(given, bool):
        raise TypeError(f"{option} takes True or False, got {given!r}.")


def has_failed(message: Given) -> bool:
    """
    Whether a message is the answer to a call that did not succeed.
    """
    return message.get("status", "ok") not in _RAN


def text_of(content: object) -> str:
    """
    Return the text of a content, which may come in parts.
    """
    if isinstance(content, str):
        return content
    parts = parts_of(content) or []
    texts: list[Any] = [p.get("text") if isinstance(p, _MAPPING) else p for p in parts]

    return "".join(text for text in texts if isinstance(text, str))


def memo_of(message: Given, key: str) -> list[Data] | None:
    """
    Return what a model of this wire kept with its turn, if one did.
    """
    memo = within(message, "memo")

    return listed(memo, key) if key in memo else None
