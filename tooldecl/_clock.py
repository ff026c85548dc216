"""
The only door to time.

Budgets, waits between attempts and the durations in results go through a `Clock`.
The waits for a running body are real: they need a lock or a loop that wakes them.
"""

from __future__ import annotations

import asyncio
import time

from typing import Protocol, final


class Clock(Protocol):
    """
    A monotonic clock that can wait, in both colours; all values are seconds.
    """

    def monotonic(self) -> float:
        """
        Return seconds that never go back.
        """
        ...

    def sleep(self, seconds: float, /) -> None:
        """
        Wait on the calling thread.
        """
        ...

    async def asleep(self, seconds: float, /) -> None:
        """
        Wait without holding the running loop.
        """
        ...


monotonic = time.monotonic
sleep = time.sleep
LONGEST = (
    3e8  # seconds, about ten years: more than that the system does not wait at once
)
wall = time.time  # for what outlives this process, and for nothing else


@final
class SystemClock:
    """
    The machine's own monotonic clock.
    """

    __slots__ = ()

    monotonic = staticmethod(time.monotonic)

    def sleep(self, seconds: float) -> None:
        sleep(min(seconds, LONGEST))

    async def asleep(self, seconds: float) -> None:
        await asyncio.sleep(min(seconds, LONGEST))
