"""
The event loop behind the sync front: one per client, on a daemon thread.

Invariants:

1. One loop serves a client for its whole life, so that what tools cache on it stays
   usable. Only a loop that a body has blocked beyond its deadline is replaced: one that
   is merely late (the machine is busy) answers its probe before the next call needs it.
2. Bodies that were waiting to start on a blocked loop start on the new one, exactly
   once: `Job.begin` decides.
3. A client that is never closed leaves no warning: its loop is retired when it is
   collected.
4. A forked child has no loop thread: it forgets its parent's loops, without closing
   them (they share their selectors with the parent), and makes its own on first need.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref

from typing import final

from .._context import is_inside
from ._hosts import CLOSE_SECONDS, NoThreadError
from ._jobs import Job
from ._loopthread import LoopThread
from ._waits import HELD_LOOPS, LoopWaiter


class LoopClosedError(Exception):
    """
    The client was closed; nothing was run.
    """


@final
class LoopHolder:
    """
    A client's background loop: made on first need, replaced when blocked.
    """

    __slots__ = ("__weakref__", "_closed", "_current", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._current: LoopThread | None = None
        self._closed = False
        _HOLDERS.add(self)

    def submit(self, job: Job) -> None:
        """
        Start *job* on the client's loop.

        Raises:
            LoopClosedError: The client was closed.
            NoThreadError: The system gives no loop or no thread for it.
        """
        with self._lock:
            if self._closed:
                raise LoopClosedError
            current = self._current
            if current is None:
                current = self._current = _new_loop()
            elif current.silent and (current.suspect or current.is_busy):
                current = self._replace(current)
            current.submit(job)

    @property
    def is_held(self) -> bool:
        """
        Whether the client's loop waits for the caller, so that the caller cannot wait for it.
        """
        current = self._current
        if current is None:
            return False

        return current.thread is threading.current_thread() or (
            current.loop in HELD_LOOPS and is_inside()
        )

    @property
    def has_bodies(self) -> bool:
        """
        Whether a body runs on the client's loop.
        """
        current = self._current

        return current is not None and current.has_bodies

    def suspect(self, job: Job) -> bool:
        """
        Say that *job*'s loop has not got to it in time; return whether it is blocked.

        A loop that is only late is given until the next call to show it.
        """
        with self._lock:
            current = self._current
            if current is None or current is not job.home:
                return False
            current.suspect = current.silent or current.is_busy
            current.probe()
            if current.suspect and current.waiting:
                self._replace(current)

            return current.suspect

    def _replace(self, blocked: LoopThread) -> LoopThread:
        """
        Use another loop from now on, and start there what waits on *blocked*.
        """
        fresh = self._current = _new_loop()
        for job in list(blocked.waiting.values()):
            fresh.submit(job)
        blocked.retire()

        return fresh

    def close(self, *, wait: bool) -> None:
        """
        End the loop for good; with *wait*, give its tasks a second to end.
        """
        current = self._let_go()
        if current is None:
            return
        if not wait:
            current.retire()
            return
        current.cancel_all()
        if current.thread is not threading.current_thread():
            current.thread.join(CLOSE_SECONDS)

    async def aclose(self) -> None:
        """
        `close` and wait, without holding the running loop.
        """
        current = self._let_go()
        if current is None:
            return
        current.cancel_all()
        waiter = LoopWaiter(asyncio.get_running_loop())
        current.at_end(waiter.wake)
        await waiter.wait(CLOSE_SECONDS)

    def _let_go(self) -> LoopThread | None:
        with self._lock:
            current, self._current = self._current, None
            self._closed = True

        return current

    def forget_parent(self) -> None:
        """
        Start anew in a forked child.
        """
        self._lock = threading.Lock()
        if self._current is not None:
            _OF_PARENT.append(self._current)
            self._current = None


def _new_loop() -> LoopThread:
    try:
        return LoopThread()
    except OSError as error:
        raise NoThreadError(str(error)) from error


_HOLDERS: weakref.WeakSet[LoopHolder] = weakref.WeakSet()
_OF_PARENT: list[LoopThread] = []


def has_bodies() -> bool:
    """
    Whether a body runs on any client's loop.
    """
    return any(holder.has_bodies for holder in list(_HOLDERS))


def _forget_parent() -> None:
    for holder in list(_HOLDERS):
        holder.forget_parent()


os.register_at_fork(after_in_child=_forget_parent)
