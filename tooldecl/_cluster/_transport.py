"""
Attempts as tasks of a Ray cluster, and what came of them.

Invariants:

1. Ray repeats nothing: a task that it has lost is told as lost.
2. A call is asked to end softly, and the errand there kills the body and answers. By
   force, which ends the whole worker, only where that has not helped.
3. A task that Ray says is cancelled, and that was not asked to end by force, has begun
   nothing.
4. Every call that was sent is answered once, at the latest when the engine is closed or
   the connection is gone.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import weakref

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, final

from .._isolation import LoopWaiter, start_thread
from .._processes import Dispatched, NotTakenError, Step, Tell
from ..exceptions import ClusterError, EngineClosedError
from ._box import Mailbox, empty, made_box
from ._link import JOIN_SECONDS, LEAVE_SECONDS, Link, is_usable, link_to, part
from ._open import Open
from ._task import Task, task_of


logger = logging.getLogger("tooldecl")

if TYPE_CHECKING:
    from ray.actor import ActorHandle


# Seconds in which a call that was asked to end is heard of, also where it takes force.
END_SECONDS = 4.0
# Seconds in which what a body has said comes after its answer.
HEARING_SECONDS = 5.0
# The same where nothing has come from the box yet: its process has to be started.
FIRST_HEARING_SECONDS = 30.0


@final
class RayTransport:
    """
    Sends the attempts of an engine's clients to a cluster.

    Args:
        address: Of the cluster.
        resources: What the tools take of it, by name.
    """

    name = "cluster"
    end_seconds = END_SECONDS

    def __init__(
        self, address: str, resources: Mapping[str, Mapping[str, float]]
    ) -> None:
        self.address = address
        self.resources = resources
        self.closed = False
        self._link: Link | None = None
        self._lock = threading.Lock()
        self._open: dict[str, Open] = {}
        self._tasks: dict[str, Task] = {}
        self._box: ActorHandle[Mailbox] | None = None
        self._has_heard = False

    # A client has nothing here that would have to be let go of.

    def join(self, user: object) -> None:
        """
        Take note of nothing.
        """

    def leave(self, user: object) -> None:
        """
        Let go of nothing.
        """

    async def aleave(self, user: object) -> None:
        """
        Let go of nothing.
        """

    def connect(self, within: float = JOIN_SECONDS) -> None:
        """
        Wait until calls can be sent.

        Raises:
            ClusterError: They cannot.
        """
        if self.closed:
            raise EngineClosedError("The engine is closed.")
        if self._link is None or not is_usable(self._link):
            self._link = link_to(self.address, self)
            self._tasks = {}
        self._link.wait(within)

    async def aconnect(self, within: float = JOIN_SECONDS) -> None:
        """
        `connect` from async code, on a thread of its own.
        """
        link = self._link
        if link is not None and link.is_up and is_usable(link) and not self.closed:
            return
        failures: list[ClusterError | EngineClosedError] = []

        def connect() -> None:
            try:
                self.connect(within)
            except (ClusterError, EngineClosedError) as error:
                failures.append(error)

        await _on_thread(connect)
        for failure in failures:
            raise failure

    def prepare(self, within: float | None) -> None:
        """
        Wait until it can send.
        """
        try:
            self.connect(JOIN_SECONDS if within is None else min(within, JOIN_SECONDS))
        except (ClusterError, EngineClosedError) as error:
            raise _not_taken(error) from error

    async def aprepare(self, within: float | None) -> None:
        """
        The same from async code.
        """
        wait = JOIN_SECONDS if within is None else min(within, JOIN_SECONDS)
        try:
            await self.aconnect(wait)
        except (ClusterError, EngineClosedError) as error:
            raise _not_taken(error) from error

    def send(
        self, parcel: bytes, token: str, tool: str, tell: Tell | None, /
    ) -> Dispatched:
        """
        Send an attempt.
        """
        import ray

        if self.closed or not ray.is_initialized():  # or Ray would join by itself
            raise NotTakenError("its cluster was left")
        try:
            box = None if tell is None else self._box_here()
            reference = self._task(tool).remote(parcel, box)
        except Exception as error:  # of Ray, which raises all kinds
            kind = type(error).__name__
            raise NotTakenError(f"its cluster takes no more calls ({kind})") from error
        hearing = HEARING_SECONDS if self._has_heard else FIRST_HEARING_SECONDS
        sent = Open(reference, tell, hearing=hearing)
        with self._lock:
            self._open[token] = sent
        sent.answer.add_done_callback(lambda _: self._open.pop(token, None))
        reference.future().add_done_callback(sent.take)
        if self.closed:  # meanwhile: nobody else ends it, and Ray may be left
            sent.end()
            sent.fail(ConnectionError("the engine is closed"))

        return Dispatched(sent.answer, sent.end)

    def _task(self, tool: str) -> Task:
        task = self._tasks.get(tool)
        if task is None:
            task = self._tasks[tool] = task_of(tool, self.resources.get(tool, {}))

        return task

    def _box_here(self) -> ActorHandle[Mailbox]:
        """
        Return where bodies say how far they are.
        """
        with self._lock:
            if self._box is None:
                self._box, self._has_heard = made_box(), False
                start_thread(
                    threading.Thread(
                        target=_empty,
                        args=(self._box, weakref.ref(self)),
                        name="tooldecl-ray-progress",
                        daemon=True,
                    )
                )
            return self._box

    def hear(self, token: str, before: int, steps: list[Step]) -> None:
        """
        Hear how far a body is.
        """
        self._has_heard = True
        sent = self._open.get(token)
        if sent is not None:
            sent.hear(before, steps)

    def hears_from(self, box: ActorHandle[Mailbox]) -> bool:
        """
        Whether a box is the one that its bodies put into.
        """
        return self._box is box

    def forget_box(self, box: ActorHandle[Mailbox]) -> None:
        """
        Note that a box has ended: nothing more will be heard from it.
        """
        with self._lock:
            if self._box is not box:
                return
            self._box = None  # who listens next has another
        for sent in list(self._open.values()):
            sent.let_go()

    def lost(self) -> None:
        """
        Answer what will not be answered any more.
        """
        with self._lock:
            self._box = None
        for sent in list(self._open.values()):
            sent.fail(ConnectionError("the connection to the cluster is gone"))

    def close(self) -> None:
        """
        End all calls, and leave the cluster where nobody else here uses it.
        """
        self.closed = True
        waiting = list(self._open.values())
        for sent in waiting:
            sent.end()
        for sent in waiting:
            sent.wait(END_SECONDS)
        self.lost()
        link, self._link = self._link, None
        if link is not None:
            part(link, self)

    async def aclose(self) -> None:
        """
        `close` from async code, on a thread of its own.
        """
        self.closed = True
        await _on_thread(self.close)


def _not_taken(error: Exception) -> NotTakenError:
    if isinstance(error, ClusterError):
        logger.warning("%s", error)  # a model has no use for addresses
        return NotTakenError("its cluster cannot be joined")

    return NotTakenError("its engine is closed")


def _empty(box: ActorHandle[Mailbox], whose: weakref.ref[RayTransport]) -> None:
    """
    Hand on what comes into a box; an engine that is gone is not kept by it.
    """

    def hear(token: str, before: int, steps: list[Step]) -> None:
        transport = whose()
        if transport is not None:
            transport.hear(token, before, steps)

    def is_wanted() -> bool:
        transport = whose()

        return transport is not None and transport.hears_from(box)

    empty(box, hear, is_wanted)
    transport = whose()
    if transport is not None:
        transport.forget_box(box)


async def _on_thread(function: Callable[[], None]) -> None:
    waiter = LoopWaiter(asyncio.get_running_loop())

    def run() -> None:
        try:
            function()
        finally:
            waiter.wake()

    start_thread(threading.Thread(target=run, daemon=True))
    await waiter.wait(LEAVE_SECONDS + JOIN_SECONDS)
