"""
Do what a call's flow has to wait for, on the caller's loop.

The invariants are those of `_driving`.
"""

from __future__ import annotations

import asyncio

from collections.abc import Coroutine
from functools import partial
from typing import Any, final

from .._calls import ToolResult
from .._isolation import GRACE, Attempt, Stopped, in_context
from ..filters._surround import InnerFlow, Surround
from ._admission import Admission
from ._driving import BACK_SECONDS, Driving, Flow, note_haste, take_outcome


@final
class AsyncDriver(Driving):
    """
    Runs the steps of one call from async code.
    """

    __slots__ = ()

    async def adrive(self, flow: Flow) -> None:
        """
        Run a flow to its end on the running loop.
        """
        run = None if self._variables is None else self._variables.run
        try:
            while (
                step := run(next, flow, None) if run else next(flow, None)
            ) is not None:
                if isinstance(step, Attempt):
                    self._check_stop()
                    self._fit(step)
                    await self._runtime.terminal.ainvoke(step)
                elif isinstance(step, Admission):
                    await step.await_()
                elif isinstance(step, Surround):
                    await self._asurround(step)
                else:
                    await self._runtime.clock.asleep(step.seconds)
        except BaseException:
            run(flow.close) if run else flow.close()
            raise

    async def _asurround(self, step: Surround) -> None:
        layer, request = step.filter.layer, step.request
        if not step.filter.is_async:
            await self._around_apart(step)
            return
        if self._incoming.deadline is None and not (
            self._apart or self._incoming.apart
        ):
            await self._around_here(step)
            return
        go_on = partial(self._ago_on, step, apart=True)
        attempt = self._attempt(lambda: layer.aaround(request, go_on), is_async=True)
        attempt.apart = True
        await self._run_apart(step, attempt)

    async def _around_here(self, step: Surround) -> None:
        """
        Await a filter in the caller's own task.
        """
        task = asyncio.current_task()
        before = task.cancelling() if task is not None else 0
        step.cancelled = lambda: task is not None and task.cancelling() > before

        async def around() -> None:
            go_on = partial(self._ago_on, step)
            step.value = await step.filter.layer.aaround(step.request, go_on)

        try:
            if self._variables is None:
                await around()
            else:
                await in_context(around(), self._variables)
        except GeneratorExit:  # nothing may be awaited any more
            step.leave()
            raise
        except BaseException as error:  # it is judged where the onion is
            step.error = error
        await self._aleave(step)
        if step.cancelled():
            if isinstance(step.error, asyncio.CancelledError):
                raise step.error
            raise asyncio.CancelledError

    async def _around_apart(self, step: Surround) -> None:
        """
        Run a sync filter of an async call on a thread, and what is inside of it here.
        """
        loop = asyncio.get_running_loop()
        inside = self._inside(step, apart=True)

        def go_on(request: object) -> ToolResult | None:
            flow = step.begin(request)
            error = _result_from(loop, self._contained(inside, step, flow), step)
            if error is not None:
                raise error

            return step.result

        attempt = self._attempt(
            lambda: step.filter.layer.around(step.request, go_on), is_async=False
        )
        await self._run_apart(step, attempt)

    async def _run_apart(self, step: Surround, attempt: Attempt) -> None:
        step.cancelled = lambda: attempt.stop
        try:
            await self._runtime.terminal.ainvoke(attempt)
        except GeneratorExit:
            step.leave()
            raise
        except BaseException:
            await _end_inside(step, patience=GRACE if attempt.is_async else 0.0)
            raise
        take_outcome(step, attempt)
        await self._aleave(step)

    async def _contained(
        self, inside: AsyncDriver, step: Surround, flow: InnerFlow
    ) -> BaseException | None:
        """
        Run what is inside of a filter; no exception of it may get at the loop.
        """
        try:
            await self._arun_inside(inside, step, flow)
        except BaseException as error:  # the filter gets it, on its own thread
            return error

        return None

    async def _ago_on(
        self, step: Surround, request: object, *, apart: bool = False
    ) -> ToolResult | None:
        """
        Run what is inside of a filter, on the running loop.
        """
        flow = step.begin(request)
        await self._arun_inside(self._inside(step, apart=apart), step, flow)

        return step.result

    async def _arun_inside(
        self, inside: AsyncDriver, step: Surround, flow: InnerFlow
    ) -> None:
        task = asyncio.current_task()
        if task is not None:
            step.tasks.add(task)
        try:
            await inside.adrive(flow)
        except (Stopped, asyncio.CancelledError):
            raise  # whether the whole call is cancelled, its own task knows
        except BaseException as error:
            step.escaped = error
            raise
        finally:
            if task is not None:
                step.tasks.discard(task)
            step.end()

    async def _aleave(self, step: Surround) -> None:
        """
        Let nothing begin inside of a filter any more, and end what runs there.
        """
        given_up = step.has_given_up
        if await _end_inside(step) and not given_up:
            note_haste(step)
        step.check()


async def _end_inside(step: Surround, *, patience: float = 0.0) -> bool:
    """
    Cancel what runs inside of a filter that has ended; tell whether something did.

    Args:
        patience: Seconds to wait for it before, where it has been cancelled already.
    """
    if not step.leave():
        return False
    tasks: set[asyncio.Task[Any]] = {*step.tasks} - {asyncio.current_task()}
    if tasks and patience:
        _, tasks = await asyncio.wait(tasks, timeout=patience)
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=BACK_SECONDS)

    return True


def _result_from(
    loop: asyncio.AbstractEventLoop,
    work: Coroutine[Any, Any, BaseException | None],
    step: Surround,
) -> BaseException | None:
    """
    Run *work* on *loop*, from another thread.
    """
    try:
        future = asyncio.run_coroutine_threadsafe(work, loop)
    except BaseException:
        work.close()
        step.end()
        raise

    return future.result()
