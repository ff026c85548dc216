"""
The event loop behind the sync front: one per client, on a daemon thread.

Invariants:

1. One loop serves a client for its whole life, so that what tools cache on it stays
   usable. Only a loop that a body has blocked beyond its deadline is replaced.
2. Bodies that were waiting to start on a blocked loop start on the new one, exactly
   once: `Job.begin` decides.
3. A retired loop runs on until its bodies have ended; then its thread ends.
4. Nothing here keeps the interpreter alive, and a client that is never closed leaves no
   warning: its loop is retired when it is collected.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import threading

from typing import final

from ._jobs import Job


_NUMBER = itertools.count(1)

CLOSE_SECONDS = 1.0


class LoopThread:
    """
    One event loop on one daemon thread, and the jobs it has.
    """

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.pid = os.getpid()
        self.waiting: dict[int, Job] = {}
        self._running = 0
        self._retired = False
        self.thread = threading.Thread(
            target=self._main, name=f"tooldecl-loop-{next(_NUMBER)}", daemon=True
        )
        self.thread.start()

    def submit(self, job: Job) -> None:
        """
        Start *job* on this loop, from any thread.
        """
        self.waiting[id(job)] = job
        self.loop.call_soon_threadsafe(self._start, job)

    def _start(self, job: Job) -> None:
        self.waiting.pop(id(job), None)
        if not job.begin():
            return
        self._running += 1
        task = job.start_task(self.loop)
        task.add_done_callback(lambda _: self._ended(job))

    def _ended(self, job: Job) -> None:
        self._running -= 1
        job.end()()
        if self._retired and not self._running:
            self.loop.stop()

    def retire(self) -> None:
        """
        End the thread as soon as the bodies it runs have ended.
        """
        try:
            self.loop.call_soon_threadsafe(self._retire)
        except RuntimeError:  # closed already
            pass

    def _retire(self) -> None:
        self._retired = True
        if not self._running:
            self.loop.stop()

    def cancel_all(self) -> None:
        """
        Cancel every task of the loop, then end its thread.
        """
        try:
            self.loop.call_soon_threadsafe(self._cancel_all)
        except RuntimeError:  # closed already
            pass

    def _cancel_all(self) -> None:
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self._retire()

    def _main(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
            leftovers = asyncio.all_tasks(self.loop)
            for task in leftovers:
                task.cancel()
            if leftovers:
                self.loop.run_until_complete(
                    asyncio.wait(leftovers, timeout=CLOSE_SECONDS)
                )
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        finally:
            self.loop.close()


@final
class LoopHolder:
    """
    A client's background loop: made on first need, replaced when stuck.
    """

    __slots__ = ("_current", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._current: LoopThread | None = None

    def submit(self, job: Job) -> LoopThread:
        """
        Start *job* on the client's loop, and return that loop.
        """
        with self._lock:
            current = self._current
            if current is None or current.pid != os.getpid():
                current = self._current = LoopThread()
            current.submit(job)

        return current

    @property
    def is_here(self) -> bool:
        """
        Whether the calling thread is the one that runs the loop.
        """
        current = self._current

        return current is not None and current.thread is threading.current_thread()

    def replace(self, stuck: LoopThread) -> None:
        """
        Use another loop from now on, and start there what waits on *stuck*.
        """
        with self._lock:
            if self._current is not stuck:
                return
            fresh = self._current = LoopThread()
            for job in list(stuck.waiting.values()):
                fresh.submit(job)
            stuck.retire()

    def close(self, *, wait: bool) -> None:
        """
        End the loop; with *wait*, give its tasks a second to end.
        """
        with self._lock:
            current, self._current = self._current, None
        if current is None or current.pid != os.getpid():
            return
        if not wait:
            current.retire()
            return
        current.cancel_all()
        if current.thread is not threading.current_thread():
            current.thread.join(CLOSE_SECONDS)
