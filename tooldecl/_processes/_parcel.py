"""
What goes to a foreign executor and what comes back: bytes, which any of them can carry.

A parcel is one attempt: the tool by reference, its arguments, its limits. An envelope is
what came of it. Both are one line of JSON, and behind a zero byte what is not JSON.
"""

from __future__ import annotations

import json

from typing import Any

from .._calls import Fate
from .._carriers import Carriers
from .._context import facts_of
from .._isolation import Attempt
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


def envelope_of(attempt: Attempt, answer: Answer | None, seconds: float) -> bytes:
    """
    Return what came of an attempt, on its way back.

    Args:
        attempt: What was run.
        answer: What its worker said, or None where it said nothing.
        seconds: How long it had to do with the call, its waits included.
    """
    said, text = (None, "") if answer is None else answer
    head = {
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


def open_envelope(data: object) -> Answer:
    """
    Return what an envelope says.

    Raises:
        BrokenFrameError: It is none.
    """
    if not isinstance(data, bytes):
        raise BrokenFrameError(f"a {type(data).__name__}")
    head, _, text = data.partition(b"\0")
    try:
        said = json.loads(head)
        Fate(said["fate"])
        return said, text.decode()
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise BrokenFrameError(str(error)) from None


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


def ended_by(tool: str, words: list[Any]) -> CallError:
    """
    Return the error that `_words` told of.
    """
    kind, *facts = words
    if kind == "died":
        return WorkerDiedError(tool=tool, exit_code=facts[0])
    if kind == "not_run":
        return NotRunError(tool=tool, reason=facts[0])

    return not_loaded(tool, *facts)
