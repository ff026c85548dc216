"""
The bounded wait for a body that runs somewhere else, in both colours.

The invariants are those of `_jobs`.
"""

from __future__ import annotations

import asyncio

from collections.abc import Callable

from ._attempt import Attempt
from ._body import run_body
from ._jobs import Job, Place
from ._outcome import ask_to_stop, settle
from ._signals import Stopped, StopSignal
from ._waits import LoopWaiter, ThreadWaiter


# A body elsewhere has been ended by force long before so many seconds have passed.
AWAY_SECONDS = 2.0


def run_job(job: Job, submit: Callable[[Job], None]) -> None:
    """
    Submit *job* and wait for it on this thread, within its timeout.

    A KeyboardInterrupt ends the wait at once; the body is then abandoned.

    Raises:
        Stopped: Its signal was set while the body ran.
    """
    attempt, signal = job.attempt, job.attempt.signal
    attempt.begin_clock()
    with ThreadWaiter() as waiter:
        job.wake = waiter.wake
        try:
            if signal is not None:
                signal.add(waiter.wake)
            submit(job)
            # A signal ends a wait as its time does.
            if waiter.wait(attempt.remaining()) and job.is_over():
                settle(attempt)
                return
            job.ask_to_stop()
            ended = any(waiter.wait(s) and job.is_over() for s in job.grace())
        except BaseException:
            job.ask_to_stop()
            job.give_up()
            raise
        finally:
            if signal is not None:
                signal.discard(waiter.wake)
    if ended:
        settle(attempt)
    else:
        job.give_up()
    if signal is not None and signal.is_set:
        raise Stopped


def run_here(attempt: Attempt, place: Place, signal: StopSignal) -> None:
    """
    Run a body on this thread, for a caller that waits elsewhere and may be gone before.

    Args:
        signal: Set when it is.

    Raises:
        Stopped: It was set while the body ran, or before.
    """
    job = Job(attempt, place)

    def leave_it() -> None:
        job.ask_to_stop()
        job.give_up()

    signal.add(leave_it)
    if not job.begin():
        raise Stopped
    run_body(attempt)
    signal.discard(leave_it)
    if not job.end():
        raise Stopped
    settle(attempt)


async def arun_job(job: Job, submit: Callable[[Job], None]) -> None:
    """
    Submit *job* and wait for it on the running loop, within its timeout.
    """
    attempt = job.attempt
    waiter = LoopWaiter(asyncio.get_running_loop())
    job.wake = waiter.wake
    attempt.begin_clock()
    try:
        submit(job)
        if await waiter.wait(attempt.remaining()):
            settle(attempt)
            return
    except asyncio.CancelledError:
        await _end(job, waiter)
        raise
    except BaseException:
        job.ask_to_stop()
        job.give_up()
        raise
    await _end(job, waiter)


async def arun_away(job: Job, submit: Callable[[Job], None]) -> None:
    """
    Submit *job*, whose own runner keeps the clock, and wait for it on the running loop.

    A caller that is cancelled has the body ended, and hears of its end before it goes.
    """
    attempt = job.attempt
    waiter = LoopWaiter(asyncio.get_running_loop())
    job.wake = waiter.wake
    submit(job)
    ended = False
    try:
        ended = await waiter.wait(None)
    except asyncio.CancelledError:
        ask_to_stop(attempt, cancels=False)
        ended = await waiter.wait(AWAY_SECONDS)
        raise
    finally:
        if not ended:
            ask_to_stop(attempt, cancels=False)
            job.give_up()


async def _end(job: Job, waiter: LoopWaiter) -> None:
    """
    Tell the body to end, and see what becomes of it within the grace.
    """
    ended = False
    job.ask_to_stop()
    try:
        for seconds in job.grace():
            ended = await waiter.wait(seconds)
            if ended:
                break
    finally:
        if ended:
            settle(job.attempt)
        else:
            job.give_up()
