"""
The innermost layer: the run of one attempt under its limit.

The matching page is docs/explanation/timeouts-and-isolation.md.
"""

from __future__ import annotations

import asyncio
import sys

from collections.abc import Callable
from typing import Any, final

from ._calls import Fate
from ._clock import monotonic
from ._isolation import (
    GRACE,
    Attempt,
    Entry,
    InContext,
    Job,
    Ledger,
    LoopClosedError,
    LoopHolder,
    NoThreadError,
    Place,
    arun_body,
    arun_job,
    ask_to_stop,
    fate_of_stopped,
    forget_task,
    needs_loop,
    run_body,
    run_here,
    run_job,
    settle,
    submit,
)
from ._processes import Remote


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
            self._invoke(attempt)
        except NoThreadError as error:
            attempt.refuse(error)
        except LoopClosedError:
            attempt.revoke()

    def _invoke(self, attempt: Attempt) -> None:
        where = attempt.where
        if where == "process":
            self._workers.invoke(attempt)
            return
        if attempt.is_async:
            self._invoke_async(attempt)
            return
        if where == "inline" or (attempt.timeout is None and where != "thread"):
            run_here(attempt, self._place_of(attempt))
        else:
            run_job(Job(attempt, self._place_of(attempt)), submit)
        if self._has_second_leg(attempt):
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
            await self._ainvoke(attempt)
        except NoThreadError as error:
            attempt.refuse(error)

    async def _ainvoke(self, attempt: Attempt) -> None:
        if attempt.where == "process":
            await self._workers.ainvoke(attempt)
            return
        if attempt.is_async:
            await self._ainvoke_async(attempt)
            return
        if attempt.where == "inline":
            run_body(attempt)
            settle(attempt)
        else:
            await arun_job(Job(attempt, self._place_of(attempt)), submit)
        if self._has_second_leg(attempt):
            await self._ainvoke_async(attempt)

    def _has_second_leg(self, attempt: Attempt) -> bool:
        """
        Whether a sync body returned what is still to be awaited, under the same deadline.
        """
        # What an abandoned body returns meanwhile is not ours: its late end reports it.
        if attempt.fate is not Fate.COMPLETED or not needs_loop(attempt.value):
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

    async def _ainvoke_async(self, attempt: Attempt) -> None:
        if attempt.where == "thread":
            job = Job(
                attempt, self._place_of(attempt), can_stop=True, on_private_loop=True
            )
            await arun_job(job, submit)
        elif attempt.timeout is None and not attempt.apart:
            await self._await_here(attempt)
        else:
            await self._run_task(attempt)

    async def _await_here(self, attempt: Attempt) -> None:
        """
        Run the body in the caller's own task: nothing declared, nothing made for it.
        """
        task = asyncio.current_task()
        before = task.cancelling() if task is not None else 0
        await InContext(arun_body(attempt), attempt.variables)
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
        task = asyncio.Task(
            arun_body(attempt),
            loop=asyncio.get_running_loop(),
            context=attempt.variables,
            **_TASK_OPTIONS,
        )
        try:
            if not task.done():
                await asyncio.wait({task}, timeout=attempt.remaining())
        except asyncio.CancelledError:
            await self._end_task(task, attempt)
            raise
        except GeneratorExit:
            # The call itself is thrown away, and may not wait any more.
            task.cancel()
            raise
        late = 0.0 if attempt.deadline is None else monotonic() - attempt.deadline
        await self._end_task(task, attempt)
        if attempt.timed_out and late > _BLOCKED_SECONDS:
            self._on_blocked(attempt, late)

    async def _end_task(self, task: asyncio.Task[None], attempt: Attempt) -> None:
        """
        Set the outcome of the body's task; one that still runs is cancelled first.
        """
        try:
            if not task.done():
                ask_to_stop(attempt, cancels=True)
                task.cancel()
                await asyncio.wait({task}, timeout=GRACE)
        finally:
            if task.done():
                attempt.close()
                settle(attempt)
            else:
                self._abandon(task, attempt)

    def _abandon(self, task: asyncio.Task[None], attempt: Attempt) -> None:
        attempt.fate, attempt.timed_out = Fate.ABANDONED, True
        place = self._place_of(attempt)
        ledger = place.ledger
        ledger.enter(Entry(attempt, place.owner, place.on_late, task))
        task.add_done_callback(lambda _: ledger.leave(attempt))
        forget_task(task)


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
