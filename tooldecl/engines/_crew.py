"""
Run calls at once on threads, a number of them at a time.

The invariants are those of `_window`.
"""

from __future__ import annotations

import contextvars
import itertools
import threading

from collections.abc import Callable, Sequence
from typing import final

from .._calls import ToolResult
from .._clock import monotonic
from .._isolation import (
    NoThreadError,
    Stopped,
    StopSignal,
    ThreadWaiter,
    start_thread,
)
from .._runtime import Incoming
from ._queue import END_SECONDS, Queue


_NUMBER = itertools.count(1)


def run_window(
    calls: Sequence[Incoming], run: Callable[[Incoming], ToolResult], width: int
) -> list[ToolResult]:
    """
    Run *calls*, *width* at a time; return their results in request order.

    Raises:
        BaseException: What came out of the first call that *run* raised from.
    """
    if width == 1 or len(calls) == 1:
        return [run(call) for call in calls]
    window = _Window(calls, run)
    with ThreadWaiter() as waiter:
        try:
            window.open(min(width, len(calls)), waiter.wake)
            while window.is_open:
                waiter.wait(None)
        except BaseException:
            window.signal.set()
            raise
        finally:
            until = monotonic() + END_SECONDS
            while window.live and (left := until - monotonic()) > 0:
                waiter.wait(left)
    if window.failure is not None:
        raise window.failure

    return [window.results[id(call)] for call in calls]


@final
class _Window:
    """
    What the threads of one window share.
    """

    def __init__(
        self, calls: Sequence[Incoming], run: Callable[[Incoming], ToolResult]
    ) -> None:
        self.signal = calls[0].signal or StopSignal()
        self.results: dict[int, ToolResult] = {}
        self.failure: BaseException | None = None
        self.live = 0
        self._run = run
        self._queue = Queue(calls)
        self._variables = contextvars.copy_context()
        self._claims = threading.Lock()
        self._lock = threading.Lock()
        self._wake: Callable[[], None] = self.signal.set
        for call in calls:
            call.signal = self.signal

    @property
    def is_open(self) -> bool:
        """
        Whether there is still something to wait for.
        """
        return self.failure is None and self.live > 0

    def open(self, width: int, wake: Callable[[], None]) -> None:
        """
        Start the threads; where the system gives too few, fewer calls run at once.
        """
        self._wake = wake
        for _ in range(width):
            name = f"tooldecl-batch-{next(_NUMBER)}"
            thread = threading.Thread(target=self._work, name=name, daemon=True)
            self._count(1)
            try:
                start_thread(thread)
            except BaseException as error:
                self._count(-1)
                if not isinstance(error, NoThreadError):
                    raise
                break
        if not self.live:
            self._count(1)
            self._work()

    def _work(self) -> None:
        try:
            while not self.signal.is_set and self._run_next():
                pass
        except Stopped:
            pass
        except BaseException as error:  # it is raised to the caller
            if self.failure is None:
                self.failure = error
            self.signal.set()
            self._wake()
        finally:
            self._count(-1)

    def _run_next(self) -> bool:
        """
        Run the next call on this thread; False when there is none.
        """
        let_go = _Once(self._claims)
        try:
            with self._lock:
                call = self._queue.claim()
            if call is None:
                return False
            call.on_standing = let_go
            result = self._variables.copy().run(self._run, call)
        finally:
            let_go()
        with self._lock:
            self._queue.ended(call)
            self.results[id(call)] = result

        return True

    def _count(self, change: int) -> None:
        with self._lock:
            self.live += change
            is_last = not self.live
        if is_last:
            self._wake()


@final
class _Once:
    """
    Takes a lock, and lets it go when it is first called.
    """

    __slots__ = ("_lock", "_taken")

    def __init__(self, lock: threading.Lock) -> None:
        lock.acquire()
        self._lock = lock
        self._taken = [True]

    def __call__(self) -> None:
        try:
            self._taken.pop()
        except IndexError:
            return
        self._lock.release()
