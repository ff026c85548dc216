"""
The near side of a foreign executor: attempts sent away, and what came of them.

Invariants:

1. The clock is the far side's, and starts with the body. This side only bounds how long
   an answer may take, where it knows until when the body must have begun.
2. What is lost may have run: it is never called an error of the tool, and it is repeated
   for an idempotent tool only.
3. The ``cancel()`` of a future is believed of the standard library alone. Elsewhere a
   call that was given up counts as running until its future is done.
"""

from __future__ import annotations

import functools

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from typing import final

from .._calls import Fate
from .._carriers import Carriers
from .._clock import monotonic, wall
from .._context import facts_of
from .._ids import new_id
from .._isolation import Attempt, Job, Place, arun_job, run_job
from ..exceptions import CallCancelledError, CallError, WorkerDiedError
from ._dialogue import Said, left_of_batch, take_over
from ._errand import SHOP, run_errand
from ._loading import Cargo
from ._nursery import START_SECONDS
from ._outcome import batch_over
from ._parcel import ended_by, open_envelope, parcel_of


# Seconds that an answer may take on its way here.
GRACE_SECONDS = 2.0
# The same where a batch is over, whose time ends here as there.
BATCH_GRACE_SECONDS = 0.25

# By their places: importing the classes would bring all of multiprocessing with them.
_HONEST = ("concurrent.futures.thread", "concurrent.futures.process")


@final
class AbroadRun:
    """
    Runs attempts of one client's tools by an executor of the host's own.

    Args:
        executor: Takes them; it is not closed here.
        cargo: The tools, by name.
        place: Whose bodies they are.
        stop_on: The client's stop signals.
        carriers: Its hooks that take something along.
        expires: Seconds within which the executor has to begin an attempt, or None.

    Attributes:
        leave: Says that nothing more will be sent; leads to no hook of the client.
        aleave: The same from async code, without holding the loop.
    """

    __slots__ = (
        "_place",
        "aleave",
        "cargo",
        "carriers",
        "executor",
        "expires",
        "leave",
        "stop_on",
    )

    def __init__(
        self,
        executor: Executor,
        cargo: Mapping[str, Cargo],
        place: Place,
        stop_on: tuple[type[BaseException], ...],
        carriers: Carriers,
        *,
        expires: float | None,
    ) -> None:
        self.executor = executor
        self.cargo = cargo
        self.stop_on = stop_on
        self.carriers = carriers
        self.expires = expires
        self._place = place
        SHOP.join_here(place.owner)
        self.leave = functools.partial(SHOP.pool.leave, place.owner)
        self.aleave = functools.partial(SHOP.pool.aleave, place.owner)

    def invoke(self, attempt: Attempt) -> None:
        """
        Run an attempt from sync code.
        """
        if left_of_batch(attempt) == 0.0:
            attempt.ended_by = batch_over(attempt.context.tool)
            return
        errand = _Sent(self, attempt)
        job = Job(errand.outer, self._place)
        try:
            run_job(job, errand.send)
        except _NotTakenError as error:
            attempt.refused = str(error)
        finally:
            errand.conclude()

    async def ainvoke(self, attempt: Attempt) -> None:
        """
        Run an attempt from async code.
        """
        if left_of_batch(attempt) == 0.0:
            attempt.ended_by = batch_over(attempt.context.tool)
            return
        errand = _Sent(self, attempt)
        job = Job(errand.outer, self._place)
        try:
            await arun_job(job, errand.send)
        except _NotTakenError as error:
            attempt.refused = str(error)
        finally:
            errand.conclude()


class _NotTakenError(Exception):
    """
    The executor takes no more calls; nothing was run.
    """


