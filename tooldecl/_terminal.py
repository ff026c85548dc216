"""
The innermost layer: whose timeout it is, and the run of one attempt under it.

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
    LoopHolder,
    LoopThread,
    NoThreadError,
    Place,
    TimeoutSource,
    arun_body,
    arun_job,
    ask_to_stop,
    forget_task,
    is_awaitable,
    run_body,
    run_job,
    settle,
    submit,
)
from ._meta import ToolMeta
from ._sentinels import UNSET


# From 3.12 on a task can start at once: a body that does not wait costs no loop turn.
_TASK_OPTIONS: dict[str, Any] = (
    {"eager_start": True} if sys.version_info >= (3, 12) else {}
)

# A loop that comes back this many seconds after a deadline was held by something.
_BLOCKED_SECONDS = 0.05


def resolve_timeout(
    meta: ToolMeta, engine_default: float | None
) -> tuple[float | None, TimeoutSource]:
    """
    Return the timeout in force and whose it is: declared, else the engine's, else none.
    """
    if meta.timeout is not UNSET:
        return meta.timeout, "declared"

    return engine_default, "engine"


@final
class Terminal:
    """
    Runs attempts for one client, in both colours.

    Args:
        place: What a body that outlives its call is reported to.
        loops: The client's background loop.
        on_blocked: Called with an attempt whose loop came back late, and how late.
    """

    __slots__ = ("_loops", "_on_blocked", "_place")

    def __init__(
        self,
        place: Place,
        loops: LoopHolder,
        on_blocked: Callable[[Attempt, float], None],
    ) -> None:
        self._place = place
        self._loops = loops
        self._on_blocked = on_blocked

    def invoke(self, attempt: Attempt, meta: ToolMeta) -> None:
        """
        Run one attempt from sync code; its outcome is in the attempt.
        """
        try:
            self._invoke(attempt, meta)
        except NoThreadError as error:
            attempt.refused = str(error)

    def _invoke(self, attempt: Attempt, meta: ToolMeta) -> None:
        if meta.is_async:
            self._invoke_async(attempt, meta)
        elif meta.isolation == "inline":
            run_body(attempt)
            settle(attempt)
        elif attempt.timeout is not None or meta.isolation == "thread":
            run_job(Job(attempt, self._place), submit)
        else:
            run_body(attempt)
            settle(attempt)
        if is_awaitable(attempt.value) and self._second_leg(attempt):
            self._invoke_async(attempt, meta)

    async def ainvoke(self, attempt: Attempt, meta: ToolMeta) -> None:
        """
        Run one attempt from async code; its outcome is in the attempt.

        A sync body only runs on the loop where it is declared ``inline``.
        """
        try:
            await self._ainvoke(attempt, meta)
        except NoThreadError as error:
            attempt.refused = str(error)

    async def _ainvoke(self, attempt: Attempt, meta: ToolMeta) -> None:
        if meta.is_async:
            await self._ainvoke_async(attempt, meta)
        elif meta.isolation == "inline":
            run_body(attempt)
            settle(attempt)
        else:
            await arun_job(Job(attempt, self._place), submit)
        if is_awaitable(attempt.value) and self._second_leg(attempt):
            await self._ainvoke_async(attempt, meta)

    def _second_leg(self, attempt: Attempt) -> bool:
        """
        Prepare to await what a sync body returned, under the same deadline.
        """
        if attempt.timed_out:
            close_quietly(attempt.value)
            return False
        attempt.await_value()

        return True

    def _invoke_async(self, attempt: Attempt, meta: ToolMeta) -> None:
        if meta.isolation == "thread" or self._loops.is_here:
            run_job(
                Job(attempt, self._place, can_stop=True, on_private_loop=True), submit
            )
            return
        job = Job(attempt, self._place, can_stop=True)
        home: LoopThread | None = None

        def start(job: Job) -> None:
            nonlocal home
            home = self._loops.submit(job)

        run_job(job, start)
        if (
            home is not None
            and attempt.timed_out
            and attempt.fate is not Fate.STOPPED
            and not job.cancel_seen
        ):
            self._loops.replace(home)

    async def _ainvoke_async(self, attempt: Attempt, meta: ToolMeta) -> None:
        if meta.isolation == "thread":
            job = Job(attempt, self._place, can_stop=True, on_private_loop=True)
            await arun_job(job, submit)
        elif attempt.timeout is None:
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
            if isinstance(attempt.error, asyncio.CancelledError):
                attempt.fate = Fate.STOPPED
                raise attempt.error
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
            if task.done():
                attempt.close()
                settle(attempt)
            else:
                await self._end_task(task, attempt)
                attempt.timed_out = True
        except asyncio.CancelledError:
            await self._end_task(task, attempt)
            raise
        self._report_blocked_loop(attempt)

    async def _end_task(self, task: asyncio.Task[None], attempt: Attempt) -> None:
        """
        Cancel the body's task and see what becomes of it within the grace.
        """
        attempt.fate = Fate.COMPLETED
        try:
            if not task.done():
                ask_to_stop(attempt)
                task.cancel()
                await asyncio.wait({task}, timeout=GRACE)
                attempt.fate = Fate.STOPPED if attempt.started else Fate.NOT_STARTED
        finally:
            if not task.done():
                self._abandon(task, attempt)

    def _abandon(self, task: asyncio.Task[None], attempt: Attempt) -> None:
        attempt.fate = Fate.ABANDONED
        ledger = self._place.ledger
        ledger.enter(Entry(attempt, self._place.owner, self._place.on_late, task))
        task.add_done_callback(lambda _: ledger.leave(attempt))
        forget_task(task)

    def _report_blocked_loop(self, attempt: Attempt) -> None:
        if attempt.deadline is not None and attempt.timed_out:
            late = monotonic() - attempt.deadline
            if attempt.fate is Fate.COMPLETED and late > _BLOCKED_SECONDS:
                self._on_blocked(attempt, late)


def close_quietly(value: object) -> None:
    """
    Close a coroutine that nobody will await, so that Python does not warn about it.
    """
    if asyncio.iscoroutine(value):
        value.close()
