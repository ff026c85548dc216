"""
Waiting for what another thread does, without holding more than has to be held.
"""

from __future__ import annotations

import _thread
import asyncio
import threading

from typing import Self, final

from .._clock import monotonic


# Seconds after which a wait of the main thread looks at the signals that have come.
SLICE = 0.5

# Loops whose threads wait for a body, because sync code of ours was called on them.
# Each is entered and removed by its own thread only.
HELD_LOOPS: set[asyncio.AbstractEventLoop] = set()


@final
class ThreadWaiter:
    """
    A lock that another thread opens: waits of one thread, one at a time.

    While it is entered, the loop that runs on its thread counts as held.
    """

    __slots__ = ("_held", "_lock")

    def __init__(self) -> None:
        self._lock = _thread.allocate_lock()
        self._lock.acquire()
        self._held = asyncio._get_running_loop()

    def wake(self) -> None:
        """
        End the wait, from any thread; what wakes it second changes nothing.
        """
        try:
            self._lock.release()
        except RuntimeError:  # it is open already
            pass

    def __enter__(self) -> Self:
        if self._held is not None:
            HELD_LOOPS.add(self._held)

        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._held is not None:
            HELD_LOOPS.discard(self._held)

    def wait(self, timeout: float | None) -> bool:
        """
        Wait until it is opened or *timeout* seconds have passed; tell which.
        """
        if _thread.get_ident() != threading.main_thread().ident:
            if timeout is None:
                return self._lock.acquire()
            return self._lock.acquire(True, min(timeout, threading.TIMEOUT_MAX))

        return self._wait_on_main(timeout)

    def _wait_on_main(self, timeout: float | None) -> bool:
        """
        Wait in slices: a signal that comes right before a wait does not end it, and its
        handler, a KeyboardInterrupt perhaps, runs when the thread wakes up next.
        """
        left = timeout
        until = None if timeout is None else monotonic() + timeout
        while left is None or left > SLICE:
            if self._lock.acquire(True, SLICE):
                return True
            if until is not None:
                left = max(0.0, until - monotonic())

        return self._lock.acquire(True, left)


@final
class LoopWaiter:
    """
    A future that another thread sets and a timer ends: waits of one task, one at a time.
    """

    __slots__ = ("_done", "_future", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._done = False
        self._future: asyncio.Future[None] = loop.create_future()

    def wake(self) -> None:
        """
        End the wait, from any thread.
        """
        try:
            self._loop.call_soon_threadsafe(self.wake_here)
        except RuntimeError:  # the loop is closed: nobody waits any more
            pass

    def wake_here(self) -> None:
        """
        End the wait, from its own loop.
        """
        self._done = True
        self._release()

    def _release(self) -> None:
        if not self._future.done():
            self._future.set_result(None)

    async def wait(self, timeout: float | None) -> bool:
        """
        Wait until it is set or *timeout* seconds have passed; tell which.
        """
        if self._done:
            return True
        if self._future.done():
            self._future = self._loop.create_future()
        timer = (
            None if timeout is None else self._loop.call_later(timeout, self._release)
        )
        try:
            await self._future
        finally:
            if timer is not None:
                timer.cancel()

        return self._done
