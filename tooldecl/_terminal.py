"""
The innermost layer: the run of one attempt under its limit.

The matching page is docs/explanation/timeouts-and-isolation.md.
"""

from __future__ import annotations

import asyncio
import sys

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, final

from ._calls import Fate
from ._clock import monotonic
from ._isolation import (
    GRACE,
    Attempt,
    Entry,
    Job,
    Ledger,
    LoopClosedError,
    LoopHolder,
    LoopWaiter,
    NoThreadError,
    Place,
    arun_body,
    arun_job,
    ask_to_stop,
    fate_of_stopped,
    forget_task,
    in_context,
    needs_loop,
    run_body,
    run_here,
    run_job,
    settle,
    submit,
)
from ._processes import Remote


_Task: TypeAlias = asyncio.Task[Any]

# From 3.12 on a task can start at once: a body that does not wait costs no loop turn.
_TASK_OPTIONS: dict[str, Any] = (
    {"eager_start": True} if sys.version_info >= (3, 12) else {}
)

# A loop that comes back this many seconds after a deadline was held by something.
_BLOCKED_SECONDS = 0.05


@final
class Terminal:
    """
    Runs attempts for one client, in both colours.

    Args:
        place: What a body that outlives its call is reported to.
        loops: The client's background loop.
        remote: Runs bodies in worker processes, where a tool of the client has one.
        on_blocked: Called with an attempt whose loop came back late, and how late.
    """

    __slots__ = ("_aside", "_loops", "_on_blocked", "_place", "_remote")

    def __init__(
        self,
        place: Place,
        loops: LoopHolder,
        remote: Remote | None,
        on_blocked: Callable[[Attempt, float], None],
    ) -> None:
        self._place = place
        self._aside = Place(ledger=Ledger(), owner=None, on_late=_forget)
        self._loops = loops
        self._remote = remote
        self._on_blocked = on_blocked

    def invoke(self, attempt: Attempt) -> None:
        """
        Run one attempt from sync code; its outcome is in the attempt.
        """
        try:
            if attempt.where == "process":
                self._workers.invoke(attempt)
            elif attempt.is_async:
                self._invoke_async(attempt)
            else:
                self._invoke_sync(attempt)
        except NoThreadError as error:
            attempt.refuse(error)
        except LoopClosedError:
            attempt.revoke()

    def _invoke_sync(self, attempt: Attempt) -> None:
        where = attempt.where
        if where == "thread" or (attempt.timeout is not None and where != "inline"):
            run_job(Job(attempt, self._place_of(attempt)), submit)
        elif attempt.signal is None:
            run_body(attempt)
            settle(attempt)
        else:
            run_here(attempt, self._place_of(attempt), attempt.signal)
        if needs_loop(attempt.value) and self._has_second_leg(attempt):
            self._invoke_async(attempt)

    async def ainvoke(self, attempt: Attempt) -> None:
        """
        Run one attempt from async code; its outcome is in the attempt.

        A sync body only runs on the loop where it is declared ``inline``.
        """
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            # A cancellation that has not been delivered yet comes before the body.
            await asyncio.sleep(0)
        try:
            if attempt.where == "process":
                await self._workers.ainvoke(attempt)
            elif attempt.is_async:
                await self._ainvoke_async(attempt, task)
            else:
                await self._ainvoke_sync(attempt, task)
        except NoThreadError as error:
            attempt.refuse(error)

    async def _ainvoke_sync(self, attempt: Attempt, task: _Task | None) -> None:
        if attempt.where == "inline":
            run_body(attempt)
            settle(attempt)
        else:
            await arun_job(Job(attempt, self._place_of(attempt)), submit)
        if needs_loop(attempt.value) and self._has_second_leg(attempt):
            await self._ainvoke_async(attempt, task)

    def _has_second_leg(self, attempt: Attempt) -> bool:
        """
        Whether what a sync body returned is to be awaited now, under the same deadline.
        """
        # What an abandoned body returns meanwhile is not ours: its late end reports it.
        if attempt.fate is not Fate.COMPLETED:
            return False
        if attempt.timed_out:
            close_quietly(attempt.value)
            return False
        attempt.await_value()

        return True

    def _place_of(self, attempt: Attempt) -> Place:
        return self._aside if attempt.aside else self._place

    @property
    def _workers(self) -> Remote:
        if self._remote is None:
            raise AssertionError("unreachable")

        return self._remote

    def _invoke_async(self, attempt: Attempt) -> None:
        private = attempt.where == "thread" or self._loops.is_held
        job = Job(
            attempt, self._place_of(attempt), can_stop=True, on_private_loop=private
        )
        if private:
            run_job(job, submit)
            return
        run_job(job, self._loops.submit)
        if attempt.fate in (Fate.ABANDONED, Fate.NOT_STARTED) and not job.cancel_seen:
            blocked = self._loops.suspect(job)
            if blocked and attempt.started and attempt.deadline is not None:
                self._on_blocked(attempt, monotonic() - attempt.deadline)

    def _ainvoke_async(self, attempt: Attempt, task: _Task | None) -> Awaitable[None]:
        if attempt.where == "thread":
            job = Job(
                attempt, self._place_of(attempt), can_stop=True, on_private_loop=True
            )
            return arun_job(job, submit)
        if attempt.timeout is None and not attempt.apart:
            return self._await_here(attempt, task)

        return self._run_task(attempt)

    async def _await_here(self, attempt: Attempt, task: _Task | None) -> None:
        """
        Run the body in the caller's own task: nothing declared, nothing made for it.
        """
        before = task.cancelling() if task is not None else 0
        await in_context(arun_body(attempt), attempt.variables)
        settle(attempt)
        # The same exception comes from a cancelled caller and from a body that
        # cancelled something itself; only the caller's own count tells them apart.
        if task is not None and task.cancelling() > before:
            error = attempt.error
            if isinstance(error, asyncio.CancelledError):
                attempt.fate, attempt.error = fate_of_stopped(attempt), None
                raise error
            attempt.error = None
            raise asyncio.CancelledError

    async def _run_task(self, attempt: Attempt) -> None:
        """
        Run the body as a task of the caller's loop, and wait no longer than its timeout.
        """
        attempt.begin_clock()
        loop = asyncio.get_running_loop()
        waiter = LoopWaiter(loop)
        task = asyncio.Task(
            _run_and_wake(attempt, waiter),
            loop=loop,
            context=attempt.variables,
            **_TASK_OPTIONS,
        )
        try:
            if not task.done():
                await waiter.wait(attempt.remaining())
        except asyncio.CancelledError:
            await self._end_task(task, attempt, waiter)
            raise
        except GeneratorExit:
            # The call itself is thrown away, and may not wait any more.
            task.cancel()
            raise
        late = 0.0 if attempt.deadline is None else monotonic() - attempt.deadline
        await self._end_task(task, attempt, waiter)
        if attempt.timed_out and late > _BLOCKED_SECONDS:
            self._on_blocked(attempt, late)

    async def _end_task(
        self, task: _Task, attempt: Attempt, waiter: LoopWaiter
    ) -> None:
        """
        Set the outcome of the body's task; one that still runs is cancelled first.
        """
        try:
            if not task.done():
                ask_to_stop(attempt, cancels=True)
                task.cancel()
                # One that has not begun ends without a word of its own.
                task.add_done_callback(lambda _: waiter.wake_here())
                await waiter.wait(GRACE)
        finally:
            if task.done():
                attempt.close()
                settle(attempt)
            else:
                self._abandon(task, attempt)

    def _abandon(self, task: _Task, attempt: Attempt) -> None:
        attempt.fate, attempt.timed_out = Fate.ABANDONED, True
        place = self._place_of(attempt)
        ledger = place.ledger
        ledger.enter(Entry(attempt, place.owner, place.on_late, task))
        task.add_done_callback(lambda _: ledger.leave(attempt))
        forget_task(task)


async def _run_and_wake(attempt: Attempt, waiter: LoopWaiter) -> None:
    """
    Run a body in a task of its own, whose end costs its caller no turn of the loop.
    """
    await arun_body(attempt)
    waiter.wake_here()


def _forget(attempt: Attempt, _late_by: float) -> None:
    """
    Drop what somebody who was asked said too late.
    """
    close_quietly(attempt.value)


def close_quietly(value: object) -> None:
    """
    Close a coroutine that nobody will await, so that Python does not warn about it.
    """
    if asyncio.iscoroutine(value):
        value.close()
