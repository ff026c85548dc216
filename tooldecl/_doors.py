"""
The doors to call tools, one by one or several together, in both colours.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, Literal, TypeAlias

from ._batch import Run, check_failures, read_batch, unique_id
from ._budget import Budget
from ._calls import Arguments, Status, ToolCall, ToolResult
from ._charging import Charge, check_budget, meter_of
from ._gate import of_request, split_request
from ._gather import arun_all, run_all
from ._ids import new_id
from ._meter import BudgetMeter
from ._pipeline import arun_call, run_call
from ._resume import suspension_of
from ._runtime import Incoming, Runtime
from ._state import State
from ._suspension import BatchResult, batch_result
from .engines import Engine
from .exceptions import BatchFailedError, EngineClosedError, MalformedJSONError
from .telemetry import Hook


Failures: TypeAlias = Literal["return", "raise"]


class Doors:
    """
    How the tools of a client are called.
    """

    _runtime: Runtime
    _engine: Engine
    _state: State
    _closed: bool

    def invoke(
        self,
        name: str,
        arguments: Arguments = None,
        *,
        call_id: str | None = None,
        deps: Any = None,
        budget: Budget | None = None,
        on_progress: Hook | None = None,
    ) -> ToolResult:
        """
        Call one tool and return its one result, whatever happens.

        Args:
            name: The tool's name.
            arguments: A mapping in JSON form, or raw JSON text.
            call_id: The caller's id for the call; made up without one.
            deps: The host's own object, for ``ToolContext.deps``.
            budget: Limits for this call, beside those of the client.
            on_progress: A hook for the `Progress` of this call, from any thread.

        Raises:
            EngineClosedError: The client or its engine is closed.
            KeyboardInterrupt, MemoryError, types named in stop_on: Unchanged.
        """
        incoming = self._one(name, arguments, call_id, deps, budget)
        incoming.listener = on_progress

        return self._fold(incoming, run_call(self._runtime, incoming))

    async def ainvoke(
        self,
        name: str,
        arguments: Arguments = None,
        *,
        call_id: str | None = None,
        deps: Any = None,
        budget: Budget | None = None,
        on_progress: Hook | None = None,
    ) -> ToolResult:
        """
        Call one tool from async code; as `invoke`, and a cancelled caller is cancelled.
        """
        incoming = self._one(name, arguments, call_id, deps, budget)
        incoming.listener = on_progress
        return self._fold(incoming, await arun_call(self._runtime, incoming))

    def invoke_json(
        self, text: str | bytes, *, call_id: str | None = None, deps: Any = None
    ) -> ToolResult:
        """
        Call one tool by a whole request, ``{"tool": ..., "arguments": {...}}``.
        """
        incoming = self._request(text, call_id, deps)

        return self._fold(incoming, run_call(self._runtime, incoming))

    async def ainvoke_json(
        self, text: str | bytes, *, call_id: str | None = None, deps: Any = None
    ) -> ToolResult:
        """
        Call one tool from async code by a whole request; as `invoke_json`.
        """
        incoming = self._request(text, call_id, deps)

        return self._fold(incoming, await arun_call(self._runtime, incoming))

    def _one(
        self,
        name: str,
        arguments: Arguments,
        call_id: str | None,
        deps: Any,
        budget: Budget | None = None,
    ) -> Incoming:
        self._check_open()
        state = self._state.snapshot()
        if call_id is None:  # an id of ours is good for its run as well
            used = new_id("call")
            incoming = Incoming(name, arguments, used, state, deps, used)
        else:
            used, original = unique_id(call_id, set())
            incoming = Incoming(name, arguments, used, state, deps)
            incoming.original_id = original
        if budget is not None or self._runtime.meter is not None:
            incoming.charge = Charge(self._meters(budget))

        return incoming

    def _meters(self, budget: Budget | None) -> list[BudgetMeter]:
        """
        Return what a call or a batch is charged to: the client's, and one of its own.
        """
        runtime = self._runtime
        check_budget(budget, runtime.table, "budget=...")
        own = meter_of(budget, "call", runtime.clock)

        return [meter for meter in (runtime.meter, own) if meter is not None]

    def _request(self, text: str | bytes, call_id: str | None, deps: Any) -> Incoming:
        try:
            name, arguments = split_request(text, self._runtime.json_limits)
        except MalformedJSONError as error:
            incoming = self._one("", None, call_id, deps)
            incoming.refusal = of_request(error)
            return incoming

        return self._one(name, arguments, call_id, deps)

    def invoke_batch(
        self,
        calls: Iterable[ToolCall],
        *,
        within: float | timedelta | None = None,
        failures: Failures = "return",
        deps: Any = None,
        budget: Budget | None = None,
    ) -> BatchResult:
        """
        Run several calls; return one result each, in the order of the calls.

        Args:
            calls: The calls; missing, empty and repeated ids are replaced.
            within: Seconds for the whole batch. What runs then gets ``timeout`` with
                its true fate, what has not begun ``not_run``.
            failures: ``"raise"`` raises once the whole batch has finished.
            deps: The host's own object, for ``ToolContext.deps``.
            budget: Limits for this batch, beside those of the client.

        Raises:
            BatchFailedError: With ``failures="raise"``, a call did not succeed.
            EngineClosedError: The client or its engine is closed.
            KeyboardInterrupt, MemoryError, types named in stop_on: Unchanged.
        """
        batch = self._read(calls, within, failures, deps, budget=budget)
        results = run_all(self._runtime, self._engine, batch)

        return self._collect(batch, results, failures)

    async def ainvoke_batch(
        self,
        calls: Iterable[ToolCall],
        *,
        within: float | timedelta | None = None,
        failures: Failures = "return",
        deps: Any = None,
        budget: Budget | None = None,
    ) -> BatchResult:
        """
        Run several calls from async code; as `invoke_batch`.
        """
        batch = self._read(calls, within, failures, deps, budget=budget)
        results = await arun_all(self._runtime, self._engine, batch)

        return self._collect(batch, results, failures)

    def _invoke_run(
        self, calls: Iterable[ToolCall], run: Run, failures: Failures
    ) -> BatchResult:
        """
        Run a batch that has its place in a longer run.
        """
        batch = self._read(calls, None, failures, run.deps, run=run)
        results = run_all(self._runtime, self._engine, batch, run.kept)

        return self._collect(batch, results, failures)

    async def _ainvoke_run(
        self, calls: Iterable[ToolCall], run: Run, failures: Failures
    ) -> BatchResult:
        batch = self._read(calls, None, failures, run.deps, run=run)
        results = await arun_all(self._runtime, self._engine, batch, run.kept)

        return self._collect(batch, results, failures)

    def _read(
        self,
        calls: Iterable[ToolCall],
        within: float | timedelta | None,
        failures: str,
        deps: Any,
        *,
        run: Run | None = None,
        budget: Budget | None = None,
    ) -> list[Incoming]:
        self._check_open()
        check_failures(failures)
        batch = read_batch(
            calls,
            within=within,
            run=run,
            state=self._state.snapshot(),
            deps=deps,
            clock=self._runtime.clock,
            meters=self._meters(budget),
        )
        if self._runtime.reports.hooks:
            self._runtime.reports.batch_started(tuple(call.call_id for call in batch))

        return batch

    def _collect(
        self, calls: list[Incoming], results: list[ToolResult], failures: Failures
    ) -> BatchResult:
        """
        Fold what was written, and return the results with what of them still waits.
        """
        self._take_over(results)
        waiting = suspension_of(calls, results, state=self._state.snapshot())

        return self._done(batch_result(results, waiting), failures)

    def _done(self, batch: BatchResult, failures: Failures) -> BatchResult:
        """
        Tell of the end of a batch.

        Raises:
            BatchFailedError: A call did not succeed, and that is to be raised.
        """
        if self._runtime.reports.hooks:
            self._runtime.reports.batch_finished(
                tuple(result.call_id for result in batch)
            )
        if failures == "raise":
            for result in batch:
                if not result.ok and result.status is not Status.PENDING:
                    failure = BatchFailedError(results=batch, first=result.name)
                    raise failure from result.error

        return batch

    def _fold(self, incoming: Incoming, result: ToolResult) -> ToolResult:
        if result.writes:
            self._take_over([result])
        if incoming.held is not None:
            state = self._state.snapshot()
            batch_result([result], suspension_of([incoming], [result], state=state))

        return result

    def _take_over(self, results: Iterable[ToolResult]) -> None:
        """
        Fold what successful calls wrote into the client's state, in call order.
        """
        writes = [(r.call_id, r.writes) for r in results if r.ok and r.writes]
        if writes:
            for slot, call_ids in self._state.fold(writes).items():
                self._runtime.reports.conflict(slot, call_ids)

    def _check_open(self) -> None:
        if self._closed:
            raise EngineClosedError(
                "This ToolClient is closed and takes no more calls."
            )
        if self._engine.closed:
            raise EngineClosedError(
                f"The {type(self._engine).__name__} of this client is closed and takes "
                "no more calls."
            )
