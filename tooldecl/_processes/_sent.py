"""
One attempt that was sent away, from its parcel to what came of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Protocol, final

from .._calls import Fate
from .._carriers import Carriers
from .._clock import monotonic, wall
from .._context import facts_of, no_progress
from .._ids import new_id
from .._isolation import Attempt, Job
from ..exceptions import CallCancelledError, CallError, WorkerDiedError
from ._dialogue import left_of_batch, take_over
from ._loading import Cargo
from ._nursery import START_SECONDS
from ._outcome import batch_over
from ._parcel import Envelope, open_envelope, parcel_of
from ._transport import NotTakenError, Tell, Transport


# Seconds that an answer may take on its way here.
GRACE_SECONDS = 2.0
# The same where a batch is over, whose time ends here as there.
BATCH_GRACE_SECONDS = 0.25

_DROPPED = "has dropped it"


class Sender(Protocol):
    """
    Who sends it.
    """

    transport: Transport
    cargo: Mapping[str, Cargo]
    stop_on: tuple[type[BaseException], ...]
    carriers: Carriers
    expires: float | None


@final
class Sent:
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

    def __init__(self, run: Sender, attempt: Attempt) -> None:
        self._run = run
        self._attempt = attempt
        self._began = monotonic()
        self._token = new_id("errand")
        self._envelope: Envelope | None = None
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
        Hand the attempt to the transport; its answer ends *job*.

        Raises:
            NotTakenError: Nobody takes it.
        """
        run, attempt, left = self._run, self._attempt, left_of_batch(self._attempt)
        tool = attempt.context.tool
        parcel = parcel_of(
            attempt,
            run.cargo[tool],
            run.carriers,
            token=self._token,
            by=run.transport.name,
            expires=None if run.expires is None else wall() + run.expires,
            until=None if left is None else wall() + left,
        )
        job.begin()
        try:
            sent = run.transport.send(parcel, self._token, tool, self._listener())
        except NotTakenError:
            job.end()
            raise
        self.outer.started = True
        self.outer.kill = sent.end

        def done(future: Future[bytes]) -> None:
            self._take(future, is_honest=sent.is_honest)
            job.finish()

        sent.answer.add_done_callback(done)

    def _listener(self) -> Tell | None:
        listens = facts_of(self._attempt.context).on_progress is not no_progress

        return self._tell if listens else None

    def _tell(self, done: float, total: float | None, message: str | None) -> None:
        self._attempt.context.progress(done, total, message)

    def _take(self, future: Future[bytes], *, is_honest: bool) -> None:
        """
        Note what came back, on whatever thread brings it.
        """
        outer, tool = self.outer, self._attempt.context.tool
        outer.finished = monotonic()
        outer.kill = None
        if is_honest and future.cancelled():
            outer.started = False
            return
        try:
            read = open_envelope(future.result(), tool=tool, token=self._token)
            if read.said is not None:
                take_over((read.said, read.text), outer, self._run.stop_on, None)
            elif outer.stop:  # for who hears of it late
                outer.error = CallCancelledError(tool=tool, fate=read.fate.value)
            self._envelope = read
        except NotTakenError as error:
            outer.started, self._attempt.refused = False, str(error)
        except BaseException as error:  # of the executor, or of a worker that is gone
            self._lost = WorkerDiedError(tool=tool, exit_code=None)
            self._lost.__cause__ = error
            outer.error = self._lost  # for who hears of it late

    def conclude(self) -> None:
        """
        Set the attempt's outcome.
        """
        outer, attempt, read = self.outer, self._attempt, self._envelope
        attempt.started, attempt.fate = outer.started, outer.fate
        attempt.finished = outer.finished
        if outer.fate is Fate.ABANDONED:
            self._give_up()
        elif not outer.started:
            attempt.fate = Fate.NOT_STARTED
            self._refuse()
        elif read is None:
            attempt.fate = Fate.ABANDONED
            if outer.timed_out:  # it was ended by force, which is no death of a worker
                self._give_up()
            else:
                attempt.ended_by = self._lost
        else:
            self._open(read)
            if outer.timed_out and attempt.fate is Fate.KILLED:
                self._give_up()
        self._cut_off()

    def _refuse(self) -> None:
        attempt = self._attempt
        if left_of_batch(attempt) == 0.0:
            attempt.ended_by = batch_over(attempt.context.tool)
        elif attempt.refused is None:
            late = "did not come to it in time" if self.outer.timed_out else ""
            attempt.refused = f"its {self._run.transport.name} {late or _DROPPED}"

    def _cut_off(self) -> None:
        """
        Say that its engine was closed under it, where it has not come to an end before.
        """
        attempt = self._attempt
        if not self._run.transport.closed or attempt.fate is Fate.COMPLETED:
            return
        if attempt.timed_out or attempt.stop:
            return
        attempt.ended_by = attempt.refused = None
        attempt.revoke()

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

    def _open(self, read: Envelope) -> None:
        outer, attempt = self.outer, self._attempt
        attempt.started, attempt.fate = read.started, read.fate
        attempt.refused, attempt.ended_by = read.refused, read.ended_by
        if read.limit is not None:
            attempt.timed_out = True
            attempt.timeout, attempt.source = read.limit
        attempt.value, attempt.error = outer.value, outer.error
        attempt.encoded = outer.encoded
        why = (read.limit, read.refused, read.ended_by, attempt.error)
        if read.said is None and not any(why):
            self._ended_there()
        on_the_way = monotonic() - self._began - read.seconds
        facts_of(attempt.context).waited += max(0.0, on_the_way) + read.waited

    def _ended_there(self) -> None:
        """
        Say that somebody else has ended it, where it ran.
        """
        attempt = self._attempt
        if attempt.started:
            tool = attempt.context.tool
            attempt.ended_by = WorkerDiedError(tool=tool, exit_code=None)
        else:
            self._refuse()
