"""
The host's side of the workers: one zygote, and warm workers that are used again.

Invariants:

1. A worker has one call at a time. One whose call did not end in an answer is never used
   again: it is killed, and another takes its place.
2. A worker is killed by its group, and only while its zygote has not reaped it, so no
   other process that has got its number is hit.
3. Workers come from the zygote, never from a fork of this process, which may have threads.
4. No descriptor of the pool reaches another program, nor a forked copy of this process:
   a copy closes what it has and starts a pool of its own.
5. Nothing here outlives this process: the zygote ends when its control socket closes.
"""

from __future__ import annotations

import asyncio
import threading
import weakref

from collections.abc import Callable, Iterable
from typing import final

from .._forking import watch
from .._isolation import Line, LoopWaiter, start_thread
from ._handle import End, NoProcessError, Worker
from ._loading import Cargo
from ._nursery import Nursery, Start, no_process


# Seconds for the kernel to take a dead worker apart, until it is said that it may live on.
KILL_SECONDS = 1.0


@final
class Pool:
    """
    The workers of one engine.

    Args:
        size: How many there are at most; further calls wait in `places`.
        memory_limit: Bytes of address space that a body may map, or None.
        recycle: After how many calls a worker is replaced, or None.

    Attributes:
        places: A place for each call that has, or may have, a worker.
    """

    def __init__(
        self, size: int, *, memory_limit: int | None = None, recycle: int | None = None
    ) -> None:
        self.places = Line(size)
        self.memory_limit = memory_limit
        self.recycle = recycle
        self._users: dict[object, tuple[Cargo, ...]] = {}
        self._closed = False
        self._forget()
        watch(self)

    def _forget(self) -> None:
        # A client that is collected leaves in whatever thread, also in one that holds it.
        self._lock = threading.RLock()
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._nursery: Nursery | None = None
        self._start: Start | None = None
        weakref.finalize(self, _let_go, self._idle)

    # -- who uses it ---------------------------------------------------------------

    def join(self, user: object, cargo: Iterable[Cargo]) -> None:
        """
        Note that a client with these tools uses the pool.
        """
        with self._lock:
            self._users[user] = tuple(cargo)

    def leave(self, user: object) -> None:
        """
        Note that a client is closed; without any, the workers are ended.
        """
        with self._lock:
            # In one step: who joins from now on finds no worker that is being ended.
            if self._users.pop(user, None) is None or self._users:
                return
            down = self._taken_down()
        self._finish(*down)

    async def aleave(self, user: object) -> None:
        """
        `leave` from async code, without holding the loop.
        """
        waiter = LoopWaiter(asyncio.get_running_loop())

        def leave() -> None:
            try:
                self.leave(user)
            finally:
                waiter.wake()

        start_thread(threading.Thread(target=leave, daemon=True))
        await waiter.wait(None)

    # -- workers ---------------------------------------------------------------------

    def take(self, until: float, is_stopped: Callable[[], bool]) -> Worker:
        """
        Return a worker that waits for a call; who takes one has a place.

        Raises:
            NoProcessError: There is none, and none can be started until then.
        """
        retried = False
        while not self.is_closed:
            try:
                worker = self._idle.pop()
            except IndexError:
                worker = self._spawn(until, is_stopped)
            try:
                worker.meet(until)
            except NoProcessError:
                lost = worker.is_lost()
                worker.close()
                if retried or not lost:
                    raise
                retried = True
                nursery = self._nursery
                if nursery is not None and worker.home is nursery:
                    self._end(nursery)
                continue
            if self.owns(worker) and worker.is_well():
                self._busy.add(worker)
                return worker
            worker.close()
        self._stop()  # one may have been started while it was closed
        raise NoProcessError("its engine is closed")

    @property
    def is_closed(self) -> bool:
        """
        Whether nobody uses it any more: who waits for a worker gets none.
        """
        return self._closed or not self._users

    def _spawn(self, until: float, is_stopped: Callable[[], bool]) -> Worker:
        """
        Ask for a new worker; a zygote that has ended is replaced, once.
        """
        nursery = self._started(until, is_stopped)
        try:
            return nursery.spawn()
        except OSError:
            self._end(nursery)
        try:
            return self._started(until, is_stopped).spawn()
        except OSError as error:
            raise no_process(error) from error

    def give_back(self, worker: Worker, *, spent: bool = False) -> None:
        """
        Keep a worker for the next call, unless it has done its part.
        """
        self._busy.discard(worker)
        spent |= not worker.end_call()
        if spent or (self.recycle is not None and worker.calls >= self.recycle):
            worker.close()
        else:
            self._idle.append(worker)
            if not self.owns(worker):  # closed meanwhile
                self._drop_idle()

    def bury(self, worker: Worker) -> End | None:
        """
        Kill a worker and wait for its end, with another one on its way.

        None says that it may live on; who is told so has to `close` it.
        """
        worker.kill()
        self._busy.discard(worker)
        self._replace(worker)
        end = worker.end(KILL_SECONDS)
        if end is not None:
            worker.close()

        return end

    def owns(self, worker: Worker) -> bool:
        """
        Whether the worker's zygote is the one in use: the pool was not closed meanwhile.
        """
        return worker.home is self._nursery

    def _replace(self, worker: Worker) -> None:
        nursery = self._nursery
        if nursery is None or worker.home is not nursery:
            return
        try:
            self._idle.insert(0, nursery.spawn())
        except (OSError, NoProcessError):  # the next call will say so
            pass

    def _started(self, until: float, is_stopped: Callable[[], bool]) -> Nursery:
        """
        Return the zygote in use; a new one is started by a thread, so nobody waits longer.
        """
        with self._lock:
            if self._nursery is not None:
                return self._nursery
            if self._start is None:
                self._start = Start(self._new_nursery, self._bare_nursery)
            start = self._start
        nursery = start.wait(until, is_stopped)
        with self._lock:
            if self._start is start and start.is_over:
                self._start, self._nursery = None, nursery
            current = self._nursery
        if nursery is None or nursery is not current:  # or it was closed meanwhile
            raise NoProcessError(start.reason)

        return nursery

    def _new_nursery(self) -> Nursery:
        tools = [cargo for tools in list(self._users.values()) for cargo in tools]
        modules = dict.fromkeys(m for cargo in tools for m in cargo.modules)

        return Nursery(modules, memory_limit=self.memory_limit)

    def _bare_nursery(self) -> Nursery:
        # A module that ends the process that imports it costs its own tools alone.
        return Nursery((), memory_limit=self.memory_limit)

    def close(self) -> None:
        """
        End all workers, also those that have a call, and start no others.
        """
        self._closed = True
        self._stop()

    def _stop(self) -> None:
        with self._lock:
            down = self._taken_down()
        self._finish(*down)

    def _taken_down(self) -> tuple[Nursery | None, Start | None]:
        down = self._nursery, self._start
        self._nursery = self._start = None

        return down

    def _finish(self, nursery: Nursery | None, start: Start | None) -> None:
        if start is not None:
            start.cancel()
        if nursery is not None:
            nursery.end()
        self._drop_idle()

    def _end(self, nursery: Nursery) -> None:
        """
        End a zygote that does not answer; another one may be in use already.
        """
        with self._lock:
            if self._nursery is nursery:
                self._nursery = None
        self._finish(nursery, None)

    def _drop_idle(self) -> None:
        """
        Let go of idle workers whose zygote is not the one in use.
        """
        for worker in [w for w in self._idle if not self.owns(w)]:
            try:
                self._idle.remove(worker)
            except ValueError:  # a call has taken it, and will find out
                continue
            worker.close()

    def forget_parent(self) -> None:
        """
        Start anew in a forked child, without what ties the parent to its workers.
        """
        for worker in (*self._idle, *self._busy):
            worker.forget()
        if self._nursery is not None:
            self._nursery.forget()
        if self._start is not None:
            self._start.forget()
        self._forget()


def _let_go(idle: list[Worker]) -> None:
    """
    Close what leads to idle workers, of which nobody else will think.
    """
    while idle:
        idle.pop().close()
