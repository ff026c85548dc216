"""
Run a batch: hand its steps to the engine, and have one result for each of its calls.

Invariants:

1. Each call is run once at most, however often its engine asks for it, and is answered
   whatever its engine does; what an engine returns is not looked at.
2. What means stop leaves the batch as it is, also where an engine has swallowed it.
3. When a batch is stopped, no further body begins, and whoever never began is told of as
   cancelled.
"""

from __future__ import annotations

import asyncio

from collections.abc import Callable, Sequence
from typing import final

from ._answers import Answers
from ._calls import Fate, ToolResult
from ._isolation import LoopWaiter, Stopped, StopSignal, ThreadWaiter
from ._pipeline import arun_call, group_of, run_call
from ._runtime import Incoming, Runtime
from .engines import Engine, SequentialEngine
from .engines._plan import plan
from .exceptions import CallCancelledError, CallError, NotRunError


def run_all(
    runtime: Runtime,
    engine: Engine,
    calls: Sequence[Incoming],
    kept: list[ToolResult] | None = None,
) -> list[ToolResult]:
    """
    Run a batch from sync code; return one result per call, in request order.

    Args:
        kept: Takes how each call stands, where an error leaves the batch.
    """
    batch = Gathering(runtime, calls)
    signal = StopSignal()
    if not isinstance(engine, SequentialEngine):  # it has no thread but the caller's
        for call in calls:
            call.signal = signal
    try:
        for step in batch.steps(engine):
            engine.run_batch(step, batch.run)
            batch.wait()
            batch.end(step)
    except BaseException as error:
        signal.set()
        batch.stop(kept)
        if not batch.hides(error):
            raise

    return batch.results()


async def arun_all(
    runtime: Runtime,
    engine: Engine,
    calls: Sequence[Incoming],
    kept: list[ToolResult] | None = None,
) -> list[ToolResult]:
    """
    Run a batch from async code; as `run_all`.
    """
    batch = Gathering(runtime, calls)
    try:
        for step in batch.steps(engine):
            await engine.arun_batch(step, batch.arun)
            await batch.await_()
            batch.end(step)
    except BaseException as error:
        batch.stop(kept)
        if not batch.hides(error):
            raise

    return batch.results()


