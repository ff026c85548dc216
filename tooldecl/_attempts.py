"""
The attempts of one call: run the body until it succeeds or may not be run again.

`Attempts.run` is a generator: it yields what has to wait (an `Attempt` to run, a `Pause`).
"""

from __future__ import annotations

import contextvars
import logging

from collections.abc import Generator
from typing import TypeAlias, final

from ._answers import Answers
from ._calls import Fate, ToolResult
from ._clock import monotonic
from ._context import ToolContext, no_progress, seal
from ._errors import is_fatal, leaves
from ._gate import Admitted, again
from ._isolation import Attempt, GeneratorTooLong
from ._meta import ToolMeta
from ._retry import next_wait
from ._runtime import Incoming, Runtime
from ._texts import type_names
from .exceptions import (
    CallCancelledError,
    CallError,
    EngineBusyError,
    NotFound,
    NotRunError,
    ToolTimeoutError,
)
from .filters._surround import Surround


logger = logging.getLogger("tooldecl")

_TOO_LATE = "the batch's time was over before its body began"


@final
class Pause:
    """
    A wait between two attempts, in seconds.
    """

    __slots__ = ("seconds",)

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds


Step: TypeAlias = Attempt | Pause | Surround
Flow: TypeAlias = Generator[Step, None, ToolResult]


