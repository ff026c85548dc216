"""
What host and worker say to each other of one call.
"""

from __future__ import annotations

import json

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from .._carriers import Carriers, Found
from .._clock import monotonic
from .._context import facts_of
from .._encode import encode
from .._isolation import Attempt, GeneratorTooLong
from .._jsonforms import JSON
from ..exceptions import CallError, ResultTooLargeError, UnencodableResultError
from ._handle import Worker
from ._loading import Cargo, import_path
from ._outcome import out_of_memory, previous_of, restored
from ._wire import (
    ANSWER,
    CALL,
    MAX_FRAME,
    PREPARE,
    PROGRESS,
    READY,
    BrokenFrameError,
    frame,
    is_text,
    parts,
    raw_frame,
)


# What was said in JSON; and a worker's answer, with the text behind it.
Said: TypeAlias = dict[str, Any]
Answer: TypeAlias = tuple[Said, str]

# What a socket takes for a timeout at once.
LONGEST_SEND = 86_400.0


def load(
    worker: Worker, cargo: Cargo, until: float, found: Sequence[Found]
) -> tuple[str, str] | None:
    """
    Have a worker import a tool; return the type and text of what went wrong.

    Args:
        found: The hooks of its client that are to be imported beside it.

    Raises:
        EOFError: The worker died of it.
        TimeoutError: It took too long.
    """
    number = cargo.number
    if number in worker.loaded:
        return None
    head = json.dumps([number, import_path(), cargo.modules, found]).encode()

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


def ask(worker: Worker, request: bytes, attempt: Attempt) -> Answer:
    """
    Send a request and return the answer.

    Raises:
        TimeoutError, BlockingIOError: The deadline passed before there was one.
        EOFError: The worker is gone.
        BrokenFrameError: It says what is none of ours.
    """
    call = worker.calls
    left = attempt.remaining()
    worker.sock.settimeout(None if left is None else min(left, LONGEST_SEND))
    try:
        worker.sock.sendall(request)
    except ConnectionError as error:
        raise EOFError from error
    while True:
        kind, body = worker.read(attempt.remaining)
        head, text = parts(body)
        # A body that has got hold of its worker's socket may say anything on it.
        is_ours = _is_of(call, head)
        if kind == ANSWER and is_ours:
            return head, text
        if attempt.remaining() == 0.0:  # it may go on for ever about how far it is
            raise TimeoutError
        if kind == PROGRESS and is_ours:
            _tell(head, attempt)


def _is_of(call: int, head: Any) -> bool:
    try:
        return bool(head["call"] == call)
    except (LookupError, TypeError):
        return False


def _tell(head: Said, attempt: Attempt) -> None:
    try:
        done, total, message = head["said"]
    except (LookupError, TypeError, ValueError) as error:
        raise BrokenFrameError(str(error)) from None
    attempt.context.progress(done, total, message)


def take_over(
    answer: Answer,
    attempt: Attempt,
    stop_on: tuple[type[BaseException], ...],
    memory_limit: int | None,
) -> bool:
    """
    Make of an answer what a body of this process would have left.

    Returns:
        Whether the worker has too little memory left to go on with.

    Raises:
        BrokenFrameError: It is none of ours.
    """
    head, text = answer
    try:
        attempt.finished = float(head.get("ended") or monotonic())
        if "failed" not in head:
            _take_result(head, text, attempt)
            return False
        error = restored(head["failed"], stop_on)
        spent = bool(head["failed"]["spent"])
    except (LookupError, TypeError, ValueError, AttributeError) as fault:
        raise BrokenFrameError(str(fault)) from None
    if isinstance(error, MemoryError) and memory_limit is not None:
        attempt.ended_by = out_of_memory(attempt.context.tool, memory_limit, error)
    else:
        attempt.error = error

    return spent


def _take_result(head: Said, text: str, attempt: Attempt) -> None:
    tool = attempt.context.tool
    if "items" in head:
        attempt.error = GeneratorTooLong(int(head["items"]))
    elif "unencodable" in head:
        kind, reason = head["unencodable"]
        attempt.encoded = UnencodableResultError(
            tool=tool, type_name=kind, reason=reason
        )
    elif "too_long" in head:
        attempt.encoded = ResultTooLargeError(
            tool=tool, limit=MAX_FRAME, size=int(head["too_long"])
        )
    else:
        attempt.encoded = text
        attempt.value = text if head["text"] else json.loads(text)
        for slot, value in head["writes"].items():
            attempt.context.write(slot, value)


def request_of(
    tool: int, worker: Worker, attempt: Attempt, facts: Said, text: str
) -> bytes:
    """
    Return the frame of a call.

    Args:
        tool: Names the tool to the worker.
        facts: What `facts_for_body` says of the call.
        text: Its arguments in JSON.
    """
    left = attempt.remaining()
    head = {"tool": tool, "call": worker.calls, "left": left, **facts}

    return frame(CALL, head, text)


def facts_for_body(attempt: Attempt, carriers: Carriers) -> Said:
    """
    Return what a body in another process is told of its call, as plain data, with what
    *carriers* take along.
    """
    context = attempt.context
    facts = facts_of(context)

    return {
        "call_id": facts.call_id,
        "attempt": context.attempt,
        "limit": attempt.limit,
        "run_id": facts.run_name(),
        "position": facts.position,
        "state": _crossing(facts.state),
        "deps": facts.deps is not None,
        "previous": previous_of(context.previous_error),
        "carried": attempt.variables.run(carriers.taken) if carriers.found else (),
    }


def arguments_of(attempt: Attempt) -> str:
    """
    Return the arguments of a call in JSON.
    """
    return JSON.encode(facts_of(attempt.context).arguments)


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
