"""
A clock that does not wait.
"""

from __future__ import annotations

import threading

from typing import final


@final
class FakeClock:
    """
    A clock that moves only when somebody sleeps on it or moves it.

    Attributes:
        sleeps: Every wait asked for, in seconds, in order.
    """

    def __init__(self, now: float = 0.0) -> None:
        self._now = now
        self._lock = threading.Lock()
        self.sleeps: list[float] = []

    def monotonic(self) -> float:
        """
        Return the time it shows, in seconds.
        """
        return self._now

    def advance(self, seconds: float) -> None:
        """
        Move on by *seconds*.
        """
        with self._lock:
            self._now += seconds

    def sleep(self, seconds: float) -> None:
        """
        Move on by *seconds* at once, and note the wait.
        """
        with self._lock:
            self.sleeps.append(seconds)
            self._now += seconds

    async def asleep(self, seconds: float) -> None:
        """
        Move on by *seconds* at once, and note the wait.
        """
        self.sleep(seconds)
