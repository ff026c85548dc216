"""
Pass what a body says of its progress on to the client that asked for the call.
"""

from __future__ import annotations

import asyncio
import math

from collections import deque
from typing import TYPE_CHECKING, TypeGuard, final

from ...telemetry import Progress


if TYPE_CHECKING:
    from mcp.server.session import ServerSession


# More than these are told later than they are said; the oldest are left out.
MOST_WAITING = 64


@final
class Teller:
    """
    Tells one request of its progress, in order, for as long as it has no answer.

    The protocol wants numbers that grow: what is no number, or does not grow, is left out.
    """

    def __init__(self, session: ServerSession) -> None:
        self._session = session
        self._loop = asyncio.get_running_loop()
        self._said: deque[Progress] = deque(maxlen=MOST_WAITING)
        self._telling: asyncio.Task[None] | None = None
        self._reached = -math.inf

    def hear(self, event: Progress) -> None:
        """
        Take in what was said; called from any thread.
        """
        try:
            self._loop.call_soon_threadsafe(self._take, event)
        except RuntimeError:  # the loop is closed: nobody is left to tell
            pass

    def _take(self, event: Progress) -> None:
        self._said.append(event)
        if self._telling is None or self._telling.done():
            self._telling = self._loop.create_task(self._tell())

    async def _tell(self) -> None:
        while self._said:
            event = self._said.popleft()
            if not _is_number(event.done) or event.done <= self._reached:
                continue
            self._reached = event.done
            total: object = event.total
            message: object = event.message
            try:
                await self._session.report_progress(
                    event.done,
                    total if _is_number(total) else None,
                    None if message is None else str(message),
                )
            except Exception:  # the connection is gone: so is whoever wanted to know
                self._said.clear()
                return

    async def finish(self) -> None:
        """
        Tell what was said before the answer, which comes next.
        """
        await asyncio.sleep(0)  # what was said on the loop itself is taken in first
        if self._telling is not None:
            await asyncio.wait({self._telling})

    def stop(self) -> None:
        """
        Tell nothing more.
        """
        if self._telling is not None:
            self._telling.cancel()


def _is_number(value: object) -> TypeGuard[float]:
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and math.isfinite(value)
    )
