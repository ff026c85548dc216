"""
One event loop on one daemon thread.

Invariants:

1. A retired loop runs on until its bodies have ended; then its thread ends. Nothing a
   body does to its loop (stopping it, exiting in a task of its own) ends it earlier.
2. Nothing here keeps the interpreter alive.
3. `waiting` is changed by the submitting thread and by the loop's own, one dict
   operation at a time; everything else belongs to the loop's thread.
"""

from __future__ import annotations

import asyncio
import itertools
import threading

from collections.abc import Callable
from typing import final

from ._hosts import NoThreadError, new_loop, run_loop, start_thread, wind_up
from ._jobs import Job


_NUMBER = itertools.count(1)


@final
class LoopThread:
    """
    One event loop on one daemon thread, and the jobs it has.

    Attributes:
        waiting: Jobs that wait to start, by id.
        silent: It was probed and has not answered yet.
        suspect: It is held for blocked, if it is still silent when it is needed.
    """

    def __init__(self) -> None:
        self.loop = new_loop()
        self.waiting: dict[int, Job] = {}
        self.silent = False
        self.suspect = False
        self._running: dict[int, Job] = {}
        self._retired = False
        self._over = False
        self._at_end: list[Callable[[], None]] = []
        self.thread = threading.Thread(
            target=self._main, name=f"tooldecl-loop-{next(_NUMBER)}", daemon=True
        )
        try:
            start_thread(self.thread)
        except NoThreadError:
            self.loop.close()
            raise

    def submit(self, job: Job) -> None:
        """
        Start *job* on this loop, from any thread.
        """
        job.home = self
        self.waiting[id(job)] = job
        self.loop.call_soon_threadsafe(self._start, job)

    def _start(self, job: Job) -> None:
        self.waiting.pop(id(job), None)
        if job.begin():
            self._running[id(job)] = job
            job.start_task(self.loop).add_done_callback(lambda _: self._ended(job))

    def _ended(self, job: Job) -> None:
        self._running.pop(id(job), None)
        job.finish()
        if self._is_done:
            self.loop.stop()

    @property
    def has_bodies(self) -> bool:
        """
        Whether a body runs here, abandoned or not.
        """
        return bool(self._running)

    @property
    def is_busy(self) -> bool:
        """
        Whether a task is in the middle of a step; asked from another thread.
        """
        return asyncio.current_task(self.loop) is not None

    def probe(self) -> None:
        """
        Ask for a sign of life.
        """
        if not self.silent:
            self.silent = True
            self.loop.call_soon_threadsafe(self._answer)

    def _answer(self) -> None:
        self.silent = self.suspect = False

    def retire(self) -> None:
        """
        End the thread as soon as the bodies it runs have ended.
        """
        self._call(self._retire)

    def _retire(self) -> None:
        self._retired = True
        if self._is_done:
            self.loop.stop()

    def cancel_all(self) -> None:
        """
        Cancel every task of the loop, then end its thread.
        """
        self._call(self._cancel_all)

    def _cancel_all(self) -> None:
        for job in self._running.values():
            job.attempt.revoked = True
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self._retire()

    def at_end(self, callback: Callable[[], None]) -> None:
        """
        Have *callback* called when the loop has ended, at once where it has.
        """
        self._at_end.append(callback)
        if self._over:
            callback()

    def _call(self, callback: Callable[[], None]) -> None:
        try:
            self.loop.call_soon_threadsafe(callback)
        except RuntimeError:  # the loop has ended
            pass

    @property
    def _is_done(self) -> bool:
        return self._retired and not self._running

    def _main(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            while not self._is_done:
                run_loop(self.loop)
            wind_up(self.loop)
        finally:
            self.loop.close()
            self._over = True
            for callback in self._at_end:
                callback()