@final
class _Sent:
    """
    One attempt that is sent away.

    Attributes:
        outer: What is waited for here: the answer, which has no clock of the body's.
    """

    __slots__ = (
        "_attempt",
        "_began",
        "_envelope",
        "_lost",
        "_run",
        "_token",
        "outer",
    )

    def __init__(self, run: AbroadRun, attempt: Attempt) -> None:
        self._run = run
        self._attempt = attempt
        self._began = monotonic()
        self._token = new_id("errand")
        self._envelope: Said | None = None
        self._lost: CallError | None = None
        outer = self.outer = Attempt(
            attempt.call, attempt.values, attempt.context, attempt.variables
        )
        outer.signal = attempt.signal
        outer.deadline = self._last_moment()

    def _last_moment(self) -> float | None:
        """
        Return until when an answer must have come, where that can be known.
        """
        attempt, expires = self._attempt, self._run.expires
        if attempt.batch_until is not None:
            return attempt.batch_until + BATCH_GRACE_SECONDS
        if expires is None or attempt.timeout is None:
            return None

        return self._began + expires + START_SECONDS + attempt.timeout + GRACE_SECONDS

    def send(self, job: Job) -> None:
        """
        Hand the attempt to the executor; its answer ends *job*.

        Raises:
            _NotTakenError: The executor refuses it.
        """
        run, attempt, left = self._run, self._attempt, left_of_batch(self._attempt)
        parcel = parcel_of(
            attempt,
            run.cargo[attempt.context.tool],
            run.carriers,
            token=self._token,
            expires=None if run.expires is None else wall() + run.expires,
            until=None if left is None else wall() + left,
        )
        job.begin()
        try:
            future = run.executor.submit(run_errand, parcel)
        except Exception as error:  # an executor of anybody's
            job.end()
            kind = type(error).__name__
            raise _NotTakenError(
                f"its executor takes no more calls ({kind})"
            ) from error
        self.outer.started = True
        self.outer.kill = _ending(
            self._token, future if type(run.executor).__module__ in _HONEST else None
        )

        def done(future: Future[bytes]) -> None:
            SHOP.end(self._token)
            self._take(future)
            job.finish()

        future.add_done_callback(done)

    def _take(self, future: Future[bytes]) -> None:
        """
        Note what came back, on whatever thread brings it.
        """
        outer, tool = self.outer, self._attempt.context.tool
        outer.finished = monotonic()
        if future.cancelled():
            outer.started = False
            return
        try:
            said, text = open_envelope(future.result())
            if said["said"] is not None:
                take_over((said["said"], text), outer, self._run.stop_on, None)
            elif outer.stop:  # for who hears of it late
                outer.error = CallCancelledError(tool=tool, fate=said["fate"])
            self._envelope = said
        except BaseException as error:  # of the executor, or of a worker that is gone
            self._lost = WorkerDiedError(tool=tool, exit_code=None)
            self._lost.__cause__ = error
            outer.error = self._lost  # for who hears of it late

    def conclude(self) -> None:
        """
        Set the attempt's outcome.
        """
        outer, attempt, said = self.outer, self._attempt, self._envelope
        attempt.started, attempt.fate = outer.started, outer.fate
        attempt.finished = outer.finished
        if outer.fate is Fate.ABANDONED:
            self._give_up()
        elif not outer.started:
            attempt.refused = attempt.refused or "its executor has dropped it"
        elif said is None:
            attempt.ended_by, attempt.fate = self._lost, Fate.ABANDONED
        else:
            self._open(said)

    def _give_up(self) -> None:
        """
        Say that no answer came while it could be waited for.
        """
        attempt = self._attempt
        if attempt.batch_until is None:
            attempt.ended_by = WorkerDiedError(
                tool=attempt.context.tool, exit_code=None
            )
        else:
            attempt.keep_to_batch(attempt.batch_until - self._began)
            attempt.timed_out = True

    def _open(self, said: Said) -> None:
        outer, attempt = self.outer, self._attempt
        attempt.started, attempt.fate = said["started"], Fate(said["fate"])
        attempt.timed_out, attempt.refused = said["timed_out"], said["refused"]
        if attempt.timed_out:
            attempt.timeout, attempt.source = said["timeout"], said["source"]
        if said["ended_by"] is not None:
            attempt.ended_by = ended_by(attempt.context.tool, said["ended_by"])
        attempt.value, attempt.error = outer.value, outer.error
        attempt.encoded = outer.encoded
        on_the_way = monotonic() - self._began - said["seconds"]
        facts_of(attempt.context).waited += max(0.0, on_the_way) + said["waited"]


def _ending(token: str, future: Future[bytes] | None) -> Callable[[], None]:
    """
    Return what ends a call that runs in this process, or keeps it from beginning.
    """

    def end() -> None:
        SHOP.stop(token)
        if future is not None:
            future.cancel()

    return end
