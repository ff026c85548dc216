"""
Do what a call's flow has to wait for, on the caller's thread.

The invariants are those of `_driving`.
"""

from __future__ import annotations

import asyncio
import contextvars

from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from typing import final

from .._calls import ToolResult
from .._isolation import Attempt, Stopped, StopSignal
from ..filters._surround import InnerFlow, Surround
from ._admission import Admission
from ._driving import (
    BACK_SECONDS,
    MARGIN,
    Driving,
    Flow,
    Step,
    note_haste,
    take_outcome,
)


__all__ = ["Driver", "Step"]


@final
class Driver(Driving):
    """
    Runs the steps of one call from sync code.
    """

    __slots__ = ()

    def drive(self, flow: Flow) -> None:
        """
        Run a flow to its end on this thread.
        """
        run = None if self._variables is None else self._variables.run
        try:
            while (
                step := run(next, flow, None) if run else next(flow, None)
            ) is not None:
                if isinstance(step, Attempt):
                    self._check_stop()
                    self._fit(step)
                    if self._apart and step.where is None and not step.is_async:
                        step.where = "thread"
                    self._runtime.terminal.invoke(step)
                elif isinstance(step, Admission):
                    step.wait()
                elif isinstance(step, Surround):
                    self._surround(step)
                else:
                    self._runtime.clock.sleep(step.seconds)
        except BaseException:
            run(flow.close) if run else flow.close()
            raise

    def _surround(self, step: Surround) -> None:
        layer, request = step.filter.layer, step.request
        if step.filter.is_sync and self._incoming.deadline is None:
            call = partial(layer.around, request, partial(self._go_on, step))
            try:
                step.value = self._variables.run(call) if self._variables else call()
            except BaseException as error:  # it is judged where the onion is
                step.error = error
            self._leave(step)
            return
        if step.filter.is_sync:
            bounded = partial(self._go_on_bounded, step)
            attempt = self._attempt(
                lambda: layer.around(request, bounded), is_async=False
            )
            attempt.where = "thread"
        else:
            go_on = partial(self._go_on_apart, step)
            attempt = self._attempt(
                lambda: layer.aaround(request, go_on), is_async=True
            )
        step.cancelled = lambda: attempt.stop
        try:
            self._runtime.terminal.invoke(attempt)
        except BaseException:
            if step.leave():
                step.wait_until_back(MARGIN)
            raise
        take_outcome(step, attempt)
        self._leave(step)

    def _leave(self, step: Surround) -> None:
        """
        Let nothing begin inside of a filter any more, and see what becomes of the rest.
        """
        given_up = step.has_given_up
        if step.leave():
            step.wait_until_back(BACK_SECONDS)
            if not given_up:
                note_haste(step)
        step.check()

    def _go_on(self, step: Surround, request: object) -> ToolResult | None:
        """
        Run what is inside of a filter, on this thread.
        """
        self._run_inside(self._inside(step), step, step.begin(request))

        return step.result

    def _go_on_bounded(self, step: Surround, request: object) -> ToolResult | None:
        """
        Run what is inside of a filter on this thread, which may be left alone.
        """
        flow = step.begin(request)
        with self._own_signal(step) as own:
            inside = self._inside(step, signal=own, apart=True)
            self._run_inside(inside, step, flow)

        return step.result

    @contextmanager
    def _own_signal(self, step: Surround) -> Generator[StopSignal, None, None]:
        """
        Stop what is inside of a filter by itself, or with what the filter is inside of.
        """
        own, outer = StopSignal(), self._signal
        step.stop = own.set
        if outer is not None:
            outer.add(own.set)
        try:
            yield own
        finally:
            if outer is not None:
                outer.discard(own.set)

    def _run_inside(self, inside: Driver, step: Surround, flow: InnerFlow) -> None:
        try:
            inside.drive(flow)
        except Stopped as error:  # by its filter, or with the whole call
            if self._is_stopped:
                step.escaped = error
            raise
        except BaseException as error:
            step.escaped = error
            raise
        finally:
            step.end()

    async def _go_on_apart(self, step: Surround, request: object) -> ToolResult | None:
        """
        Run what is inside of an async filter of a sync call, on a thread of its own.
        """
        flow = step.begin(request)
        task = asyncio.current_task()
        if task is not None:
            step.tasks.add(task)
        try:
            with self._own_signal(step) as own:
                failures = await self._run_apart(step, flow, own)
        finally:
            if task is not None:
                step.tasks.discard(task)
        if failures:
            raise failures[0]

        return step.result

    async def _run_apart(
        self, step: Surround, flow: InnerFlow, own: StopSignal
    ) -> list[BaseException]:
        failures: list[BaseException] = []
        inside = self._inside(step, signal=own, apart=True)

        def run() -> None:
            try:
                self._run_inside(inside, step, flow)
            except BaseException as error:  # the filter gets it, on its own thread
                failures.append(error)

        call = partial(contextvars.copy_context().run, run)
        try:
            work = asyncio.get_running_loop().run_in_executor(None, call)
        except BaseException:
            step.end()
            raise
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            own.set()
            await asyncio.wait({work}, timeout=BACK_SECONDS)
            raise

        return failures
