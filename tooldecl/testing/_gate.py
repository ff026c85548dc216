"""
Hold bodies where a test wants them, without sleeping.
"""

from __future__ import annotations

import asyncio
import threading

from typing import final

from ._given import check_seconds


@final
class Gate:
    """
    A place where bodies wait until the test opens it, and the test for bodies to arrive.

    Args:
        hangs_after: Seconds after which whoever waits fails: nobody will come any more.

    Raises:
        TypeError: *hangs_after* is no number.
        ValueError: *hangs_after* is below 0, or not finite.
    """

    def __init__(self, *, hangs_after: float = 30.0) -> None:
        check_seconds("Gate(hangs_after=...)", hangs_after)
        self._changed = threading.Condition()
        self._hangs_after = hangs_after
        self._arrived = 0
        self._open = False
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def arrive(self) -> None:
        """
        Arrive, without waiting.
        """
        with self._changed:
            self._arrived += 1
            self._changed.notify_all()

    def pass_through(self) -> None:
        """
        Arrive, and wait until the gate is open.

        Raises:
            AssertionError: It was not, for a long time.
        """
        self.arrive()
        with self._changed:
            if not self._changed.wait_for(lambda: self._open, self._hangs_after):
                raise AssertionError("The gate was never opened.")

    async def apass_through(self) -> None:
        """
        Arrive, and wait until the gate is open, without holding the loop.

        Raises:
            AssertionError: It was not, for a long time.
        """
        self.arrive()
        waiting = (asyncio.get_running_loop(), asyncio.Event())
        with self._changed:
            if self._open:
                return
            self._waiting.append(waiting)
        try:
            async with asyncio.timeout(self._hangs_after):
                await waiting[1].wait()
        except TimeoutError:
            raise AssertionError("The gate was never opened.") from None
        finally:
            with self._changed:
                self._waiting.remove(waiting)

    def wait_for_arrivals(self, count: int = 1) -> None:
        """
        Wait until *count* bodies have arrived in all, so that they are inside together.

        Raises:
            AssertionError: Fewer did, for a long time.
        """
        with self._changed:
            if not self._changed.wait_for(
                lambda: self._arrived >= count, self._hangs_after
            ):
                raise AssertionError(f"{self._arrived} of {count} bodies arrived.")

    def open(self) -> None:
        """
        Let through whoever waits and whoever comes; may be called twice.
        """
        with self._changed:
            self._open = True
            self._changed.notify_all()
            for loop, event in self._waiting:
                if not loop.is_closed():
                    loop.call_soon_threadsafe(event.set)
