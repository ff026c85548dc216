"""
Run calls at once, a number of them at a time, in both colours.

Invariants:

1. Calls are begun in request order, except that one whose serial group has a call in
   this window waits for it, and others go before it.
2. A call has been admitted, stands in line or has its answer before the next is begun:
   places go to calls in request order.
3. When the window ends before its calls, none is begun any more, and those that run are
   told to end. It waits for them no longer than `_queue.END_SECONDS`.
4. Calls run in threads of their own, never on an executor of the caller, and each in a
   copy of the caller's context variables.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from .._calls import ToolResult
from .._runtime import Incoming
from ._base import Engine
from ._crew import run_window
from ._tasks import arun_window


class WindowEngine(Engine):
    """
    An engine that runs calls at once, `max_concurrency` at a time.
    """

    max_concurrency: int | None = 8

    def run_batch(
        self, calls: Sequence[Incoming], run: Callable[[Incoming], ToolResult]
    ) -> list[ToolResult]:
        return run_window(calls, run, self._width(calls))

    async def arun_batch(
        self,
        calls: Sequence[Incoming],
        run: Callable[[Incoming], Awaitable[ToolResult]],
    ) -> list[ToolResult]:
        return await arun_window(calls, run, self._width(calls))

    def _width(self, calls: Sequence[Incoming]) -> int:
        if self.max_concurrency is None:
            return len(calls)
        # One more, where it has not to wait for its refusal until a place is free.
        return self.max_concurrency + (self.over_limit == "reject")
