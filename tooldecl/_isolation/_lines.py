"""
A line with a number of places, first come first served, for threads and loops alike.

Invariants:

1. A place that is left while others wait goes to the first of them; it is never free in
   between, so nobody overtakes.
2. Who stops waiting has either been given no place, or hands it on.
3. No callback is called while the lock is held.
4. A forked child has none of its parent's threads: its lines are empty.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref

from collections import deque
from collections.abc import Callable
from typing import final

from ._signals import Stopped, StopSignal
from ._waits import LoopWaiter, ThreadWaiter


class _Ticket:
    """
    One that waits, and whether it has been given a place.
    """

    __slots__ = ("given", "wake")

    def __init__(self, wake: Callable[[], None]) -> None:
        self.wake = wake
        self.given = False


@final
class Line:
    """
    At most *places* at once.
    """

    __slots__ = ("__weakref__", "_free", "_lock", "_places", "_waiting")

    def __init__(self, places: int) -> None:
        self._lock = threading.Lock()
        self._places = places
        self._free = places
        self._waiting: deque[_Ticket] = deque()
        _LINES.add(self)

    @property
    def taken(self) -> int:
        """
        How many places are taken now.
        """
        return self._places - self._free

    def try_enter(self) -> bool:
        """
        Take a place if one is free now.
        """
        with self._lock:
            return self._take()

    def enter(self, timeout: float | None, signal: StopSignal | None = None) -> bool:
        """
        Wait for a place on this thread; False when *timeout* seconds have passed.

        Raises:
            Stopped: The signal was set meanwhile; no place is taken.
        """
        if self.try_enter():
            return True
        with ThreadWaiter() as waiter:
            ticket = self._stand(waiter.wake)
            if signal is not None:
                signal.add(waiter.wake)
            try:
                waiter.wait(timeout)
            except BaseException:
                self._go(ticket)
                raise
            finally:
                if signal is not None:
                    signal.discard(waiter.wake)
        if signal is not None and signal.is_set:
            self._go(ticket)
            raise Stopped

        return not self._withdrawn(ticket)

    async def aenter(self, timeout: float | None) -> bool:
        """
        Wait for a place on the running loop; as `enter`.
        """
        if self.try_enter():
            return True
        waiter = LoopWaiter(asyncio.get_running_loop())
        ticket = self._stand(waiter.wake)
        try:
            await waiter.wait(timeout)
        except BaseException:
            self._go(ticket)
            raise

        return not self._withdrawn(ticket)

    def leave(self) -> None:
        """
        Give a place back, to the first that waits.
        """
        with self._lock:
            if not self._waiting:
                self._free = min(self._free + 1, self._places)
                return
            ticket = self._waiting.popleft()
            ticket.given = True
        ticket.wake()

    def _take(self) -> bool:
        if self._waiting or not self._free:
            return False
        self._free -= 1

        return True

    def _stand(self, wake: Callable[[], None]) -> _Ticket:
        ticket = _Ticket(wake)
        with self._lock:
            if self._take():
                ticket.given = True
            else:
                self._waiting.append(ticket)
        if ticket.given:
            wake()

        return ticket

    def _withdrawn(self, ticket: _Ticket) -> bool:
        """
        Stop waiting; False when a place has been given meanwhile.
        """
        with self._lock:
            if ticket.given:
                return False
            self._waiting.remove(ticket)

            return True

    def _go(self, ticket: _Ticket) -> None:
        if not self._withdrawn(ticket):
            self.leave()

    def forget_parent(self) -> None:
        """
        Start anew in a forked child.
        """
        self._lock = threading.Lock()
        self._free = self._places
        self._waiting = deque()


_LINES: weakref.WeakSet[Line] = weakref.WeakSet()


def _forget_parent() -> None:
    for line in list(_LINES):
        line.forget_parent()


os.register_at_fork(after_in_child=_forget_parent)
