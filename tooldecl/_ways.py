"""
Whose timeout it is, and where a body runs: settled for each tool when a client is built.

The matching page is docs/explanation/timeouts-and-isolation.md.
"""

from __future__ import annotations

from typing import NamedTuple

from ._isolation import TimeoutSource
from ._meta import Isolation, ToolMeta
from ._sentinels import UNSET


def resolve_timeout(
    meta: ToolMeta, engine_default: float | None
) -> tuple[float | None, TimeoutSource]:
    """
    Return the timeout in force and whose it is: declared, else the engine's, else none.
    """
    if meta.timeout is not UNSET:
        return meta.timeout, "declared"

    return engine_default, "engine"


def resolve_isolation(
    meta: ToolMeta, engine_default: Isolation | None
) -> Isolation | None:
    """
    Return where the body runs: where it was declared to, else where the engine puts it.

    None leaves a sync body to its caller's thread, where nothing bounds it, and an async
    one to its caller's loop, also where an engine gives every sync body a thread.
    """
    if meta.isolation is not UNSET:
        return meta.isolation

    return None if meta.is_async and engine_default == "thread" else engine_default


class Way(NamedTuple):
    """
    How the bodies of one tool are run in one client; settled when it is built.

    Attributes:
        where: Where they run.
        timeout: Seconds that one may take, or None.
        source: Whose limit that is.
        is_straight: Nobody has to be asked or waited for before one.
    """

    where: Isolation | None
    timeout: float | None
    source: TimeoutSource
    is_straight: bool


def way_of(
    meta: ToolMeta,
    engine_timeout: float | None,
    engine_isolation: Isolation | None,
    *,
    is_straight: bool,
) -> Way:
    """
    Return how the bodies of a tool are run.

    Args:
        is_straight: Whether the client has nothing between its gate and a body.
    """
    timeout, source = resolve_timeout(meta, engine_timeout)
    between = meta.sensitive or meta.external
    between = between or isinstance(meta.serial, str)

    return Way(
        where=resolve_isolation(meta, engine_isolation),
        timeout=timeout,
        source=source,
        is_straight=is_straight and not between,
    )
