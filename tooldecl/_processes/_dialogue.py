"""
What host and worker say to each other of one call.
"""

from __future__ import annotations

import json

from collections.abc import Mapping
from typing import Any

from .._clock import monotonic
from .._context import facts_of
from .._encode import encode
from .._isolation import Attempt
from .._jsonforms import JSON
from ..exceptions import CallError
from ._handle import Worker
from ._loading import Cargo, import_path
from ._outcome import previous_of
from ._wire import (
    ANSWER,
    CALL,
    PREPARE,
    PROGRESS,
    READY,
    frame,
    is_text,
    parts,
    raw_frame,
)


def load(worker: Worker, cargo: Cargo, until: float) -> tuple[str, str] | None:
    """
    Have a worker import a tool; return the type and text of what went wrong.

    Raises:
        EOFError: The worker died of it.
        TimeoutError: It took too long.
    """
    number = cargo.number
    if number in worker.loaded:
        return None
    head = json.dumps([number, import_path(), cargo.modules]).encode()

    def left() -> float:
        return max(0.0, until - monotonic())

    worker.sock.settimeout(left())
    try:
        worker.sock.sendall(raw_frame(PREPARE, head + b"\0" + cargo.pickled))
    except ConnectionError as error:
        raise EOFError from error
    kind, body = worker.read(left)
    while kind != READY:  # what an earlier call has said late
        kind, body = worker.read(left)
    fault: list[str] | None = parts(body)[0]
    if fault is None:
        worker.loaded.add(number)
        return None

    return fault[0], fault[1]


def ask(worker: Worker, request: bytes, attempt: Attempt) -> tuple[dict[str, Any], str]:
    """
    Send a request and return the answer.

    Raises:
        TimeoutError, BlockingIOError: The deadline passed before there was one.
        EOFError: The worker is gone.
    """
    call = worker.calls
    worker.sock.settimeout(attempt.remaining())
    try:
        worker.sock.sendall(request)
    except ConnectionError as error:
        raise EOFError from error
    while True:
        kind, body = worker.read(attempt.remaining)
        head, text = parts(body)
        if kind == ANSWER:
            return head, text
        if attempt.remaining() == 0.0:  # it may go on for ever about how far it is
            raise TimeoutError
        if kind == PROGRESS and head[0] == call:
            attempt.context.progress(*head[1:])


def request_of(tool: int, worker: Worker, attempt: Attempt) -> bytes:
    """
    Return the frame of a call.
    """
    context = attempt.context
    facts = facts_of(context)
    head = {
        "tool": tool,
        "call": worker.calls,
        "call_id": facts.call_id,
        "attempt": context.attempt,
        "left": attempt.remaining(),
        "limit": attempt.limit,
        "run_id": facts.run_name(),
        "position": facts.position,
        "state": _crossing(facts.state),
        "deps": facts.deps is not None,
        "previous": previous_of(context.previous_error),
    }

    return frame(CALL, head, JSON.encode(facts.arguments))


def left_of_batch(attempt: Attempt) -> float | None:
    """
    Return the seconds that are left of its batch's time, or None.
    """
    until = attempt.batch_until

    return None if until is None else max(0.0, until - monotonic())


def _crossing(state: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """
    Return the slots of the state that have a JSON form, and the types of the others.
    """
    crossing: dict[str, Any] = {}
    lost: dict[str, str] = {}
    for slot, value in state.items():
        try:
            text = encode(value, tool="")
        except CallError:
            lost[slot] = type(value).__name__
        else:
            crossing[slot] = text if is_text(value) else json.loads(text)

    return crossing, lost
