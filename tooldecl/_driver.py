"""
Do what a call's flow has to wait for, in both colours.

Invariants:

1. A filter object of one colour serves both: where the colour of the call has no form of
   it, the other form runs on a thread, or on the client's own loop.
2. What may not be contained passes a filter, whatever the filter makes of it.
3. A nested flow runs in the context variables of the filter around it.
"""

from __future__ import annotations

import asyncio
import contextvars

from collections.abc import Callable, Generator
from functools import partial
from typing import Any, TypeAlias, final

from ._admission import Admission
from ._attempts import Step as CallStep
from ._calls import ToolResult
from ._context import ToolContext
from ._isolation import Attempt, InContext, Stopped, StopSignal
from ._runtime import Incoming, Runtime
from .filters._surround import Surround


Step: TypeAlias = CallStep | Admission
Flow: TypeAlias = Generator[Step, None, Any]


@final
class Driver:
    """
    Runs the steps of one call.

    Args:
        variables: What the steps of the flow run in; None where nothing is needed.
    """

    __slots__ = ("_incoming", "_runtime", "_variables")

    def __init__(
        self,
        runtime: Runtime,
        incoming: Incoming,
        variables: contextvars.Context | None,
    ) -> None:
        self._runtime = runtime
        self._incoming = incoming
        self._variables = variables

    # -- sync --------------------------------------------------------------------------

    def drive(self, flow: Flow, *, nested: bool = False) -> None:
        """
        Run a flow to its end on this thread.
        """
        run = None if nested or self._variables is None else self._variables.run
        try:
            while (
                step := run(next, flow, None) if run else next(flow, None)
            ) is not None:
                if isinstance(step, Attempt):
                    self._check_stop()
                    self._runtime.terminal.invoke(step)
                elif isinstance(step, Admission):
                    step.wait()
                elif isinstance(step, Surround):
                    self._surround(step, run)
                else:
                    self._runtime.clock.sleep(step.seconds)
        except BaseException:
            run(flow.close) if run else flow.close()
            raise

    def _surround(self, step: Surround, run: Callable[..., Any] | None) -> None:
        layer = step.layer
        if hasattr(layer, "around"):
            call: Any = partial(layer.around, step.request, partial(self._go_on, step))
            try:
                step.value = run(call) if run else call()
            except BaseException as error:  # it is judged where the onion is
                step.error = error
        else:
            attempt = self._attempt(
                lambda: layer.aaround(step.request, partial(self._go_on_apart, step)),
                is_async=True,
            )
            self._runtime.terminal.invoke(attempt)
            step.value, step.error = attempt.value, attempt.error
        step.close()

    def _go_on(self, step: Surround, request: object) -> ToolResult | None:
        """
        Run what is inside of a filter, on this thread.
        """
        flow = step.begin(request)
        try:
            self.drive(flow, nested=True)
        except BaseException as error:
            step.escaped = error
            raise

        return step.result

    async def _go_on_apart(self, step: Surround, request: object) -> ToolResult | None:
        """
        Run what is inside of an async filter of a sync call, on a thread of its own.
        """
        signal = self._incoming.signal
        if signal is None:
            signal = self._incoming.signal = StopSignal()
        call = partial(contextvars.copy_context().run, self._go_on, step, request)
        try:
            return await asyncio.get_running_loop().run_in_executor(None, call)
        except asyncio.CancelledError:
            signal.set()
            raise

    # -- async -------------------------------------------------------------------------

    async def adrive(self, flow: Flow, *, nested: bool = False) -> None:
        """
        Run a flow to its end on the running loop.
        """
        run = None if nested or self._variables is None else self._variables.run
        try:
            while (
                step := run(next, flow, None) if run else next(flow, None)
            ) is not None:
                if isinstance(step, Attempt):
                    await self._runtime.terminal.ainvoke(step)
                elif isinstance(step, Admission):
                    await step.await_()
                elif isinstance(step, Surround):
                    await self._asurround(step, nested=run is None)
                else:
                    await self._runtime.clock.asleep(step.seconds)
        except BaseException:
            run(flow.close) if run else flow.close()
            raise

    async def _asurround(self, step: Surround, *, nested: bool) -> None:
        if hasattr(step.layer, "aaround"):
            await self._await_around(step, nested=nested)
        else:
            await self._around_apart(step)
        step.close()

    async def _await_around(self, step: Surround, *, nested: bool) -> None:
        task = asyncio.current_task()
        before = task.cancelling() if task is not None else 0

        async def around() -> None:
            go_on = partial(self._ago_on, step)
            step.value = await step.layer.aaround(step.request, go_on)

        try:
            if nested or self._variables is None:
                await around()
            else:
                await InContext(around(), self._variables)
        except BaseException as error:  # it is judged where the onion is
            if task is not None and task.cancelling() > before:
                raise
            step.error = error

    async def _ago_on(self, step: Surround, request: object) -> ToolResult | None:
        """
        Run what is inside of a filter, on the running loop.
        """
        flow = step.begin(request)
        try:
            await self.adrive(flow, nested=True)
        except BaseException as error:
            step.escaped = error
            raise

        return step.result

    async def _around_apart(self, step: Surround) -> None:
        """
        Run a sync filter of an async call on a thread, and what is inside of it here.
        """
        loop = asyncio.get_running_loop()
        inside: list[Any] = []

        def go_on(request: object) -> ToolResult | None:
            future = asyncio.run_coroutine_threadsafe(self._ago_on(step, request), loop)
            inside.append(future)
            return future.result()

        attempt = self._attempt(
            lambda: step.layer.around(step.request, go_on), is_async=False
        )
        try:
            await self._runtime.terminal.ainvoke(attempt)
        except BaseException:
            for future in inside:
                future.cancel()
            raise
        step.value, step.error = attempt.value, attempt.error

    def _attempt(self, call: Callable[[], object], *, is_async: bool) -> Attempt:
        attempt = Attempt(
            lambda _values, _context: call(),
            {},
            ToolContext(self._incoming, attempt=0),
            contextvars.copy_context()
            if self._variables is None
            else self._variables.copy(),
        )
        attempt.is_async, attempt.aside = is_async, True
        attempt.signal = self._incoming.signal

        return attempt

    def _check_stop(self) -> None:
        """
        Let no body begin any more once its batch is over.

        Raises:
            Stopped: It is.
        """
        signal = self._incoming.signal
        if signal is not None and signal.is_set:
            raise Stopped
