"""
Take up calls that waited: every decision is checked before anything runs.
"""

from __future__ import annotations

import threading

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, final

from ._calls import ToolResult
from ._clock import wall
from ._decisions import Again, Answer, Approved, Decision, Denied, Proceed, Suspend
from ._elsewhere import result_maker
from ._encode import encode
from ._gate import admit
from ._held import Resumed
from ._ids import new_id
from ._records import record
from ._runtime import Incoming, Runtime
from ._suspension import PendingCall, Suspension
from .exceptions import ApprovalExpiredError, CallError, ResumeError


_DECISIONS = (Answer, Approved, Denied, Suspend)
_MAPPING: Any = Mapping


@final
@record(frozen=True, slots=True, kw_only=True)
class TakenUp:
    """
    What of a suspension goes on.

    Attributes:
        calls: The calls to be run, each with what it has waited for.
        pending: All calls that were decided about, as they were held.
        paid: Those that were charged: their body has run, or was given away.
    """

    calls: list[Incoming]
    pending: list[PendingCall]
    paid: frozenset[str]


def take_up(
    runtime: Runtime,
    suspension: object,
    decisions: Any,
    *,
    deps: Any,
    claims: Claims,
) -> TakenUp:
    """
    Return the calls to be run, with what was decided about them.

    Args:
        claims: What was taken up before; a call is taken up for good.

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
    taken = [call for call in suspension.calls if call.call_id in resumed]
    if not problems:
        # A batch is done call by call; of a run there is one latest state.
        whole = taken if suspension.loop is None else suspension.calls
        problems = claims.take(taken, whole)
    if problems:
        raise ResumeError(problems=problems)

    return TakenUp(
        calls=[
            _incoming(call, resumed[call.call_id], suspension, deps)
            for call in taken
            if not isinstance(given[call.call_id], Proceed)
        ],
        pending=taken,
        paid=frozenset(
            [r.call_id for r in suspension.results if r.attempts]
            + [call.call_id for call in taken if call.kind == "external"]
        ),
    )


@final
class Claims:
    """
    Which calls were taken up: each of them once, by one thread.
    """

    __slots__ = ("_lock", "_taken")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: set[tuple[str, int, int]] = set()

    def take(
        self, calls: Sequence[PendingCall], whole: Iterable[PendingCall]
    ) -> dict[str, str]:
        """
        Take all of *calls*, or none; return what is wrong with those that were not.

        Args:
            whole: Those of which none may have been taken before.
        """
        with self._lock:
            late = {c.call_id for c in whole if _key_of(c) in self._taken}
            if not late:
                self._taken.update(map(_key_of, calls))
                return {}

        return {c.call_id: _LATE if c.call_id in late else _OUTDATED for c in calls}


_LATE = "it has been taken up before"
_OUTDATED = (
    "another call of this suspension has been taken up before: go on with the "
    "suspension that came of that"
)


def _key_of(call: PendingCall) -> tuple[str, int, int]:
    return call.run_id, call.position, call.round


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
        _check_asked(runtime, call, decision)
        return Resumed(held=call.held(), decision=decision)
    if is_decision:
        raise ValueError(
            f"it waits for its result and not for a decision, got {type(decision).__name__}"
        )

    return Resumed(held=call.held(), result=result_maker(runtime, call, decision))


def _check_asked(runtime: Runtime, call: PendingCall, decision: Decision) -> None:
    """
    Refuse a decision that nothing in this client would heed.

    Raises:
        ValueError: Nobody is asked here about such a call.
        CallError: The gate refuses what was edited.
    """
    meta = runtime.table.get(call.name)
    if meta is None:
        return
    if not meta.sensitive or call.place >= len(runtime.approvals):
        raise ValueError("this client does not ask about it, or asks fewer about it")
    if isinstance(decision, Approved) and decision.arguments is not None:
        admit(runtime.table, runtime.json_limits, call.name, decision.arguments)


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
        kind: Any = call.kind
        incoming.refusal = ApprovalExpiredError(
            tool=call.name, limit=call.limit, kind=kind
        )
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
        approved=held.approved,
        run_id=call.run_id,
        position=call.position,
        index=index,
        original_id=call.original_id,
        round=0 if last is None else last.round + 1,
    )
