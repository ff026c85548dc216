"""
One call that is with a Ray cluster, until it is answered.
"""

from __future__ import annotations

import logging
import threading

from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from typing import TYPE_CHECKING, TypeAlias, final

from .._isolation import start_thread
from .._processes import NotTakenError, Step, Tell


if TYPE_CHECKING:
    from ray import ObjectRef

    Reference: TypeAlias = ObjectRef[tuple[bytes, int]]


logger = logging.getLogger("tooldecl")

# Seconds until a call that was asked to end is ended with the worker that it is on.
FORCE_SECONDS = 2.0

# What Ray says where the function of a task is not to be had.
_NO_IMPORT = "failed to import on the worker"


@final
class Open:
    """
    A call that is with the cluster.

    Args:
        reference: What Ray calls it.
        tell: Told how far its body is, or None.
        hearing: Seconds in which what its body has said may come after its answer.
    """

    def __init__(
        self, reference: Reference, tell: Tell | None, *, hearing: float
    ) -> None:
        self.answer: Future[bytes] = Future()
        self._tell = tell
        self._hearing_seconds = hearing
        self._heard = 0
        self._early: dict[int, list[Step]] = {}
        self._held: tuple[bytes, int] | None = None
        self._hearing = threading.Lock()
        self._reference = reference
        self._asked = threading.Lock()
        self._is_forced = False
        self._timer: threading.Timer | None = None

    def take(self, future: Future[tuple[bytes, int]]) -> None:
        """
        Take what Ray gives for an answer, on a thread of Ray's.
        """
        if self._timer is not None:
            self._timer.cancel()
        error = future.exception()
        if error is None:
            self._hold(*future.result())
            return
        try:
            if self._never_began(error):
                self.answer.cancel()
            else:
                self.answer.set_exception(_known(error))
        except InvalidStateError:  # answered when its engine was closed
            pass

    def hear(self, before: int, steps: list[Step]) -> None:
        """
        Hear how far its body is; what comes too early waits for what came before it.
        """
        self._early[before] = steps
        while (following := self._early.pop(self._heard, None)) is not None:
            for step in following:
                if self._tell is not None:
                    self._tell(*step)
            with self._hearing:
                self._heard += len(following)
        with self._hearing:
            ready = self._held is not None and self._heard >= self._held[1]
        if ready:
            self.let_go()

    def _hold(self, envelope: bytes, told: int) -> None:
        """
        Answer, once all has been heard that its body has said: it takes another way.
        """
        with self._hearing:
            self._held = envelope, told
            # Who was asked to end has nothing to say that would still be heard.
            ready = self._heard >= told or self._asked.locked()
        if ready:
            self.let_go()
        else:
            self._start(self._hearing_seconds, self.let_go)

    def let_go(self) -> None:
        """
        Answer, whatever has been heard; nothing where there is no answer yet.
        """
        held = self._held
        try:
            if held is not None:
                self.answer.set_result(held[0])
        except InvalidStateError:
            pass
        if self._timer is not None:
            self._timer.cancel()

    def _start(self, seconds: float, function: Callable[[], None]) -> None:
        timer = self._timer = threading.Timer(seconds, function)
        timer.daemon = True
        start_thread(timer)
        if self.answer.done():
            timer.cancel()

    def _never_began(self, error: BaseException) -> bool:
        from ray.exceptions import RayTaskError, TaskCancelledError

        there = isinstance(error, RayTaskError)  # said by the worker: it was under way

        return isinstance(error, TaskCancelledError) and not (there or self._is_forced)

    def end(self) -> None:
        """
        Ask for its end.
        """
        if self.answer.done() or not self._asked.acquire(blocking=False):
            return
        with self._hearing:
            is_held = self._held is not None
        if is_held:
            self.let_go()
            return
        self._cancel(force=False)
        if not self.answer.done():
            self._start(FORCE_SECONDS, self._force)

    def _force(self) -> None:
        if not self.answer.done():
            self._is_forced = True
            self._cancel(force=True)

    def _cancel(self, *, force: bool) -> None:
        import ray

        try:
            if ray.is_initialized():
                ray.cancel(self._reference, force=force)
        except Exception as error:  # of Ray: it is gone, and says so to all its calls
            self.fail(error)

    def wait(self, seconds: float) -> None:
        """
        Wait until it is answered, or *seconds* have passed.
        """
        over = threading.Event()
        self.answer.add_done_callback(lambda _: over.set())
        over.wait(seconds)

    def fail(self, error: Exception) -> None:
        """
        Answer it here.
        """
        if self._timer is not None:
            self._timer.cancel()
        try:
            self.answer.set_exception(error)
        except InvalidStateError:
            pass


def _known(error: BaseException) -> BaseException:
    """
    Return what an error of Ray means where it has certainly run nothing.
    """
    from ray.exceptions import (
        RayTaskError,
        RuntimeEnvSetupError,
        TaskUnschedulableError,
    )

    if isinstance(error, (RuntimeEnvSetupError, TaskUnschedulableError)):
        logger.warning("A cluster cannot begin a call: %s", error)
        return NotTakenError(f"its cluster cannot begin it ({type(error).__name__})")
    if isinstance(error, RayTaskError) and _NO_IMPORT in str(error):
        logger.warning("A cluster cannot import tooldecl: %s", error)
        return NotTakenError("its cluster cannot import tooldecl")

    return error
