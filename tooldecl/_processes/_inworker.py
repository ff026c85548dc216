"""
One attempt in a worker process, from its start to the truth about its end.

Invariants:

1. The clock starts when the call is sent to a worker that has its tool loaded: starting a
   process and importing a module are no part of the body.
2. At the deadline, and when the caller gives up, the worker's whole group is killed. The
   fate is ``killed`` once the zygote has said that nothing of it is left.
3. Whatever goes wrong between host and worker costs this call and its worker, no other.
"""

from __future__ import annotations

import functools
import logging
import threading

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from .._calls import Fate
from .._carriers import Found
from .._clock import monotonic
from .._context import facts_of
from .._isolation import Attempt, Entry, Place, Stopped, ask_to_stop, settle
from .._wording import exit_text
from ..exceptions import WorkerDiedError
from ._dialogue import Answer, ask, left_of_batch, load
from ._handle import End, NoProcessError, Worker
from ._loading import Cargo
from ._nursery import START_SECONDS
from ._outcome import batch_over, not_loaded, too_much
from ._pool import Pool
from ._wire import MAX_FRAME, BrokenFrameError


logger = logging.getLogger("tooldecl")

# How many workers may die of loading a tool, until it is held for the tool's own fault.
WORKERS_TRIED = 3


class WorkerRun(ABC):
    """
    Runs attempts in the workers of a pool, on the thread that calls it.

    Args:
        pool: The workers.
        cargo: The tools, by name.
        place: Whose bodies they are.
        found: The hooks of their client that take something along.
    """

    __slots__ = ("_cargo", "_found", "_place", "pool")

    def __init__(
        self,
        pool: Pool,
        cargo: Mapping[str, Cargo],
        place: Place,
        found: Sequence[Found],
    ) -> None:
        self.pool = pool
        self._cargo = cargo
        self._place = place
        self._found = found

    def run(self, attempt: Attempt) -> None:
        """
        Run an attempt on this thread; its outcome is in the attempt. Who calls has a place.

        A worker that dies before the body began costs nothing but time: another is taken.
        """
        began = monotonic()
        for left in reversed(range(WORKERS_TRIED)):
            if self._try(attempt, began, last=not left):
                return

    def _try(self, attempt: Attempt, began: float, *, last: bool) -> bool:
        """
        Run an attempt in one worker; False when another one may still run it.
        """
        answered, signal = False, attempt.signal

        def is_stopped() -> bool:
            return attempt.stop or (signal is not None and signal.is_set)

        try:
            worker = self.pool.take(_until(attempt), is_stopped)
        except NoProcessError as error:
            if signal is not None and signal.is_set:
                raise Stopped from None
            if attempt.stop:  # nobody looks at the outcome any more
                return True
            if self.pool.is_closed:
                attempt.revoke()
            elif left_of_batch(attempt) == 0.0:
                attempt.ended_by = batch_over(attempt.context.tool)
            else:
                attempt.refuse(error, "worker process")
            return True
        attempt.kill = functools.partial(worker.kill, worker.calls)

        def stop() -> None:
            ask_to_stop(attempt, cancels=False)

        try:
            if signal is not None:
                signal.add(stop)
            if attempt.stop:  # before there was anything to kill
                worker.kill()
            over = self._run(attempt, worker, began, last=last)
            answered = True
        except (EOFError, BrokenFrameError, TimeoutError, BlockingIOError) as error:
            answered = True
            over = self._ended(attempt, worker, error, last=last)
        finally:
            attempt.kill = None
            if signal is not None:
                signal.discard(stop)
            if not answered:  # interrupted: the body ends here too
                ask_to_stop(attempt, cancels=False)
                self._bury(attempt, worker)
        if signal is not None and signal.is_set:
            raise Stopped

        return over

    def _run(
        self, attempt: Attempt, worker: Worker, began: float, *, last: bool
    ) -> bool:
        """
        Load the tool where the worker has not, run it, and read the answer.

        False where another worker may be able to load it.
        """
        tool = self._cargo[attempt.context.tool]
        fault = load(worker, tool, _until(attempt), self._found)
        if fault is not None:
            # An earlier body may have left it so, and not only for this tool.
            self.pool.give_back(worker, spent=True)
            if worker.calls > 1 and not last:
                return False
            attempt.ended_by = not_loaded(tool.name, *fault)
            return True
        left = left_of_batch(attempt)
        if left is not None:
            attempt.keep_to_batch(left)
        facts_of(attempt.context).waited += monotonic() - began
        attempt.begin_clock()
        request = self._request(tool.number, worker, attempt)
        if len(request) > MAX_FRAME:
            self.pool.give_back(worker)
            attempt.ended_by = too_much(tool.name)
            return True
        attempt.started = True
        answer = ask(worker, request, attempt)
        spent = self._take(answer, attempt)
        self.pool.give_back(worker, spent=spent)
        settle(attempt)

        return True

    @abstractmethod
    def _request(self, number: int, worker: Worker, attempt: Attempt) -> bytes:
        """
        Return the frame of an attempt of the tool with this number.
        """

    @abstractmethod
    def _take(self, answer: Answer, attempt: Attempt) -> bool:
        """
        Make of an answer what a body has left; whether its worker is spent.
        """

    def _ended(
        self, attempt: Attempt, worker: Worker, error: Exception, *, last: bool
    ) -> bool:
        """
        Say what became of a body whose worker gave no answer; False if it may still begin.
        """
        tool, stopped = attempt.context.tool, attempt.stop
        late = isinstance(error, (TimeoutError, BlockingIOError))
        if late:
            ask_to_stop(attempt, cancels=False)
        closed = not self.pool.owns(worker)
        end = self._bury(attempt, worker)
        code = end.code if end else None
        if closed and not stopped:
            attempt.revoke()
        elif stopped:
            pass
        elif attempt.started and late:
            attempt.timed_out = True
        elif attempt.started:
            attempt.ended_by = WorkerDiedError(tool=tool, exit_code=code)
        elif late and attempt.batch_until is not None:
            attempt.ended_by = batch_over(tool)
        elif late or last:
            reason = "TimeoutError" if late else f"it ended {exit_text(code)}"
            attempt.ended_by = not_loaded(tool, reason, "")
        else:
            return False

        return True

    def _bury(self, attempt: Attempt, worker: Worker) -> End | None:
        """
        Kill what runs the body, and set the body's fate.
        """
        end = self.pool.bury(worker)
        attempt.finished = monotonic()
        attempt.fate = Fate.KILLED if attempt.started else Fate.NOT_STARTED
        if end is None or end.left:
            logger.warning(
                "Tool %r was killed, but process %d may survive.",
                attempt.context.tool,
                end.left if end else worker.pid,
            )
            attempt.fate = Fate.ABANDONED
        if end is None:
            place = self._place
            place.ledger.enter(Entry(attempt, place.owner, place.on_late))
            threading.Thread(
                target=self._wait_for_end,
                args=(attempt, worker),
                name="tooldecl-burial",
                daemon=True,
            ).start()

        return end

    def _wait_for_end(self, attempt: Attempt, worker: Worker) -> None:
        worker.end(float("inf"))
        worker.close()
        self._place.ledger.leave(attempt)


def _until(attempt: Attempt) -> float:
    """
    Return until when a worker may take to be ready for a body.
    """
    until = monotonic() + START_SECONDS

    return until if attempt.batch_until is None else min(until, attempt.batch_until)
