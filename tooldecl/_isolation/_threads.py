"""
A cache of daemon threads, one body each at a time.

Not a pool: there is no queue and no limit here, so a body that never ends costs one
thread and delays nobody. Daemon threads, because the interpreter waits for all others.

Invariants:

1. A thread is in `_IDLE` exactly while it waits for work; ``list.pop`` and
   ``list.remove`` decide between a caller that takes it and its own retirement.
2. A thread is idle again before it wakes its caller, so that the caller's next body
   finds it. Nothing else runs on an idle thread: hooks that are told of a late finish
   have returned before.
3. A forked child has none of its parent's threads and starts with an empty cache.
"""

from __future__ import annotations

import _thread
import asyncio
import itertools
import os
import threading

from collections.abc import Callable

from ._hosts import new_loop, run_loop, start_thread, wind_up
from ._jobs import Job, nothing


# An idle thread ends after this many seconds, at once when so many others are idle.
IDLE_SECONDS = 1.0
MAX_IDLE = 8

_NUMBER = itertools.count(1)


class _Worker:
    __slots__ = ("job", "lock")

    def __init__(self, job: Job) -> None:
        self.lock = _thread.allocate_lock()
        self.lock.acquire()
        self.job: Job | None = job

    def main(self) -> None:
        while True:
            job, self.job = self.job, None
            if job is None:
                raise AssertionError("unreachable")
            _BUSY.add(self)
            try:
                wake = _run(job)
            finally:
                _BUSY.discard(self)
            del job
            stays = len(_IDLE) < MAX_IDLE
            if stays:
                _IDLE.append(self)
            wake()
            del wake
            if not stays or not self._wait():
                return

    def _wait(self) -> bool:
        """
        Wait for work; False when there is none and the thread shall end.
        """
        if self.lock.acquire(True, IDLE_SECONDS):
            return True
        try:
            _IDLE.remove(self)
        except ValueError:  # a caller has just taken this thread: its work is coming
            self.lock.acquire()
            return True

        return False


_IDLE: list[_Worker] = []
_BUSY: set[_Worker] = set()


def _forget_threads() -> None:
    _IDLE.clear()
    _BUSY.clear()


os.register_at_fork(after_in_child=_forget_threads)


def has_bodies() -> bool:
    """
    Whether a body runs on one of these threads, abandoned or not.
    """
    return bool(_BUSY)


def submit(job: Job) -> None:
    """
    Run *job* on a thread of its own, now.

    Raises:
        NoThreadError: The system gives no further thread; nothing was run.
    """
    worker = _idle_worker()
    if worker is None:
        _start(job)
        return
    worker.job = job
    worker.lock.release()


def _idle_worker() -> _Worker | None:
    try:
        return _IDLE.pop()
    except IndexError:
        return None


def _start(job: Job) -> None:
    name = f"tooldecl-body-{next(_NUMBER)}"
    start_thread(threading.Thread(target=_Worker(job).main, name=name, daemon=True))


def _run(job: Job) -> Callable[[], None]:
    """
    Run the body, unless its caller gave up before; return how to let the caller know.
    """
    if not job.begin():
        return nothing
    if job.on_private_loop:
        _run_on_private_loop(job)
        return nothing
    job.run(job.attempt)

    return job.wake if job.end() else nothing


def _run_on_private_loop(job: Job) -> None:
    """
    Run an async body on a loop of this thread's own; its caller is told before the loop ends.
    """
    try:
        loop = new_loop()
    except OSError as error:
        job.attempt.refuse(error)
        job.finish()
        return
    asyncio.set_event_loop(loop)
    try:
        task = job.start_task(loop)
        task.add_done_callback(lambda _: loop.stop())
        while not task.done():
            run_loop(loop)
        job.finish()
        wind_up(loop)
    finally:
        asyncio.set_event_loop(None)
        loop.close()