@final
class Gathering:
    """
    The calls of one batch and their results.
    """

    __slots__ = (
        "_calls",
        "_fatal",
        "_open",
        "_results",
        "_running",
        "_runtime",
        "_wake",
    )

    def __init__(self, runtime: Runtime, calls: Sequence[Incoming]) -> None:
        self._runtime = runtime
        self._calls = calls
        self._open = {id(call): place for place, call in enumerate(calls)}
        self._results: list[ToolResult | None] = [None] * len(calls)
        self._fatal: BaseException | None = None
        self._running: set[object] = set()
        self._wake: Callable[[], None] = nothing

    def steps(self, engine: Engine) -> list[list[Incoming]]:
        """
        Return the parts of the batch that are run one after the other.
        """
        table = self._runtime.table
        metas = [table.get(call.name) for call in self._calls]
        alone = any(meta is not None and meta.serial is True for meta in metas)
        token = object() if alone else None
        for call, meta in zip(self._calls, metas, strict=True):
            call.batch, call.group = token, group_of(self._runtime, meta)
        steps = plan(metas, limit=engine.max_concurrency, over_limit=engine.over_limit)

        return [[self._calls[place] for place in step] for step in steps]

    def run(self, call: Incoming) -> ToolResult:
        """
        Run one call, as its engine wants it.
        """
        place = self._begin(call, mark := object())
        if place is None:
            return self._again(call)
        try:
            result = self._results[place] = run_call(self._runtime, call)
        except BaseException as error:
            self._note(error)
            raise
        finally:
            self._ended(mark)

        return result

    async def arun(self, call: Incoming) -> ToolResult:
        """
        Run one call, as its engine wants it; as `run`.
        """
        place = self._begin(call, mark := object())
        if place is None:
            return self._again(call)
        try:
            result = self._results[place] = await arun_call(self._runtime, call)
        except BaseException as error:
            self._note(error)
            raise
        finally:
            self._ended(mark)

        return result

    def _begin(self, call: Incoming, mark: object) -> int | None:
        """
        Return the place of a call that has not been run; one thread gets it.
        """
        self._running.add(mark)  # before it is no more open: it is one or the other
        place = self._open.pop(id(call), None)
        if place is None:
            self._running.discard(mark)

        return place

    def _again(self, call: Incoming) -> ToolResult:
        """
        Answer an engine that runs a call twice; it is no answer of the batch.
        """
        error = NotRunError(tool=call.name, reason="it has been run before")

        return Answers(call.call_id, call.name).refusal(error)

    def _ended(self, mark: object) -> None:
        self._running.discard(mark)
        self._wake()

    def _note(self, error: BaseException) -> None:
        if self._fatal is None and not isinstance(
            error, (Stopped, asyncio.CancelledError, GeneratorExit)
        ):
            self._fatal = error

    def wait(self) -> None:
        """
        Wait for calls that an engine has left running.
        """
        while self._running:
            with ThreadWaiter() as waiter:
                self._wake = waiter.wake
                if self._running:
                    waiter.wait(None)

    async def await_(self) -> None:
        """
        Wait for calls that an engine has left running; as `wait`.
        """
        while self._running:
            waiter = LoopWaiter(asyncio.get_running_loop())
            self._wake = waiter.wake
            if self._running:
                await waiter.wait(None)

    def end(self, step: Sequence[Incoming]) -> None:
        """
        Answer what the engine has not run of a step.

        Raises:
            BaseException: What came out of one of its calls.
        """
        if self._fatal is not None:
            raise self._fatal
        for call in step:
            self._answer(
                call, NotRunError(tool=call.name, reason="its engine left it out")
            )

    def stop(self, kept: list[ToolResult] | None = None) -> None:
        """
        Tell the hooks that the batch is over, and of each call that never began.

        Args:
            kept: Takes how each call stands.
        """
        for call in self._calls:
            fate = Fate.NOT_STARTED.value
            self._answer(call, CallCancelledError(tool=call.name, fate=fate))
        if self._runtime.reports.hooks:
            call_ids = tuple(call.call_id for call in self._calls)
            self._runtime.reports.batch_finished(call_ids)
        if kept is not None:
            kept += self._as_they_stand()

    def _answer(self, call: Incoming, refusal: CallError) -> None:
        place = self._begin(call, mark := object())
        if place is not None:
            call.refusal = refusal
            self._results[place] = run_call(self._runtime, call)
            self._ended(mark)

    def hides(self, error: BaseException) -> bool:
        """
        Whether an engine has put *error* in the place of what came out of a call.
        """
        if self._fatal is None or error is self._fatal:
            return False

        return isinstance(error, (Exception, BaseExceptionGroup))

    def _raise_fatal(self) -> None:
        if self._fatal is not None:
            raise self._fatal

    def results(self) -> list[ToolResult]:
        """
        Return the results, in request order.

        Raises:
            BaseException: What came out of a call.
        """
        self._raise_fatal()

        return self._as_they_stand()

    def _as_they_stand(self) -> list[ToolResult]:
        return [
            result or call.ended or self._lost(call)
            for call, result in zip(self._calls, self._results, strict=True)
        ]

    def _lost(self, call: Incoming) -> ToolResult:
        """
        Answer a call that its engine has cancelled by itself.
        """
        error = CallCancelledError(tool=call.name, fate=Fate.ABANDONED.value)
        answer = Answers(call.call_id, call.name).refusal(error)

        return answer.replace(fate=Fate.ABANDONED, original_id=call.original_id)


def nothing() -> None:
    """
    Nobody waits.
    """
