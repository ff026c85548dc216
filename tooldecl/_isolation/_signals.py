"""
Stop what several threads do for one caller.

Invariants:

1. A callback is called once at most: when the signal is set, or at once where it is set
   already. One that was discarded before is not called.
2. No callback is called while the lock is held.
"""

from __future__ import annotations

import asyncio
import threading

from collections.abc import Callable
from typing import final


class Stopped(BaseException):
    """
    The caller waits for this call no longer; its thread has nothing left to do.
    """


class LeftRunning(asyncio.CancelledError):
    """
    A body was cancelled and has ended, and something that it began may still be running.
    """


@final
class StopSignal:
    """
    Set once, from any thread; whoever waits for something adds how to wake it.
    """

    __slots__ = ("_callbacks", "_lock", "is_set")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []
        self.is_set = False

    def add(self, callback: Callable[[], None]) -> None:
        """
        Call *callback* when the signal is set, or now.
        """
        with self._lock:
            if not self.is_set:
                self._callbacks.append(callback)
                return
        callback()

    def discard(self, callback: Callable[[], None]) -> None:
        """
        Call *callback* no more.
        """
        with self._lock:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

    def set(self) -> None:
        """
        Wake everybody.
        """
        with self._lock:
            self.is_set = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()
