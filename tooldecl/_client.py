"""
The client: a table of tools, an engine, filters and limits, and the doors to call them.
"""

from __future__ import annotations

import asyncio
import weakref

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal, Self, final

from ._batch import Run, check_failures, new_id, read_batch
from ._calls import Arguments, BatchResult, ToolCall, ToolResult
from ._clock import Clock
from ._definitions import render
from ._gate import split_request
from ._isolation import AbandonedCall, Attempt, LoopHolder, Place
from ._meta import Overflow
from ._pipeline import arun_call, run_call
from ._reports import Reports
from ._runtime import Incoming, Runtime
from ._settings import Settings, as_one, assemble, broken_promises, read_settings
from ._state import State
from ._strictjson import JSONLimits
from ._table import ToolTable
from ._terminal import Terminal, close_quietly
from .engines import Engine
from .exceptions import (
    BatchFailedError,
    CallError,
    EngineClosedError,
)
from .filters._chain import Filter
from .telemetry import Hook


__all__ = ["ToolClient"]

Failures = Literal["return", "raise"]


@final
class ToolClient:
    """
    A fixed set of tools, ready to be called; safe to share between threads and loops.

    Closing it is good manners, not a duty: nothing of it keeps the interpreter alive.

    Args:
        tools: Decorated functions, bound methods, `ToolSpec`, `tools_in`, `prefixed`.
        engine: Runs batches and gives the default timeout; `SequentialEngine` if None.
        filters: Generator functions around every call, the first one outermost.
        json_limits: What the strict JSON reader lets through.
        result_limit: Characters of a result's text for the model, or None; a tool's
            own limit comes first.
        on_overflow: What happens beyond that limit: ``"fail"`` or ``"truncate"``.
        state: Initial slots of the state that tools read and write; copied.
        hooks: Callables that are told what happens.
        stop_on: Exception types that leave the client as they are, like
            KeyboardInterrupt and MemoryError, and never become a result.
        clock: Measures durations and waits between attempts.
        rng: Gives the numbers from 0 to 1 that spread those waits.

    Raises:
        DuplicateToolError: Two tools have one name; raised before any other fault.
        DeclarationError: Something else is wrong; several faults come as one
            ExceptionGroup.
    """

    def __init__(
        self,
        tools: Iterable[object],
        *,
        engine: Engine | None = None,
        filters: Iterable[Filter] = (),
        json_limits: JSONLimits | None = None,
        result_limit: int | None = None,
        on_overflow: Overflow = "fail",
        state: Mapping[str, Any] | None = None,
        hooks: Iterable[Hook] = (),
        stop_on: Iterable[type[BaseException]] = (),
        clock: Clock | None = None,
        rng: Callable[[], float] | None = None,
    ) -> None:
        table, faults = assemble(tools)
        settings, wrong = read_settings(
            engine=engine,
            filters=filters,
            json_limits=json_limits,
            result_limit=result_limit,
            on_overflow=on_overflow,
            state={} if state is None else state,
            hooks=hooks,
            stop_on=stop_on,
            clock=clock,
            rng=rng,
        )
        faults += wrong
        if table is not None and settings is not None:
            faults += broken_promises(table, settings.engine)
        if table is None or settings is None or faults:
            raise as_one(faults)
        self._set_up(table, settings, State(settings.state))

    def _set_up(self, table: ToolTable, settings: Settings, state: State) -> None:
        self._settings = settings
        self._state = state
        self._closed = False
        self._loops = LoopHolder()
        reports = Reports(settings.hooks, settings.clock)
        self._reports = reports
        # What ends late must not keep the client: it is known by a token.
        self._token = object()
        place = Place(
            ledger=settings.engine.ledger,
            owner=self._token,
            on_late=lambda attempt, late_by: _report_late(reports, attempt, late_by),
        )
        self._runtime = Runtime(
            table=table,
            json_limits=settings.json_limits,
            filters=settings.filters,
            reports=reports,
            clock=settings.clock,
            terminal=Terminal(place, self._loops, reports.blocked),
            ledger=settings.engine.ledger,
            engine_timeout=settings.engine.timeout,
            max_abandoned=settings.engine.max_abandoned,
            result_limit=settings.result_limit,
            on_overflow=settings.on_overflow,
            stop_on=settings.stop_on,
            rng=settings.rng,
        )
        finalizer = weakref.finalize(self, self._loops.close, wait=False)
        finalizer.atexit = False

    @property
    def table(self) -> ToolTable:
        """
        What was declared, by name; immutable.
        """
        return self._runtime.table

    @property
    def state(self) -> Mapping[str, Any]:
        """
        The state as the last finished call left it; read-only.
        """
        return self._state.snapshot()

    @property
    def abandoned(self) -> tuple[AbandonedCall, ...]:
        """
        Bodies that may still be running although their calls were answered, oldest first.
        """
        return self._settings.engine.ledger.of(self._token)

    def definitions(
        self,
        format: str = "openai",  # noqa: A002 (the field's word, and it is given by name)
        *,
        tags: Iterable[str] | None = None,
        exclude_tags: Iterable[str] = (),
    ) -> list[dict[str, Any]]:
        """
        Return what a model is shown, as plain data: fresh copies each time.

        Args:
            format: ``"openai"``, ``"anthropic"`` or ``"mcp"``.
            tags: Only tools with one of these; None is all.
            exclude_tags: No tools with one of these.

        Raises:
            ValueError: There is no such format.
            NotAvailableError: The format comes with a later version.
        """
        return render(self.table.entries(), format, tags, exclude_tags)

    # -- one call ------------------------------------------------------------

    def invoke(
        self,
        name: str,
        arguments: Arguments = None,
        *,
        call_id: str | None = None,
        deps: Any = None,
    ) -> ToolResult:
        """
        Call one tool and return its one result, whatever happens.

        Args:
            name: The tool's name.
            arguments: A mapping in JSON form, or raw JSON text.
            call_id: The caller's id for the call; made up without one.
            deps: The host's own object, for ``ToolContext.deps``.

        Raises:
            EngineClosedError: The client is closed.
            KeyboardInterrupt, MemoryError, types named in stop_on: Unchanged.
        """
        return self._fold(run_call(self._runtime, self._one(name, arguments, call_id, deps)))

    async def ainvoke(
        self,
        name: str,
        arguments: Arguments = None,
        *,
        call_id: str | None = None,
        deps: Any = None,
    ) -> ToolResult:
        """
        Call one tool from async code; as `invoke`, and a cancelled caller is cancelled.
        """
        incoming = self._one(name, arguments, call_id, deps)

        return self._fold(await arun_call(self._runtime, incoming))

    def invoke_json(
        self, text: str | bytes, *, call_id: str | None = None, deps: Any = None
    ) -> ToolResult:
        """
        Call one tool by a whole request, ``{"tool": ..., "arguments": {...}}``.
        """
        return self._fold(run_call(self._runtime, self._request(text, call_id, deps)))

    async def ainvoke_json(
        self, text: str | bytes, *, call_id: str | None = None, deps: Any = None
    ) -> ToolResult:
        """
        Call one tool from async code by a whole request; as `invoke_json`.
        """
        incoming = self._request(text, call_id, deps)

        return self._fold(await arun_call(self._runtime, incoming))

    def _one(
        self, name: str, arguments: Arguments, call_id: str | None, deps: Any
    ) -> Incoming:
        self._check_open()

        return Incoming(
            name=name,
            arguments=arguments,
            call_id=call_id or new_id("call"),
            run_id=new_id("run"),
            state=self._state.snapshot(),
            deps=deps,
        )

    def _request(
        self, text: str | bytes, call_id: str | None, deps: Any
    ) -> Incoming:
        try:
            name, arguments = split_request(text, self._settings.json_limits)
        except CallError as error:
            return replace(self._one("", None, call_id, deps), refusal=error)

        return self._one(name, arguments, call_id, deps)

    # -- a batch -------------------------------------------------------------

    def invoke_batch(
        self,
        calls: Iterable[ToolCall],
        *,
        within: float | timedelta | None = None,
        failures: Failures = "return",
        deps: Any = None,
    ) -> BatchResult:
        """
        Run several calls; return one result each, in the order of the calls.

        Args:
            calls: The calls; missing, empty and repeated ids are replaced.
            within: Seconds for the whole batch. What runs then gets ``timeout`` with
                its true fate, what has not begun ``not_run``.
            failures: ``"raise"`` raises once the whole batch has finished.
            deps: The host's own object, for ``ToolContext.deps``.

        Raises:
            BatchFailedError: With ``failures="raise"``, a call did not succeed.
            EngineClosedError: The client is closed.
            KeyboardInterrupt, MemoryError, types named in stop_on: Unchanged.
        """
        return self._run(self._read(calls, within, failures, deps, None), failures)

    async def ainvoke_batch(
        self,
        calls: Iterable[ToolCall],
        *,
        within: float | timedelta | None = None,
        failures: Failures = "return",
        deps: Any = None,
    ) -> BatchResult:
        """
        Run several calls from async code; as `invoke_batch`.
        """
        batch = self._read(calls, within, failures, deps, None)

        return await self._arun(batch, failures)

    def _invoke_run(
        self, calls: Iterable[ToolCall], run: Run, failures: Failures
    ) -> BatchResult:
        """
        Run a batch that has its place in a longer run.
        """
        return self._run(self._read(calls, None, failures, None, run), failures)

    async def _ainvoke_run(
        self, calls: Iterable[ToolCall], run: Run, failures: Failures
    ) -> BatchResult:
        return await self._arun(
            self._read(calls, None, failures, None, run), failures
        )

    def _run(self, batch: list[Incoming], failures: Failures) -> BatchResult:
        engine, runtime = self._settings.engine, self._runtime
        results = engine.run_batch(batch, lambda call: run_call(runtime, call))

        return self._collect(results, failures)

    async def _arun(self, batch: list[Incoming], failures: Failures) -> BatchResult:
        engine, runtime = self._settings.engine, self._runtime
        results = await engine.arun_batch(batch, lambda call: arun_call(runtime, call))

        return self._collect(results, failures)

    def _read(
        self,
        calls: Iterable[ToolCall],
        within: float | timedelta | None,
        failures: str,
        deps: Any,
        run: Run | None,
    ) -> list[Incoming]:
        self._check_open()
        check_failures(failures)
        batch = read_batch(
            calls,
            within=within,
            run=run,
            state=self._state.snapshot(),
            deps=deps,
            clock=self._settings.clock,
        )
        if self._reports:
            self._reports.batch_started(tuple(call.call_id for call in batch))

        return batch

    def _collect(self, results: list[ToolResult], failures: str) -> BatchResult:
        batch = BatchResult(results)
        self._take_over(batch)
        if self._reports:
            self._reports.batch_finished(tuple(result.call_id for result in batch))
        if failures == "raise":
            for result in batch:
                if not result.ok:
                    raise BatchFailedError(results=batch, first=result.name)

        return batch

    def _fold(self, result: ToolResult) -> ToolResult:
        if result.writes:
            self._take_over([result])

        return result

    def _take_over(self, results: Iterable[ToolResult]) -> None:
        """
        Fold what successful calls wrote into the client's state, in call order.
        """
        writes = [(r.call_id, r.writes) for r in results if r.ok and r.writes]
        if writes:
            for slot, call_ids in self._state.fold(writes).items():
                self._reports.conflict(slot, call_ids)

    # -- other clients -------------------------------------------------------

    def adding(self, *tools: object) -> ToolClient:
        """
        Return a client with these tools as well; this one stays as it is.

        Raises:
            DuplicateToolError: One of the names is taken.
        """
        return self._derived(self.table.adding(*tools))

    def replacing(self, tool: object) -> ToolClient:
        """
        Return a client in which *tool* stands in place of the tool of its name.

        Raises:
            DeclarationError: There is no tool of that name to replace.
        """
        return self._derived(self.table.replacing(tool))

    def without(self, name: str) -> ToolClient:
        """
        Return a client that lacks one tool.

        Raises:
            DeclarationError: There is no tool of that name.
        """
        return self._derived(self.table.without(name))

    def _derived(self, table: ToolTable) -> ToolClient:
        self._check_open()
        faults = broken_promises(table, self._settings.engine)
        if faults:
            raise as_one(faults)
        other = object.__new__(ToolClient)
        other._set_up(table, self._settings, State(self._state.snapshot()))

        return other

    # -- the end -------------------------------------------------------------

    def close(self) -> None:
        """
        End the client's background loop and take no more calls; may be called twice.

        Bodies that were given up are not waited for.
        """
        self._closed = True
        self._loops.close(wait=True)

    async def aclose(self) -> None:
        """
        `close` from async code, without holding the loop.
        """
        self._closed = True
        await asyncio.to_thread(self._loops.close, wait=True)

    def _check_open(self) -> None:
        if self._closed:
            raise EngineClosedError("This ToolClient is closed and takes no more calls.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"{len(self.abandoned)} abandoned"
        return f"<ToolClient of {len(self.table)} tools, {state}>"


def _report_late(reports: Reports, attempt: Attempt, late_by: float) -> None:
    """
    Tell of an abandoned body that ended; nobody else will look at what it gave.
    """
    close_quietly(attempt.value)
    if reports:
        reports.late(attempt, late_by)
