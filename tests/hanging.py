"""
A tool that hangs until it is cancelled, for tests of who is told what.
"""

from __future__ import annotations

import asyncio

from typing import Any

from ordering import HANGS_AFTER
from tooldecl import tool


class Stage:
    """
    A tool that hangs, and what became of its body.
    """

    def __init__(self, **options: Any) -> None:
        self.began = asyncio.Event()
        self.over = asyncio.Event()
        self.ended: list[str] = []
        self._loop = asyncio.get_running_loop()
        self.tool = self._declared(options)

    def _declared(self, options: dict[str, Any]) -> Any:
        @tool(**options)
        async def work() -> str:
            """
            Hang.
            """
            self._loop.call_soon_threadsafe(self.began.set)
            try:
                await asyncio.sleep(HANGS_AFTER)
            except asyncio.CancelledError:
                self.ended.append("cancelled")
                self._loop.call_soon_threadsafe(self.over.set)
                raise
            return "done"

        return work


async def cancelled(task: asyncio.Task[Any]) -> bool:
    """
    Wait for *task*, and tell whether it was cancelled.
    """
    await asyncio.wait({task})

    return task.cancelled()
