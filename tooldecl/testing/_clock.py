"""
A clock that does not wait.
"""

from __future__ import annotations

import reprlib
import threading

from typing import final

from ._given import check_finite, check_seconds


@final
class FakeClock:
    """
    A clock that moves only when somebody sleeps on it or moves it, and never back.

    Args:
        now: The time it shows at first, in seconds.

    Attributes:
        sleeps: Every wait asked for, in seconds, in order.

    Raises:
        TypeError: *now* is no number.
        ValueError: *now* is not finite.
    """

    def __init__(self, now: float = 0.0) -> None:
        check_finite("FakeClock(now=...)", now)
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

        Raises:
            TypeError: That is no number.
            ValueError: That is below 0, or not finite.
        """
        check_seconds("FakeClock.advance(...)", seconds)
        with self._lock:
            self._now += seconds

    def sleep(self, seconds: float) -> None:
        """
        Move on by *seconds* at once, and note the wait.

        Raises:
            TypeError: That is no number.
            ValueError: That is below 0, or not finite.
        """
        check_seconds("FakeClock.sleep(...)", seconds)
        with self._lock:
            self.sleeps.append(seconds)
            self._now += seconds

    async def asleep(self, seconds: float) -> None:
        """
        Move on by *seconds* at once, and note the wait.
        """
        self.sleep(seconds)


def check_clock(whose: str, given: object) -> None:
    """
    Check the clock that a stand-in lets time pass on.

    Raises:
        TypeError: It is no `FakeClock`.
    """
    if given is not None and not isinstance(given, FakeClock):
        raise TypeError(
            f"{whose}(clock=...) takes a FakeClock or None, got {reprlib.repr(given)}."
        )
