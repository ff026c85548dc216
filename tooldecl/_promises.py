"""
Whether what was declared on the tools can be kept in their client.
"""

from __future__ import annotations

import sys

from ._budget import Budget
from ._carriers import carriers_of, found_in_workers
from ._charging import check_budget
from ._meta import ToolMeta
from ._offload import least_limit
from ._processes import Cargo, cargo_of, is_supported
from ._sentinels import UNSET
from ._settings import Settings
from ._table import ToolTable
from ._ways import Way, resolve_isolation, resolve_limits, resolve_timeout
from ._wording import seconds
from .engines import Engine
from .exceptions import DeclarationError, NotAvailableError


def broken_promises(
    table: ToolTable, engine: Engine | None, *, approved: bool
) -> list[DeclarationError]:
    """
    Return what was declared on a tool and cannot be kept in this client.

    An engine that is none, or has no timeout that makes sense, breaks no promise: what
    is wrong with it is reported as such.

    Args:
        approved: Whether there is anybody to ask.
    """
    given: object = engine.timeout if isinstance(engine, Engine) else None
    default = given if isinstance(given, (int, float)) else None
    faults: list[DeclarationError] = []
    for name, meta in table.items():
        timeout, source = resolve_timeout(meta, default)
        placed = getattr(engine, "default_isolation", None)
        where = resolve_isolation(meta, placed)
        inline = where == "inline" and (meta.isolation == where or not meta.is_async)
        if inline and timeout is not None:
            whose = "its" if source == "declared" else "the engine's"
            faults.append(
                DeclarationError(
                    f"Tool {name!r} ({meta.site}) runs inline, where {whose} timeout of "
                    f"{seconds(timeout)} cannot be enforced. Declare timeout=None on it, "
                    "or another isolation."
                )
            )
        if meta.sensitive and not approved:
            faults.append(
                DeclarationError(
                    f"Tool {name!r} ({meta.site}) is sensitive, and nobody is asked before "
                    "it runs. Give the client an Approval filter; to run it unasked, say "
                    "so with Approval(approve_all)."
                )
            )

    return faults


def cargo_for(
    table: ToolTable, settings: Settings
) -> tuple[dict[str, Cargo], list[DeclarationError]]:
    """
    Return what workers need of the tools that run in one, and why some cannot.
    """
    engine, cargo = settings.engine, dict[str, Cargo]()
    faults: list[DeclarationError] = []
    for entry in table.entries():
        meta = entry.meta
        where = resolve_isolation(meta, engine.default_isolation)
        if where != "process" or meta.external:
            continue
        try:
            if not is_supported():
                raise NotAvailableError(
                    option=f"isolation='process' of tool {meta.name!r} on {sys.platform}"
                )
            cargo[meta.name] = cargo_of(
                entry.declared, entry.definition, settings.stop_on
            )
        except DeclarationError as error:
            faults.append(error)
    for carrier in carriers_of(settings.hooks) if cargo else ():
        try:
            found_in_workers(carrier)
        except DeclarationError as error:
            faults.append(error)

    return cargo, faults


def broken_limits(table: ToolTable, settings: Settings) -> list[DeclarationError]:
    """
    Return whose long results could not be kept, or not be spoken of within their limit.
    """
    store = settings.store
    faults: list[DeclarationError] = []
    if settings.on_overflow == "offload" and store is None:
        faults.append(DeclarationError(_NO_STORE.format("ToolClient(on_overflow=...)")))
    for name, meta in table.items():
        declared = meta.on_overflow == "offload"
        overflow = (
            settings.on_overflow if meta.on_overflow is UNSET else meta.on_overflow
        )
        limit = (
            settings.result_limit if meta.result_limit is UNSET else meta.result_limit
        )
        if overflow != "offload":
            continue
        if store is None:
            if declared:
                where = f"Tool {name!r} ({meta.site}): on_overflow"
                faults.append(DeclarationError(_NO_STORE.format(where)))
        elif limit is not None and limit < (least := least_limit(store, limit)):
            faults.append(
                DeclarationError(
                    f"Tool {name!r} ({meta.site}) has a result_limit of {limit}, and the "
                    f"mark of a stored result needs {least} characters."
                )
            )

    return faults


def broken_budget(table: ToolTable, budget: Budget | None) -> list[DeclarationError]:
    """
    Return what a client's budget limits and the client does not have.
    """
    try:
        check_budget(budget, table, "ToolClient(budget=...)")
    except DeclarationError as error:
        return [error]

    return []


_NO_STORE = "{} takes 'offload' only in a client with a store=..., which has none."


def ways_of(table: ToolTable, settings: Settings) -> dict[str, Way]:
    """
    Return how the calls of each tool are run.
    """
    return {name: _way_of(meta, settings) for name, meta in table.items()}


def _way_of(meta: ToolMeta, settings: Settings) -> Way:
    engine = settings.engine
    timeout, source = resolve_timeout(meta, engine.timeout)
    limit, overflow = resolve_limits(meta, settings.result_limit, settings.on_overflow)
    between = settings.filters or meta.sensitive or meta.external
    waits = engine.max_concurrency is not None or isinstance(meta.serial, str)

    return Way(
        where=resolve_isolation(meta, engine.default_isolation),
        timeout=timeout,
        source=source,
        limit=limit,
        overflow=overflow,
        is_straight=not (between or waits),
    )
