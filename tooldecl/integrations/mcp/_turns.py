"""
Keep a tool that runs alone away from all others, over all requests of a server.

Requests come one by one, so what a client of ours would see as one batch is spread over
several of them: ``serial=True`` is kept here. Groups are kept by the client itself.
"""

from __future__ import annotations

import asyncio

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import final


@final
class Turns:
    """
    First come, first served: what runs alone waits for all that came before it, and all
    that comes later waits for that. Owned by one event loop.
    """

    def __init__(self) -> None:
        self._running = 0
        self._is_alone = False
        self._waiting: deque[tuple[bool, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def turn(self, *, alone: bool) -> AsyncGenerator[None, None]:
        """
        Wait for a turn, and have it meanwhile.
        """
        await self._enter(alone)
        try:
            yield
        finally:
            self._leave()

    async def _enter(self, alone: bool) -> None:
        if not self._waiting and self._may(alone):
            self._take(alone)
            return
        turn = asyncio.get_running_loop().create_future()
        entry = (alone, turn)
        self._waiting.append(entry)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                if entry in self._waiting:
                    self._waiting.remove(entry)
                self._wake()
            else:  # it had its turn already
                self._leave()
            raise

    def _may(self, alone: bool) -> bool:
        return not self._running or not (alone or self._is_alone)

    def _take(self, alone: bool) -> None:
        self._running += 1
        self._is_alone = alone

    def _leave(self) -> None:
        self._running -= 1
        self._is_alone = False
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self._may(self._waiting[0][0]):
            alone, turn = self._waiting.popleft()
            if turn.done():  # cancelled, and about to say so
                continue
            self._take(alone)
            turn.set_result(None)
