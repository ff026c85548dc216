"""
What became of a body, and how it is told to end.

Invariants:

1. A body that ended is never called abandoned, and one that never began is never said
   to have run: what the side that runs it has noted decides.
2. Nothing that a body does after it was told to end changes its call: its context is
   sealed first.
"""

from __future__ import annotations

import asyncio

from .._calls import Fate
from .._clock import monotonic
from .._context import facts_of, seal
from ._attempt import Attempt
from ._body import BodyStopped
from ._signals import LeftRunning


_COMPLETED = Fate.COMPLETED  # an attribute of an enum is slow to read


def settle(attempt: Attempt) -> None:
    """
    Set the outcome of a body that has ended: in time, late, or because it was stopped.
    """
    if (
        attempt.started
        and attempt.error is None
        and attempt.cancelled_at is None
        and not attempt.revoked
        and (attempt.deadline is None or attempt.in_time())
    ):
        attempt.fate = _COMPLETED  # nobody stopped it, and it was in time
        return
    asked, ended = attempt.cancelled_at, attempt.finished
    stopped = isinstance(attempt.error, BodyStopped) or (
        asked is not None and ended is not None and ended >= asked
    )
    attempt.timed_out = stopped or not attempt.in_time()
    # A body that came to its own end although its client was closed has its own outcome.
    attempt.revoked &= isinstance(attempt.error, asyncio.CancelledError)
    if not attempt.started:
        attempt.fate = Fate.NOT_STARTED
    elif stopped or attempt.revoked:
        attempt.fate = fate_of_stopped(attempt)
    else:
        attempt.fate = Fate.COMPLETED


def fate_of_stopped(attempt: Attempt) -> Fate:
    """
    Return the fate of a body that ended when it was told to.
    """
    left = isinstance(attempt.error, LeftRunning)
    if left or facts_of(attempt.context).leaves_running:
        return Fate.ABANDONED

    return Fate.STOPPED


def ask_to_stop(attempt: Attempt, *, cancels: bool) -> None:
    """
    Freeze what the body may still do to the call, and note that it is to stop.

    Args:
        cancels: Whether the body is sent a cancellation as well.
    """
    attempt.stop = True
    if cancels:
        attempt.cancelled_at = monotonic()
    seal(attempt.context, cancelled=True)
    if attempt.kill is not None:
        attempt.kill()
