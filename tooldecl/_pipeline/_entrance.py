"""
What refuses a call at once, before and after its gate.
"""

from __future__ import annotations

from .._runtime import Incoming, Runtime
from .._ways import Way
from ..exceptions import EngineBusyError, NotRunError


def check_before(incoming: Incoming, now: float) -> None:
    """
    Refuse a call that is not even to be read.

    Raises:
        CallError: It is refused.
    """
    if incoming.refusal is not None:
        raise incoming.refusal
    if incoming.stop is not None:
        incoming.check_run()
    if incoming.deadline is not None and now >= incoming.deadline:
        reason = "the batch's time was over before it began"
        raise NotRunError(tool=incoming.name, reason=reason)


def check_after(runtime: Runtime, incoming: Incoming, way: Way) -> None:
    """
    Refuse a call that there is no room for, or that its batch cannot bound.

    Raises:
        CallError: It is refused.
    """
    if runtime.max_abandoned is not None:
        _check_room(runtime, incoming, runtime.max_abandoned)
    if incoming.deadline is not None and way.where == "inline":
        reason = "isolation='inline' cannot be held to the batch's time limit"
        raise NotRunError(tool=incoming.meta.name, reason=reason)
    if incoming.batch is not None:
        _check_alone(runtime, incoming)


def _check_room(runtime: Runtime, incoming: Incoming, most: int) -> None:
    """
    Refuse a call where too many bodies were given up and still run.
    """
    count = len(runtime.ledger)
    if count >= most:
        calls = "1 earlier call was" if count == 1 else f"{count} earlier calls were"
        reason = f"{calls} given up and may still be running"
        raise EngineBusyError(tool=incoming.meta.name, reason=reason)


def _check_alone(runtime: Runtime, incoming: Incoming) -> None:
    """
    Refuse what would overlap a body of its batch that was given up, if one is serial.
    """
    meta = incoming.meta
    for context in runtime.ledger.contexts():
        call = context._call
        if not isinstance(call, Incoming) or call.batch is not incoming.batch:
            continue
        if True in (meta.serial, call.meta.serial):
            other = call.meta.name
            reason = (
                f"an earlier call of {other!r} in this batch was given up and may "
                "still be running, and one of the two tools runs alone"
            )
            raise EngineBusyError(tool=meta.name, reason=reason)