@final
class Attempts:
    """
    Runs attempts of one admitted call.
    """

    __slots__ = ("_answers", "_began", "_incoming", "_meta", "_runtime")

    _began: float  # when the first attempt did, where there may be others

    def __init__(
        self, runtime: Runtime, incoming: Incoming, answers: Answers, meta: ToolMeta
    ) -> None:
        self._runtime = runtime
        self._incoming = incoming
        self._answers = answers
        self._meta = meta

    def run(self, admitted: Admitted, done: Attempt | None = None) -> Flow:
        """
        Run attempts until one succeeds or none may follow.

        Args:
            done: The first one, where it has been made already.
        """
        answers = self._answers
        previous: BaseException | None = None
        attempt: Attempt | ToolResult = done or self.first(admitted)
        while isinstance(attempt, Attempt):
            try:
                if attempt is not done:
                    yield attempt
            except GeneratorExit:  # a filter has cancelled it, or its caller was
                seal(attempt.context, cancelled=True)
                raise
            if self.is_last(attempt):
                return self.outcome(attempt)
            error = self._error_of(attempt)
            raised = error is attempt.error
            wait = self._next_wait(attempt, error)
            self._tell(attempt, error, wait)
            if wait is None:
                return answers.failure(error, attempt, raised=raised)
            yield Pause(wait)
            if self._incoming.is_stopped:
                return answers.failure(error, attempt, raised=raised)
            try:
                # A body may have changed what it was given; the next one gets its own.
                admitted, previous = again(admitted), error
            except CallError:  # a check of the tool's author that changed its mind
                return answers.failure(error, attempt, raised=raised)
            attempt = self._new_attempt(admitted, attempt.context.attempt + 1, previous)

        return attempt

    def first(self, admitted: Admitted) -> Attempt | ToolResult:
        """
        Return the first attempt, or the answer to a call that may not have one.
        """
        incoming = self._incoming
        incoming.arguments = admitted.arguments
        if self._meta.retry is not None:
            self._began = self._runtime.clock.monotonic()
        try:
            deadline, now = incoming.deadline, self._runtime.clock.monotonic
            if deadline is not None and now() >= deadline:  # while filters had it
                raise NotRunError(tool=self._meta.name, reason=_TOO_LATE)
            if incoming.stop is not None:
                incoming.check_run()
            if incoming.charge is not None:
                incoming.charge.begin()
        except CallError as refusal:
            return self._answers.refusal(refusal)

        return self._new_attempt(admitted, 1, None)

    def is_last(self, attempt: Attempt) -> bool:
        """
        Whether there is no other attempt, whatever came of this one.
        """
        return self._meta.retry is None or attempt.went_well

    def outcome(self, attempt: Attempt) -> ToolResult:
        """
        Return the result of an attempt after which there is no other.
        """
        if not attempt.went_well:
            error = self._error_of(attempt)
            raised = error is attempt.error
            self._tell(attempt, error, None)
            return self._answers.failure(error, attempt, raised=raised)
        if attempt.began is not None:
            attempt.ended = self._runtime.clock.monotonic()
        result = self._answers.success(attempt)
        if result.error is not None:  # our own words, without a value
            cause = None if self._meta.sensitive else result.error.__cause__
            logger.warning("%s", result.error, exc_info=cause)

        return result

    def _new_attempt(
        self, admitted: Admitted, number: int, previous: BaseException | None
    ) -> Attempt:
        answers, deadline = self._answers, self._incoming.deadline
        attempt = Attempt(
            admitted.entry.call,
            admitted.values,
            ToolContext(self._incoming, attempt=number, previous_error=previous),
            contextvars.copy_context(),
        )
        attempt.is_async = self._meta.is_async
        way = self._runtime.ways[self._meta.name]
        attempt.where, attempt.timeout, attempt.source = way[:3]
        if deadline is not None:
            left = max(0.0, deadline - self._runtime.clock.monotonic())
            attempt.keep_to_batch(left)
            attempt.batch_until = monotonic() + left
        attempt.signal, attempt.apart = self._incoming.signal, self._incoming.apart
        attempt.limit = answers.limit if answers.overflow == "fail" else None
        if self._incoming.on_progress is not no_progress:  # somebody listens
            attempt.began = self._runtime.clock.monotonic()
        answers.begin(attempt)

        return attempt

    def _error_of(self, attempt: Attempt) -> BaseException:
        """
        Return what went wrong in an attempt.

        Raises:
            BaseException: What the body raised, where that may not be contained.
        """
        tool = self._meta.name
        # What a body raises that was given up is no part of the outcome any more.
        raised = None if attempt.fate is Fate.ABANDONED else attempt.error
        if raised is not None and is_fatal(raised, self._runtime.stop_on):
            raise raised
        if attempt.ended_by is not None:
            if not attempt.started:
                self._answers.take_back()
            return attempt.ended_by
        if attempt.refused is not None:
            self._answers.take_back()
            return EngineBusyError(tool=tool, reason=attempt.refused)
        if attempt.timed_out:
            if attempt.timeout is None or attempt.source is None:
                raise AssertionError("unreachable")
            if not attempt.started:
                self._answers.take_back()
                if attempt.source == "batch":
                    return NotRunError(tool=tool, reason=_TOO_LATE)
            return ToolTimeoutError(
                tool=tool,
                timeout=attempt.timeout,
                source=attempt.source,
                fate=attempt.fate.value,
                attempts=self._answers.attempts,
            )
        if attempt.revoked:
            if not attempt.started:
                self._answers.take_back()
            return CallCancelledError(tool=tool, fate=attempt.fate.value)
        if raised is None:
            raise AssertionError("unreachable")

        return raised

    def _next_wait(self, attempt: Attempt, error: BaseException) -> float | None:
        """
        Return the wait before the next attempt, or None where there is none.

        Raises:
            BaseException: What the author's predicate raised, where that may not be
                contained.
        """
        if _is_final(error) or self._incoming.is_stopped:
            return None
        runtime, deadline = self._runtime, self._deadline()
        try:
            wait = next_wait(
                self._meta,
                attempt=attempt.context.attempt,
                error=error,
                fate=attempt.fate,
                spent=runtime.clock.monotonic() - self._began,
                rng=runtime.rng,
            )
        except BaseException as failure:  # the author's predicate may raise anything
            if is_fatal(failure, runtime.stop_on):
                raise
            self._log_types("Whether to repeat %r cannot be decided: %s.", failure)
            return None
        if wait is None or deadline is None:
            return wait

        return wait if runtime.clock.monotonic() + wait < deadline else None

    def _deadline(self) -> float | None:
        """
        Return when no further attempt may begin: the batch's time or a budget is over.
        """
        deadline, charge = self._incoming.deadline, self._incoming.charge
        until = None if charge is None else charge.until()
        ends = [end for end in (deadline, until) if end is not None]

        return min(ends, default=None)

    def _tell(self, attempt: Attempt, error: BaseException, wait: float | None) -> None:
        """
        Tell the host's log of what a body raised, and the hooks of every failure.
        """
        if not _is_finding(error):
            if error is attempt.error:
                self._log_types("Tool %r failed: %s.", error)
            if attempt.began is not None:
                self._runtime.reports.failed(attempt, error, wait)
        if attempt.fate is not Fate.ABANDONED:
            attempt.error = None  # its traceback leads to frames that hold this one

    def _log_types(self, text: str, error: BaseException) -> None:
        # What a sensitive tool raises may hold the values it was given.
        shown = None if self._meta.sensitive else error
        kinds = ", ".join(type_names(error))
        logger.warning(text, self._meta.name, kinds, exc_info=shown)


def _is_finding(error: BaseException) -> bool:
    """
    Whether a body ran well and found nothing.
    """
    return all(isinstance(leaf, NotFound) for leaf in leaves(error))


def _is_final(error: BaseException) -> bool:
    """
    Whether another attempt could only end in the same way, whatever `Retry` says.
    """
    if isinstance(error, (CallCancelledError, GeneratorTooLong)):
        return True

    return _is_finding(error)
