"""
A body that runs somewhere else, and the bounded wait for it, in both colours.

Invariants:

1. Two one-element lists say who may act; ``list.pop`` is one atomic step, so no lock
   is held while anything can be interrupted. ``start`` is popped by the side that runs
   the body, or by a caller that gives up on a body that has not begun. ``end`` is
   popped by the side that runs the body once it is over, or by a caller that gives up.
2. Who pops ``end`` owns the outcome: the runner wakes the caller, or the caller has
   frozen its answer and the runner reports a late finish. Never both, never neither.
3. The caller waits at most its timeout, plus the grace where the body can be stopped.
"""

from __future__ import annotations

import _thread
import asyncio
import threading

from collections.abc import Callable, Iterator

from .._calls import Fate
from .._context import seal
from ._abandoned import Entry, Ledger
from ._body import Attempt, arun_body


# Seconds that a cancelled body has to end, so that it can be called stopped.
GRACE = 0.1
# A loop that has not even seen the cancellation after so many seconds is blocked.
STUCK_SECONDS = 0.04


class Job:
    """
    One attempt handed to a thread or to another loop.
    """

    __slots__ = (
        "_end",
        "_loop",
        "_start",
        "_task",
        "attempt",
        "can_stop",
        "cancel_seen",
        "on_private_loop",
        "place",
        "wake",
    )

    def __init__(
        self,
        attempt: Attempt,
        place: Place,
        *,
        can_stop: bool = False,
        on_private_loop: bool = False,
    ) -> None:
        self.attempt = attempt
        self.place = place
        self.can_stop = can_stop
        self.on_private_loop = on_private_loop
        self.wake: Callable[[], None] = nothing
        self.cancel_seen = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._start = [True]
        self._end = [True]

    def start_task(self, loop: asyncio.AbstractEventLoop) -> asyncio.Task[None]:
        """
        Run the body as a task of *loop*; called on that loop's thread.
        """
        attempt = self.attempt
        task = loop.create_task(arun_body(attempt), context=attempt.variables)
        task.add_done_callback(lambda _: attempt.close())
        self._loop, self._task = loop, task
        if attempt.stop:  # asked before there was a task
            task.cancel()

        return task

    def cancel(self) -> None:
        """
        Cancel the body's task, from any thread.
        """
        if self._loop is not None and self._task is not None:
            try:
                self._loop.call_soon_threadsafe(self._cancel_here)
            except RuntimeError:  # its loop is closed: the task has ended
                pass

    def _cancel_here(self) -> None:
        self.cancel_seen = True
        if self._task is not None:
            self._task.cancel()

    def stop_waits(self) -> Iterator[float]:
        """
        Cancel the body, if it can be cancelled, and yield how long to wait for its end.
        """
        if self.can_stop:
            self.cancel()
            yield STUCK_SECONDS
            if self.cancel_seen:
                yield GRACE - STUCK_SECONDS

    def begin(self) -> bool:
        """
        Take the right to run the body; False when the caller gave up before.
        """
        return _take(self._start)

    def end(self) -> Callable[[], None]:
        """
        Say that the body is over; return what is to be called to let the caller know.
        """
        if _take(self._end):
            return self.wake
        attempt, ledger = self.attempt, self.place.ledger

        return lambda: ledger.leave(attempt)

    def give_up(self) -> Fate | None:
        """
        Stop waiting: the fate of the body, or None when it ended in this very moment.
        """
        if _take(self._start):
            return Fate.NOT_STARTED
        # Entered before the outcome changes hands, or a body that ends right now
        # would look for its entry before there is one.
        ledger = self.place.ledger
        ledger.enter(Entry(self.attempt, self.place.owner, self.place.on_late))
        if _take(self._end):
            return Fate.ABANDONED
        ledger.discard(self.attempt)

        return None


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


def _expired(attempt: Attempt, fate: Fate) -> None:
    attempt.timed_out = True
    attempt.fate = fate


def settle(attempt: Attempt) -> None:
    """
    Set the outcome of a body that ended by itself, in time or late.
    """
    attempt.fate = Fate.COMPLETED
    attempt.timed_out = not attempt.in_time


def ask_to_stop(attempt: Attempt) -> None:
    """
    Freeze what the body may still do to the call, and tell it to stop.
    """
    attempt.stop = True
    seal(attempt.context, cancelled=True)


def run_job(job: Job, submit: Callable[[Job], None]) -> None:
    """
    Submit *job* and wait for it on this thread, within its timeout.

    A KeyboardInterrupt ends the wait at once; the body is then abandoned.
    """
    attempt = job.attempt
    lock = _thread.allocate_lock()
    lock.acquire()
    job.wake = lock.release
    attempt.begin_clock()
    submit(job)
    try:
        if lock.acquire(True, _bounded(attempt.remaining())):
            settle(attempt)
            return
        ask_to_stop(attempt)
        for seconds in job.stop_waits():
            if lock.acquire(True, seconds):
                _ended_within_grace(attempt)
                return
        fate = job.give_up()
        if fate is None:
            lock.acquire()
            settle(attempt)
            return
        _expired(attempt, fate)
    except BaseException:
        _walk_away(job)
        raise


async def arun_job(job: Job, submit: Callable[[Job], None]) -> None:
    """
    Submit *job* and wait for it on the running loop, within its timeout.
    """
    attempt = job.attempt
    loop = asyncio.get_running_loop()
    waiter = _Waiter(loop)
    job.wake = waiter.wake_from_thread
    attempt.begin_clock()
    submit(job)
    try:
        if await waiter.wait(attempt.remaining()):
            settle(attempt)
            return
        ask_to_stop(attempt)
        for seconds in job.stop_waits():
            if await waiter.wait(seconds):
                _ended_within_grace(attempt)
                return
        fate = job.give_up()
        if fate is None:
            await waiter.wait(None)
            settle(attempt)
            return
        _expired(attempt, fate)
    except BaseException:
        _walk_away(job)
        raise


def _bounded(timeout: float | None) -> float:
    return -1 if timeout is None else min(timeout, threading.TIMEOUT_MAX)


def _ended_within_grace(attempt: Attempt) -> None:
    """
    Decide about a body that ended between its deadline and the end of the grace.
    """
    if attempt.in_time:
        settle(attempt)
    else:
        _expired(attempt, Fate.STOPPED)


def _walk_away(job: Job) -> None:
    """
    Leave because the caller itself is being ended: cancel the body and wait no longer.
    """
    attempt = job.attempt
    ask_to_stop(attempt)
    if job.can_stop:
        job.cancel()
    fate = job.give_up()
    attempt.fate = Fate.COMPLETED if fate is None else fate


class _Waiter:
    """
    A future that a thread can set and a timer can end; one wait at a time.
    """

    __slots__ = ("_done", "_future", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._done = False
        self._future: asyncio.Future[None] = loop.create_future()

    def wake_from_thread(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._set_done)
        except RuntimeError:  # the loop is closed: nobody waits any more
            pass

    def _set_done(self) -> None:
        self._done = True
        self._release()

    def _release(self) -> None:
        if not self._future.done():
            self._future.set_result(None)

    async def wait(self, timeout: float | None) -> bool:
        """
        Wait until it is set or *timeout* seconds have passed; tell which.
        """
        if self._done:
            return True
        if self._future.done():
            self._future = self._loop.create_future()
        timer = (
            None if timeout is None else self._loop.call_later(timeout, self._release)
        )
        try:
            await self._future
        finally:
            if timer is not None:
                timer.cancel()

        return self._done
