"""
Whose limits hold, and where a body runs: settled for each tool when a client is built.

The matching page is docs/explanation/timeouts-and-isolation.md.
"""

from __future__ import annotations

from typing import final

from ._isolation import TimeoutSource
from ._meta import Isolation, Overflow, ToolMeta
from ._records import record
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


def resolve_limits(
    meta: ToolMeta, limit: int | None, overflow: Overflow
) -> tuple[int | None, Overflow]:
    """
    Return the limit of a result and what happens beyond it: the tool's own come first.
    """
    if meta.result_limit is not UNSET:
        limit = meta.result_limit
    if meta.on_overflow is not UNSET:
        overflow = meta.on_overflow

    return limit, overflow


@final
@record(frozen=True, slots=True, kw_only=True)
class Way:
    """
    How the calls of one tool are run in one client; settled when it is built.

    Attributes:
        where: Where the bodies run.
        timeout: Seconds that one may take, or None.
        source: Whose limit that is.
        limit: Characters of a result, or None.
        overflow: What happens beyond them.
        is_straight: Nobody has to be asked or waited for before a body.
    """

    where: Isolation | None
    timeout: float | None
    source: TimeoutSource
    limit: int | None
    overflow: Overflow
    is_straight: bool
