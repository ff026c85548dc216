"""
Drive one run of a loop, in both colours, and tell of its end however it is left.

`_rounds` has the order of steps; what is here only does what has to wait.
"""

from __future__ import annotations

import asyncio
import copy
import logging

from collections.abc import Callable
from types import TracebackType
from typing import Self, final

from .._calls import ToolResult
from .._policy import shown
from .._signature import answers_at_once
from .._suspension import BatchResult, Suspension
from .._terminal import close_quietly
from .._texts import text_of
from .._turns import LoopResult, Model, ModelRequest, StopReason, Turn
from ..exceptions import (
    BatchFailedError,
    EngineClosedError,
    ModelFailedError,
    ResumeError,
)
from ._conversation import Conversation
from ._rounds import Batch, Rounds
from ._rules import Rules


logger = logging.getLogger("tooldecl")


@final
class LoopRun:
    """
    One run of a loop.

    Args:
        rules: Those of its loop.
        model: Decides.
        rounds: What comes next.
        on_end: Told how the run ended, or None.
        suspension: What the run goes on from, or None.

    Raises:
        TypeError: *on_end* cannot be called.
    """

    def __init__(
        self,
        rules: Rules,
        model: Model,
        rounds: Rounds,
        on_end: Callable[[LoopResult], object] | None = None,
        suspension: Suspension | None = None,
    ) -> None:
        if on_end is not None and not answers_at_once(on_end):
            raise TypeError(
                f"on_end takes a callable that waits for nothing, got {shown(on_end)}."
            )
        self._rules = rules
        self._model = model
        self._rounds = rounds
        self._on_end = on_end
        self._waited = suspension  # until its calls have been run
        self._reports = rules.client._runtime.reports

    def drive(self) -> LoopResult:
        """
        Run it from sync code.
        """
        reply: Turn | BatchResult | None = None
        with self:
            while not isinstance(step := self._rounds.step(reply), LoopResult):
                if isinstance(step, ModelRequest):
                    with ModelAtWork(self._rounds.state):
                        reply = _turn(self._model.respond(step))
                else:
                    reply = self._run_batch(step)
                    self._waited = None

        return self._end(step)

    async def adrive(self) -> LoopResult:
        """
        Run it from async code; as `drive`.
        """
        reply: Turn | BatchResult | None = None
        with self:
            while not isinstance(step := self._rounds.step(reply), LoopResult):
                if isinstance(step, ModelRequest):
                    await _take_cancellation()
                    with ModelAtWork(self._rounds.state):
                        reply = _turn(await self._model.arespond(step))
                else:
                    reply = await self._arun_batch(step)
                    self._waited = None

        return self._end(step)

    def _run_batch(self, batch: Batch) -> BatchResult:
        client, failures = self._rules.client, self._rules.failures
        if batch.suspension is None:
            return client._invoke_run(batch.calls, batch.run, failures)
        decisions = batch.decisions or {}

        return client._resume_run(batch.suspension, decisions, failures, batch.run)

    async def _arun_batch(self, batch: Batch) -> BatchResult:
        client, failures = self._rules.client, self._rules.failures
        if batch.suspension is None:
            return await client._ainvoke_run(batch.calls, batch.run, failures)
        decisions = batch.decisions or {}

        return await client._aresume_run(
            batch.suspension, decisions, failures, batch.run
        )

    def __enter__(self) -> Self:
        if self._reports.hooks:
            self._reports.loop_started(self._rounds.state.run_id)

        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            return
        self._rounds.leave()
        state, waited = self._rounds.state, self._waited
        if waited is not None and isinstance(error, _NOT_TAKEN_UP):
            self._report(StopReason.SUSPENDED)
            return
        kept: list[ToolResult] = [*state.run.kept]
        if isinstance(error, BatchFailedError):
            kept = [r for r in error.results if isinstance(r, ToolResult)]
        elif waited is not None:
            kept = [*waited.results, *kept]
        state.close(kept)
        self._end(state.result(StopReason.CANCELLED, ""))

    def _end(self, result: LoopResult) -> LoopResult:
        """
        Tell of the end of the run.
        """
        self._report(result.stop_reason)
        if self._on_end is not None:
            try:
                self._on_end(result)
            except Exception:  # it is told, and not asked, as a hook is
                logger.exception("What was told of the end of a loop's run failed.")

        return result

    def _report(self, reason: StopReason) -> None:
        if self._reports.hooks:
            state = self._rounds.state
            self._reports.loop_finished(state.run_id, reason.value, state.turns)


class ModelAtWork:
    """
    Turns what a model raises into ModelFailedError; a cancellation of its own as well.

    One that the run was asked for ends it, whatever the model makes of it.
    """

    def __init__(self, state: Conversation) -> None:
        self._state = state
        self._before = 0

    def __enter__(self) -> None:
        self._before = _cancellations()

    def __exit__(self, kind: object, error: BaseException | None, tb: object) -> None:
        if error is None and _cancellations() > self._before:
            raise asyncio.CancelledError  # the model has kept it to itself
        if self._is_its_own(error):
            raise ModelFailedError(
                messages=copy.deepcopy(self._state.messages),
                results=tuple(self._state.results),
                reason=text_of(error) or type(error).__name__ if error else "",
            ) from error

    def _is_its_own(self, error: BaseException | None) -> bool:
        if isinstance(error, asyncio.CancelledError):
            return _cancellations() == self._before

        return isinstance(error, Exception) and not isinstance(error, MemoryError)


def _cancellations() -> int:
    """
    Return how often the running task was asked to end.
    """
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no loop runs here
        return 0

    return 0 if task is None else task.cancelling()


# What was given does not fit, and the run is as suspended as it was.
_NOT_TAKEN_UP = (ResumeError, TypeError, EngineClosedError)


async def _take_cancellation() -> None:
    """
    Let a cancellation through that has not been delivered yet.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        await asyncio.sleep(0)


def _turn(turn: object) -> Turn:
    if not isinstance(turn, Turn):
        close_quietly(turn)
        raise TypeError(f"A model returns a Turn, got {type(turn).__name__}.")

    return turn
