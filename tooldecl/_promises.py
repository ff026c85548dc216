"""
Whether what was declared on the tools can be kept in their client.
"""

from __future__ import annotations

import sys

from ._processes import Cargo, cargo_of, is_supported
from ._settings import Settings
from ._table import ToolTable
from ._terminal import resolve_isolation, resolve_timeout
from ._wording import seconds
from .engines import Engine
from .exceptions import DeclarationError, NotAvailableError


def broken_promises(table: ToolTable, engine: Engine | None) -> list[DeclarationError]:
    """
    Return what was declared on a tool and cannot be kept in this client.

    An engine that is none, or has no timeout that makes sense, breaks no promise: what
    is wrong with it is reported as such.
    """
    given: object = engine.timeout if isinstance(engine, Engine) else None
    default = given if isinstance(given, (int, float)) else None
    faults: list[DeclarationError] = []
    for name, meta in table.items():
        timeout, source = resolve_timeout(meta, default)
        if meta.isolation == "inline" and timeout is not None:
            whose = "its" if source == "declared" else "the engine's"
            faults.append(
                DeclarationError(
                    f"Tool {name!r} ({meta.site}) runs inline, where {whose} timeout of "
                    f"{seconds(timeout)} cannot be enforced. Declare timeout=None on it, "
                    "or another isolation."
                )
            )
        if meta.sensitive:
            faults.append(
                NotAvailableError(
                    option=f"The approval that the sensitive tool {name!r} needs"
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
        if resolve_isolation(meta, engine.default_isolation) != "process":
            continue
        try:
            if not is_supported():
                raise NotAvailableError(
                    option=f"isolation='process' of tool {meta.name!r} on {sys.platform}"
                )
            cargo[meta.name] = cargo_of(entry.declared, settings.stop_on)
        except DeclarationError as error:
            faults.append(error)

    return cargo, faults
