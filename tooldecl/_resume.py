"""
Take up calls that waited: every decision is checked before anything runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from ._answers import Answers
from ._calls import ToolResult
from ._clock import wall
from ._decisions import Again, Answer, Approved, Denied, Proceed, Suspend
from ._encode import encode
from ._held import Resumed
from ._ids import new_id
from ._runtime import Incoming, Runtime
from ._schema import check_returned
from ._signature import Promise
from ._suspension import PendingCall, Suspension
from ._texts import failed
from .exceptions import (
    ApprovalExpiredError,
    CallError,
    NotFound,
    ResultTooLargeError,
    ResumeError,
    ToolError,
)


_DECISIONS = (Answer, Approved, Denied, Suspend)
_MAPPING: Any = Mapping


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TakenUp:
    """
    What of a suspension goes on.

    Attributes:
        calls: The calls to be run, each with what it has waited for.
        pending: All calls that were decided about, as they were held.
        paid: Those whose body has run before and was charged.
    """

    calls: list[Incoming]
    pending: list[PendingCall]
    paid: frozenset[str]


def take_up(
    runtime: Runtime,
    suspension: object,
    decisions: object,
    *,
    deps: Any,
    claim: Callable[[tuple[str, int, int]], bool],
) -> TakenUp:
    """
    Return the calls to be run, with what was decided about them.

    Args:
        claim: Takes a call for good, once: it is taken up nowhere else.

    Raises:
        TypeError: It is no suspension, or the decisions are no mapping.
        ResumeError: Something was given that does not fit; nothing was taken up.
    """
    if not isinstance(suspension, Suspension):
        kind = type(suspension).__name__
        raise TypeError(f"resume() takes a Suspension, got {kind}.")
    if not isinstance(decisions, _MAPPING):
        kind = type(decisions).__name__
        raise TypeError(f"resume() takes decisions by call id, got {kind}.")
    given: Mapping[Any, Any] = decisions
    waiting = {call.call_id: call for call in suspension.calls}
    problems: dict[str, str] = {}
    resumed: dict[str, Resumed | None] = {}
    for call_id, decision in given.items():
        call = waiting.get(call_id)
        if call is None:
            problems[str(call_id)] = "no call with this id waits"
            continue
        try:
            resumed[call_id] = _resumed(runtime, call, decision)
        except (ValueError, CallError) as error:
            problems[call_id] = str(error)
    _claim(problems, [waiting[call_id] for call_id in resumed], claim)
    if problems:
        raise ResumeError(problems=problems)
    taken = [call for call in suspension.calls if call.call_id in resumed]

    return TakenUp(
        calls=[
            _incoming(call, resumed[call.call_id], suspension, deps)
            for call in taken
            if not isinstance(given[call.call_id], Proceed)
        ],
        pending=taken,
        paid=frozenset(
            result.call_id for result in suspension.results if result.attempts
        ),
    )


def _claim(
    problems: dict[str, str],
    calls: Iterable[PendingCall],
    claim: Callable[[tuple[str, int, int]], bool],
) -> None:
    if problems:
        return
    for call in calls:
        if not claim((call.run_id, call.position, call.round)):
            problems[call.call_id] = "it has been taken up before"


def _resumed(runtime: Runtime, call: PendingCall, decision: object) -> Resumed | None:
    """
    Check what was given for one call.

    Raises:
        ValueError, CallError: It does not fit.
    """
    is_decision = isinstance(decision, (*_DECISIONS, Again, Proceed))
    if call.kind == "environment":
        if not isinstance(decision, (Again, Proceed)):
            raise ValueError(
                "its environment has failed it: Again or Proceed, got "
                f"{type(decision).__name__}"
            )
        return None
    if call.kind == "approval":
        if not isinstance(decision, _DECISIONS):
            raise ValueError(
                "it waits for a decision: Approved, Denied, Answer or Suspend, got "
                f"{type(decision).__name__}"
            )
        return Resumed(held=call.held(), decision=decision)
    if is_decision:
        raise ValueError(
            f"it waits for its result and not for a decision, got {type(decision).__name__}"
        )

    return Resumed(held=call.held(), result=_result_maker(runtime, call, decision))


def _result_maker(
    runtime: Runtime, call: PendingCall, given: Any
) -> Callable[[Answers], ToolResult]:
    """
    Check a result from elsewhere; return what makes the call's result of it.
    """
    name, limit = call.name, runtime.external_limit
    if isinstance(given, (ToolError, NotFound)):
        return lambda answers: _failure(answers, name, given, limit)
    if isinstance(given, BaseException):
        raise ValueError(
            "an error from elsewhere is given as a ToolError or a NotFound, got "
            f"{type(given).__name__}"
        )
    content = encode(given, tool=name)
    if name in runtime.table:
        entry = runtime.table.entry(name)
        if isinstance(entry.declared.promise, Promise):
            check_returned(entry.declared.promise, given)
        overflow = entry.meta.on_overflow
    else:
        overflow = "fail"
    if overflow not in ("truncate", "offload"):
        overflow = runtime.on_overflow
    if overflow == "fail" and limit is not None and len(content) > limit:
        raise ResultTooLargeError(tool=name, limit=limit, size=len(content))

    def make(answers: Answers) -> ToolResult:
        answers.limit = limit
        return answers.from_elsewhere(given, content, None)

    return make


def _failure(
    answers: Answers, name: str, error: ToolError | NotFound, limit: int | None
) -> ToolResult:
    answers.limit = limit
    if isinstance(error, NotFound):
        return answers.nothing_elsewhere(error)

    return answers.from_elsewhere(None, "", failed(name, error, 1))


def _incoming(
    call: PendingCall, resumed: Resumed | None, suspension: Suspension, deps: Any
) -> Incoming:
    incoming = Incoming(
        call.name,
        call.given,
        call.call_id,
        suspension.snapshot,
        deps=deps,
        run_id=call.run_id,
        position=call.position,
    )
    incoming.original_id = call.original_id
    if call.expires_at is not None and wall() > call.expires_at:
        incoming.refusal = ApprovalExpiredError(tool=call.name, limit=call.limit)
    else:
        incoming.resumed = resumed

    return incoming


def suspension_of(
    calls: Sequence[Incoming],
    results: Sequence[ToolResult],
    *,
    state: Mapping[str, Any],
    before: Suspension | None = None,
    rounds: Mapping[str, PendingCall] | None = None,
) -> Suspension | None:
    """
    Return what waits after a batch, or None.

    Args:
        calls: The calls that were run just now.
        results: The results of the whole batch.
        state: The client's state now.
        before: What the batch was resumed from.
        rounds: How those were held there that were decided about, by id.
    """
    places = {result.call_id: place for place, result in enumerate(results)}
    taken = {call.call_id for call in calls} | set(rounds or ())
    waiting = [] if before is None else list(before.calls)
    open_calls = [call for call in waiting if call.call_id not in taken]
    for call in calls:
        if call.held is not None:
            place = places[call.call_id]
            last = None if rounds is None else rounds.get(call.call_id)
            open_calls.append(_pending(call, place, last))
    if not open_calls:
        return None

    return Suspension(
        id=new_id("suspension"),
        calls=tuple(sorted(open_calls, key=lambda call: call.index)),
        results=tuple(results),
        snapshot=calls[0].state if before is None else before.snapshot,
        state=state,
    )


def _pending(call: Incoming, index: int, last: PendingCall | None) -> PendingCall:
    held = call.held
    if held is None:
        raise AssertionError("unreachable")
    given = call.given
    if isinstance(given, bytes):
        given = given.decode()

    return PendingCall(
        call_id=call.call_id,
        name=call.name,
        kind=held.kind,
        arguments=held.arguments,
        expires_at=None if held.limit is None else wall() + held.limit,
        limit=held.limit,
        given=given if isinstance(given, str) else encode(given or {}, tool=call.name),
        asked=held.asked,
        place=held.place,
        run_id=call.run_name(),
        position=call.position,
        index=index,
        original_id=call.original_id,
        round=0 if last is None else last.round + 1,
    )
