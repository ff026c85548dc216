"""
The client: a table of tools, an engine, filters and limits, and the doors to call them.
"""

from __future__ import annotations

import weakref

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self, final

from ._budget import Budget
from ._carriers import Carriers
from ._clock import Clock
from ._isolation import Attempt, LoopHolder, Place
from ._meta import Overflow
from ._processes import Cargo, Remote
from ._promises import (
    broken_budget,
    broken_limits,
    broken_promises,
    cargo_for,
    ways_of,
)
from ._reports import Reports
from ._resumable import Resumable
from ._resume import Claims
from ._runtime import Runtime
from ._settings import (
    Settings,
    as_one,
    asks_anybody,
    hearing,
    listed,
    read_settings,
)
from ._state import Reducer, State
from ._stores import ResultStore
from ._strictjson import JSONLimits
from ._table import ToolTable, read_more, read_tools
from ._terminal import Terminal, close_quietly
from ._views import Views
from .engines import Engine
from .exceptions import DeclarationError
from .filters._approval import Approval
from .filters._chain import Filter
from .telemetry import Hook


__all__ = ["ToolClient"]


@final
class ToolClient(Resumable, Views):
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
        external_limit: The same for results from elsewhere.
        on_overflow: What happens beyond that limit: ``"fail"``, ``"truncate"``, or
            ``"offload"`` to the store.
        store: Keeps what is too long for the model.
        budget: Limits over all calls; derived clients share what is left of it.
        state: Initial slots of the state that tools read and write; copied.
        reducers: For slots that take every write, how; the others keep the last one.
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
        filters: Iterable[Filter | Approval] = (),
        json_limits: JSONLimits | None = None,
        result_limit: int | None = None,
        external_limit: int | None = 10_000,
        on_overflow: Overflow = "fail",
        store: ResultStore | None = None,
        budget: Budget | None = None,
        state: Mapping[str, Any] | None = None,
        reducers: Mapping[str, Reducer] | None = None,
        hooks: Iterable[Hook] = (),
        stop_on: Iterable[type[BaseException]] = (),
        clock: Clock | None = None,
        rng: Callable[[], float] | None = None,
    ) -> None:
        table, faults = read_tools(tools)
        is_whole = not faults
        layers = listed(filters)
        settings, wrong = read_settings(
            engine=engine,
            filters=layers,
            json_limits=json_limits,
            result_limit=result_limit,
            external_limit=external_limit,
            on_overflow=on_overflow,
            store=store,
            budget=budget,
            reducers=reducers,
            state={} if state is None else state,
            hooks=hooks,
            stop_on=stop_on,
            clock=clock,
            rng=rng,
        )
        faults += wrong
        faults += broken_promises(table, engine, approved=asks_anybody(layers))
        cargo: dict[str, Cargo] = {}
        if settings is not None:
            cargo, unfit = cargo_for(table, settings)
            faults += unfit + broken_limits(table, settings)
            # Else what is named there may be one of those that could not be read.
            if is_whole:
                faults += broken_budget(table, budget)
            if is_whole and not unfit:
                faults += settings.engine.misfits(cargo)
        if settings is None or faults:
            raise as_one(faults)
        self._set_up(table, settings, State(settings.state, settings.reducers), cargo)

    def _set_up(
        self,
        table: ToolTable,
        settings: Settings,
        state: State,
        cargo: Mapping[str, Cargo],
    ) -> None:
        self._settings = settings
        self._engine = settings.engine
        self._state = state
        self._closed = False
        self._loops = LoopHolder()
        reports = Reports(settings.hooks, settings.clock)
        # What ends late must not keep the client: it is known by a token.
        self._token = object()
        self._claims = Claims()
        place = Place(
            ledger=settings.engine.ledger,
            owner=self._token,
            on_late=lambda attempt, late_by: _report_late(reports, attempt, late_by),
        )
        self._remote: Remote | None = None
        if cargo:
            self._remote = settings.engine.remote(
                cargo, place, settings.stop_on, Carriers(settings.hooks)
            )
            leaver = weakref.finalize(self, self._remote.leave)
            leaver.atexit = False
        self._runtime = Runtime(
            table=table,
            json_limits=settings.json_limits,
            filters=settings.filters,
            approvals=settings.approvals,
            reports=reports,
            clock=settings.clock,
            terminal=Terminal(place, self._loops, self._remote, reports.blocked),
            ledger=settings.engine.ledger,
            line=settings.engine.line,
            groups=settings.groups,
            max_concurrency=settings.engine.max_concurrency,
            refuses=settings.engine.over_limit == "reject",
            ways=ways_of(table, settings),
            max_abandoned=settings.engine.max_abandoned,
            result_limit=settings.result_limit,
            external_limit=settings.external_limit,
            on_overflow=settings.on_overflow,
            store=settings.store,
            meter=settings.meter,
            stop_on=settings.stop_on,
            rng=settings.rng,
        )
        finalizer = weakref.finalize(self, self._loops.close, wait=False)
        finalizer.atexit = False

    def adding(self, *tools: object) -> ToolClient:
        """
        Return a client with these tools as well; this one stays as it is.

        Raises:
            DuplicateToolError: One of the names is taken.
            DeclarationError: Something else is wrong; several faults come as one
                ExceptionGroup.
        """
        return self._derived(*read_more(self.table, tools))

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

    def telling(self, *hooks: Hook) -> ToolClient:
        """
        Return a client that tells these hooks as well; this one stays as it is.

        Raises:
            DeclarationError: One is no hook; several faults come as one ExceptionGroup.
        """
        return self._derived(self.table, settings=hearing(self._settings, hooks))

    def _derived(
        self,
        table: ToolTable,
        wrong: Sequence[DeclarationError] = (),
        *,
        settings: Settings | None = None,
    ) -> ToolClient:
        self._check_open()
        settings = settings or self._settings
        approved = bool(settings.approvals)
        faults = [*wrong, *broken_promises(table, settings.engine, approved=approved)]
        cargo, unfit = cargo_for(table, settings)
        faults += unfit + broken_limits(table, settings)
        if not wrong and not unfit:
            faults += settings.engine.misfits(cargo)
        if faults:
            raise as_one(faults)
        other = object.__new__(ToolClient)
        other._set_up(table, settings, self._state.copy(), cargo)
        other._claims = self._claims

        return other

    def close(self) -> None:
        """
        End the client's background loop and take no more calls; may be called twice.

        Bodies that were given up are not waited for.
        """
        self._closed = True
        self._loops.close(wait=True)
        if self._remote is not None:
            self._remote.leave()

    async def aclose(self) -> None:
        """
        `close` from async code, without holding the loop.
        """
        self._closed = True
        await self._loops.aclose()
        if self._remote is not None:
            await self._remote.aleave()

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
    if reports.hooks:
        reports.late(attempt, late_by)
