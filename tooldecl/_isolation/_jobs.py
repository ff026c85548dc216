"""
A body that runs somewhere else: who may act, and what becomes of it.

Invariants:

1. Two one-element lists say who may act; ``list.pop`` is one atomic step, so no lock
   is held while anything can be interrupted. ``start`` is popped by the side that runs
   the body, or by a caller that gives up on a body that has not begun. ``end`` is
   popped by the side that runs the body once it is over, or by a caller that gives up.
2. Who pops ``end`` owns the outcome: the runner wakes the caller, or the caller has
   frozen its answer and the runner reports a late finish. Never both, never neither.
3. The caller waits at most its timeout, plus the grace where the body can be stopped
   (`_stays`).
4. A body is sent one cancellation, whoever wants it to end and how often.
"""

from __future__ import annotations

import asyncio

from collections.abc import Callable, Iterator
from typing import final

from .._calls import Fate
from ._abandoned import Entry, Ledger
from ._attempt import Attempt
from ._body import arun_body, run_body
from ._outcome import ask_to_stop, settle


# Seconds that a cancelled body has to end, so that it can be called stopped.
GRACE = 0.1
# A loop that has not even seen the cancellation after so many seconds is blocked.
STUCK_SECONDS = 0.04


class Place:
    """
    Whose bodies are run: what a job needs of its client.
    """

    __slots__ = ("ledger", "on_late", "owner")

    def __init__(
        self,
        *,
        ledger: Ledger,
        owner: object,
        on_late: Callable[[Attempt, float], None],
    ) -> None:
        self.ledger = ledger
        self.owner = owner
        self.on_late = on_late


@final
class Job:
    """
    One attempt handed to a thread or to another loop.

    Args:
        can_stop: The body runs as a task, which can be cancelled.
        on_private_loop: That task needs a loop of its own, on the thread it gets.
        run: Runs the body on a thread, where it is no task.
        ends_within: Seconds in which it is heard of once it was told to end, where it
            runs in no task and somebody ends it.

    Attributes:
        wake: Tells the caller that the body is over.
        home: The shared loop it was handed to last.
        cancel_seen: The loop has got to the cancellation.
    """

    __slots__ = (
        "_end",
        "_loop",
        "_start",
        "_task",
        "attempt",
        "can_stop",
        "cancel_seen",
        "ends_within",
        "home",
        "on_private_loop",
        "place",
        "run",
        "wake",
    )

    def __init__(
        self,
        attempt: Attempt,
        place: Place,
        *,
        can_stop: bool = False,
        on_private_loop: bool = False,
        run: Callable[[Attempt], None] = run_body,
        ends_within: float = 0.0,
    ) -> None:
        self.attempt = attempt
        self.run = run
        self.place = place
        self.can_stop = can_stop
        self.on_private_loop = on_private_loop
        self.ends_within = ends_within
        self.wake: Callable[[], None] = nothing
        self.home: object = None
        self.cancel_seen = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._start = [True]
        self._end = [True]

    # -- the side that runs the body -------------------------------------------

    def begin(self) -> bool:
        """
        Take the right to run the body; False when the caller gave up before.
        """
        return _take(self._start)

    def start_task(self, loop: asyncio.AbstractEventLoop) -> asyncio.Task[None]:
        """
        Run the body as a task of *loop*; called on that loop's thread.
        """
        attempt = self.attempt
        task = asyncio.Task(arun_body(attempt), loop=loop, context=attempt.variables)
        self._loop, self._task = loop, task
        if attempt.cancelled_at is not None:  # asked before there was a task
            self._cancel_here()

        return task

    def end(self) -> bool:
        """
        Say that the body is over: True when the caller is to be woken.

        A late finish has been reported when this returns.
        """
        if _take(self._end):
            return True
        self.place.ledger.leave(self.attempt)

        return False

    def finish(self) -> None:
        """
        Say that the body's task is over, or could not be made, and wake the caller.
        """
        self.attempt.close()
        if self.end():
            self.wake()

    # -- the side that waits for it ----------------------------------------------

    def ask_to_stop(self) -> None:
        """
        Freeze what the body may still do to the call, and cancel it where that is possible.
        """
        if self.attempt.stop:
            return
        ask_to_stop(self.attempt, cancels=self.can_stop)
        if self._loop is not None and self.can_stop:
            try:
                self._loop.call_soon_threadsafe(self._cancel_here)
            except RuntimeError:  # its loop is closed: the task has ended
                pass

    def _cancel_here(self) -> None:
        if self._task is not None and not self.cancel_seen:
            self.cancel_seen = True
            self._task.cancel()

    def grace(self) -> Iterator[float]:
        """
        Yield how long to wait for the end of a body that was told to end.
        """
        if self.ends_within:
            yield self.ends_within
        if self.can_stop:
            yield STUCK_SECONDS
            if self.cancel_seen:
                yield GRACE - STUCK_SECONDS

    def is_over(self) -> bool:
        """
        Whether the body is over, and its caller was not the first to act.
        """
        return not self._end

    def give_up(self) -> None:
        """
        Wait no longer, and set the outcome.
        """
        attempt = self.attempt
        if _take(self._start):
            attempt.fate, attempt.timed_out = Fate.NOT_STARTED, True
            return
        # Entered before the outcome changes hands, or a body that ends right now
        # would look for its entry before there is one.
        ledger = self.place.ledger
        ledger.enter(Entry(attempt, self.place.owner, self.place.on_late))
        if _take(self._end):
            attempt.fate, attempt.timed_out = Fate.ABANDONED, True
        else:
            ledger.discard(attempt)
            settle(attempt)


def _take(ticket: list[bool]) -> bool:
    try:
        ticket.pop()
    except IndexError:
        return False

    return True


def nothing() -> None:
    """
    Wake nobody.
    """
