"""
One call after another, in request order.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import final

from .._calls import ToolResult
from .._runtime import Incoming
from ._base import Engine


__all__ = ["SequentialEngine"]


@final
class SequentialEngine(Engine):
    """
    Runs one call of a batch after another, in request order; the default engine.

    From sync code an untimed sync body runs on the caller's thread, one with a timeout
    on a daemon thread. From async code a sync body always runs on a daemon thread.
    Without ``max_concurrency`` calls of several threads or tasks do not wait for each
    other.
    """

    def run_batch(
        self, calls: Sequence[Incoming], run: Callable[[Incoming], ToolResult]
    ) -> list[ToolResult]:
        return [run(call) for call in calls]

    async def arun_batch(
        self,
        calls: Sequence[Incoming],
        run: Callable[[Incoming], Awaitable[ToolResult]],
    ) -> list[ToolResult]:
        return [await run(call) for call in calls]
