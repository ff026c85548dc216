"""
What goes to a foreign executor and what comes back: bytes, which any of them can carry.

A parcel is one attempt: the tool by reference, its arguments, its limits. An envelope is
what came of it. Both are one line of JSON, and behind a zero byte what is not JSON.
"""

from __future__ import annotations

import json

from types import NoneType
from typing import Any, NamedTuple

from .._calls import Fate
from .._carriers import Carriers
from .._context import facts_of
from .._isolation import SOURCES, Attempt, TimeoutSource
from .._jsonforms import JSON
from ..exceptions import CallError, NotRunError, WorkerDiedError
from ._dialogue import Answer, Said, arguments_of, facts_for_body
from ._loading import Cargo
from ._outcome import not_loaded
from ._wire import BrokenFrameError


def parcel_of(
    attempt: Attempt,
    cargo: Cargo,
    carriers: Carriers,
    *,
    token: str,
    by: str,
    expires: float | None,
    until: float | None,
) -> bytes:
    """
    Return an attempt as it can be sent to another machine.

    Args:
        attempt: What to run.
        cargo: Its tool.
        carriers: The hooks of its client that take something along.
        token: Names it where it runs.
        by: What brings it, in the reason of a refusal.
        expires: After this time on the wall its body may not begin, or None.
        until: At this one its batch is over, or None.
    """
    head = {
        "token": token,
        "by": by,
        "tool": cargo.name,
        "modules": cargo.modules,
        "found": carriers.found,
        "facts": facts_for_body(attempt, carriers),
        "arguments": arguments_of(attempt),
        "timeout": attempt.timeout,
        "source": attempt.source,
        "expires": expires,
        "until": until,
    }

    return _joined(head, cargo.pickled)


def open_parcel(data: bytes) -> tuple[Said, bytes]:
    """
    Return what a parcel says, and its tool as it was pickled.
    """
    head, _, pickled = data.partition(b"\0")

    return json.loads(head), pickled


def token_of(data: bytes) -> str:
    """
    Return what names a parcel.
    """
    token: str = open_parcel(data)[0]["token"]

    return token


def envelope_of(
    attempt: Attempt, answer: Answer | None, seconds: float, *, token: str
) -> bytes:
    """
    Return what came of an attempt, on its way back.

    Args:
        attempt: What was run.
        answer: What its worker said, or None where it said nothing.
        seconds: How long it had to do with the call, its waits included.
        token: What names it.
    """
    said, text = (None, "") if answer is None else answer
    head = {
        "token": token,
        "started": attempt.started,
        "fate": attempt.fate.value,
        "timed_out": attempt.timed_out,
        "timeout": attempt.timeout,
        "source": attempt.source,
        "refused": attempt.refused,
        "ended_by": None if attempt.ended_by is None else _words(attempt.ended_by),
        "seconds": seconds,
        "waited": facts_of(attempt.context).waited,
        # Its end is by the clock of another machine.
        "said": said and {key: x for key, x in said.items() if key != "ended"},
    }

    return _joined(head, text.encode())


# What reading one raises that somebody else has written.
_ODD = (ArithmeticError, LookupError, TypeError, ValueError, RecursionError)


class Envelope(NamedTuple):
    """
    What an envelope says, each part of it checked: anybody may have written it.
    """

    started: bool
    fate: Fate
    limit: tuple[float, TimeoutSource] | None
    refused: str | None
    ended_by: CallError | None
    seconds: float
    waited: float
    said: Said | None
    text: str


def open_envelope(data: object, *, tool: str, token: str) -> Envelope:
    """
    Return what an envelope says.

    Raises:
        BrokenFrameError: It is none, or that of another attempt.
    """
    if not isinstance(data, bytes):
        raise BrokenFrameError(f"a {type(data).__name__}")
    head, _, text = data.partition(b"\0")
    try:
        said: Said = json.loads(head)
        if said["token"] != token:
            raise BrokenFrameError("the envelope of another attempt")
        words = said["ended_by"]
        return Envelope(
            started=_of(bool, said["started"]),
            fate=Fate(said["fate"]),
            limit=_limit(said) if _of(bool, said["timed_out"]) else None,
            refused=_of((str, NoneType), said["refused"]),
            ended_by=None if words is None else _ended_by(tool, words),
            seconds=_seconds(said["seconds"]),
            waited=_seconds(said["waited"]),
            said=_of((dict, NoneType), said["said"]),
            text=text.decode(),
        )
    except _ODD as error:
        raise BrokenFrameError(str(error)) from None


def _of(kinds: type | tuple[type, ...], given: object) -> Any:
    if not isinstance(given, kinds):
        raise TypeError(f"a {type(given).__name__} where there should be none")

    return given


def _seconds(given: object) -> float:
    number: float = _of((int, float), given)
    if isinstance(given, bool) or not 0 <= number < float("inf"):
        raise ValueError("no number of seconds")

    return float(number)


def _limit(said: Said) -> tuple[float, TimeoutSource]:
    """
    Return the limit that was passed, and whose it was.
    """
    for source in SOURCES:
        if source == said["source"]:
            return _seconds(said["timeout"]), source

    raise ValueError("a limit of nobody")


def _joined(head: Said, tail: bytes) -> bytes:
    return JSON.encode(head).encode() + b"\0" + tail


def _words(error: CallError) -> list[object]:
    """
    Say what ended an attempt other than its body.
    """
    if isinstance(error, WorkerDiedError):
        return ["died", error.exit_code]
    if isinstance(error, NotRunError):
        return ["not_run", error.reason]
    cause: Any = error.__cause__

    return ["not_loaded", cause.type_names[0], cause.text]


def _ended_by(tool: str, words: object) -> CallError:
    """
    Return the error that `_words` told of.
    """
    kind, *facts = _of(list, words)
    if kind == "died":
        [code] = facts
        return WorkerDiedError(tool=tool, exit_code=_of((int, NoneType), code))
    first, *rest = (_of(str, fact) for fact in facts)
    if kind == "not_run" and not rest:
        return NotRunError(tool=tool, reason=first)
    [text] = rest

    return not_loaded(tool, first, text)
