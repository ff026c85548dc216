"""
The attempts of one call: run the body until it succeeds or may not be run again.

`Attempts.run` is a generator: it yields what has to wait (an `Attempt` to run, a `Pause`).
"""

from __future__ import annotations

import logging

from collections.abc import Generator
from contextvars import copy_context
from typing import TypeAlias, final

from .._answers import Answers
from .._calls import Fate, ToolResult
from .._clock import monotonic
from .._context import ToolContext, seal
from .._errors import is_fatal, is_finding
from .._gate import Admitted, again
from .._isolation import Attempt, GeneratorTooLong
from .._meta import ToolMeta
from .._retry import next_wait
from .._runtime import Incoming, Runtime
from .._texts import type_names
from .._ways import Way
from ..exceptions import (
    CallCancelledError,
    CallError,
    EngineBusyError,
    NotRunError,
    ToolTimeoutError,
)
from ..filters._surround import Surround


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


class Attempts(Answers):
    """
    Runs attempts of one call, and makes its results.

    Attributes:
        runtime: The client's part.
        incoming: The call, as it came in.
        started: When it did, on the client's clock.
        meta: What was declared about its tool, once the gate has found it.
        way: How its tool is run, likewise.
    """

    __slots__ = ("_began", "incoming", "meta", "runtime", "started", "way")

    meta: ToolMeta
    way: Way
    _began: float  # when the first attempt did, where there may be others

    def __init__(self, runtime: Runtime, incoming: Incoming) -> None:
        Answers.__init__(self, incoming.call_id, incoming.name)
        self.limit, self.overflow = runtime.result_limit, runtime.on_overflow
        self.runtime = runtime
        self.incoming = incoming
        self.started = runtime.clock.monotonic()

    def elapsed(self) -> float:
        """
        Return the seconds since the call came in, without those that it has waited.
        """
        elapsed = self.runtime.clock.monotonic() - self.started - self.incoming.waited
        if elapsed < 0.0:  # what it waited for in a pool is taken from another clock
            return 0.0

        return elapsed

    def run(self, admitted: Admitted, done: Attempt | None = None) -> Flow:
        """
        Run attempts until one succeeds or none may follow.

        Args:
            done: The first one, where it has been made already.
        """
        previous: BaseException | None = None
        attempt: Attempt | ToolResult = done or self.first(admitted)
        while isinstance(attempt, Attempt):
            try:
                if attempt is not done:
                    yield attempt
            except GeneratorExit:  # a filter has cancelled it, or its caller was
                seal(attempt.context, cancelled=True)
                raise
            result = self.outcome(attempt)
            if result is not None:
                return result
            error = self._error_of(attempt)
            raised = error is attempt.error
            wait = self._next_wait(attempt, error)
            self._tell(attempt, error, wait)
            if wait is None:
                return self.failure(error, attempt, raised=raised)
            yield Pause(wait)
            if self.incoming.is_stopped:
                return self.failure(error, attempt, raised=raised)
            try:
                # A body may have changed what it was given; the next one gets its own.
                admitted, previous = again(admitted), error
            except CallError:  # a check of the tool's author that changed its mind
                return self.failure(error, attempt, raised=raised)
            attempt = self._new_attempt(admitted, attempt.context.attempt + 1, previous)

        return attempt

    def first(self, admitted: Admitted) -> Attempt | ToolResult:
        """
        Return the first attempt, or the answer to a call that may not have one.
        """
        incoming = self.incoming
        incoming.arguments = admitted.arguments
        if self.meta.retry is not None:
            self._began = self.runtime.clock.monotonic()
        try:
            deadline, now = incoming.deadline, self.runtime.clock.monotonic
            if deadline is not None and now() >= deadline:  # while filters had it
                raise NotRunError(tool=self.meta.name, reason=_TOO_LATE)
            if incoming.stop is not None:
                incoming.check_run()
            if incoming.charge is not None:
                incoming.charge.begin()
        except CallError as refusal:
            return self.refusal(refusal)

        return self._new_attempt(admitted, 1, None)

    def outcome(self, attempt: Attempt) -> ToolResult | None:
        """
        Return the result of an attempt, or None where there may be another one after it.
        """
        if attempt.went_well():
            if attempt.began is not None:
                attempt.ended = self.runtime.clock.monotonic()
            result = self.success(attempt)
            if result.error is not None:  # our own words, without a value
                cause = None if self.meta.sensitive else result.error.__cause__
                logger.warning("%s", result.error, exc_info=cause)
            return result
        if self.meta.retry is not None:
            return None
        error = self._error_of(attempt)
        raised = error is attempt.error
        self._tell(attempt, error, None)

        return self.failure(error, attempt, raised=raised)

    def _new_attempt(
        self, admitted: Admitted, number: int, previous: BaseException | None
    ) -> Attempt:
        incoming, way = self.incoming, self.way
        attempt = Attempt(
            admitted.entry.call,
            admitted.values,
            ToolContext(incoming, number, previous),
            copy_context(),
            self.meta.is_async,
            way.where,
            way.timeout,
            way.source,
        )
        if incoming.deadline is not None:
            left = max(0.0, incoming.deadline - self.runtime.clock.monotonic())
            attempt.keep_to_batch(left)
            attempt.batch_until = monotonic() + left
        attempt.signal, attempt.apart = incoming.signal, incoming.apart
        if self.overflow == "fail":
            attempt.limit = self.limit
        if self.runtime.reports.hooks:
            attempt.began = self.runtime.clock.monotonic() - incoming.waited
        self.begin(attempt)

        return attempt

    def _error_of(self, attempt: Attempt) -> BaseException:
        """
        Return what went wrong in an attempt.

        Raises:
            BaseException: What the body raised, where that may not be contained.
        """
        tool = self.meta.name
        # What a body raises that was given up is no part of the outcome any more.
        raised = None if attempt.fate is Fate.ABANDONED else attempt.error
        if raised is not None and is_fatal(raised, self.runtime.stop_on):
            raise raised
        if not attempt.started:
            self.take_back()
        if attempt.ended_by is not None:
            return attempt.ended_by
        if attempt.refused is not None:
            return EngineBusyError(tool=tool, reason=attempt.refused)
        if attempt.timed_out:
            if attempt.timeout is None or attempt.source is None:
                raise AssertionError("unreachable")
            if attempt.source == "batch" and not attempt.started:
                return NotRunError(tool=tool, reason=_TOO_LATE)
            return ToolTimeoutError(
                tool=tool,
                timeout=attempt.timeout,
                source=attempt.source,
                fate=attempt.fate.value,
                attempts=self.attempts,
            )
        if attempt.revoked:
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
        if _is_final(error) or self.incoming.is_stopped:
            return None
        runtime, deadline = self.runtime, self._deadline()
        try:
            wait = next_wait(
                self.meta,
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
        deadline, charge = self.incoming.deadline, self.incoming.charge
        until = None if charge is None else charge.until()
        ends = [end for end in (deadline, until) if end is not None]

        return min(ends, default=None)

    def _tell(self, attempt: Attempt, error: BaseException, wait: float | None) -> None:
        """
        Tell the host's log of what a body raised, and the hooks of every failure.
        """
        if not is_finding(error):
            if error is attempt.error:
                self._log_types("Tool %r failed: %s.", error)
            if self.runtime.reports.hooks:
                self.runtime.reports.failed(attempt, error, wait)
        if attempt.fate is not Fate.ABANDONED:
            attempt.error = None  # its traceback leads to frames that hold this one

    def _log_types(self, text: str, error: BaseException) -> None:
        # What a sensitive tool raises may hold the values it was given.
        shown = None if self.meta.sensitive else error
        kinds = ", ".join(type_names(error))
        logger.warning(text, self.meta.name, kinds, exc_info=shown)


def _is_final(error: BaseException) -> bool:
    """
    Whether another attempt could only end in the same way, whatever `Retry` says.
    """
    final = isinstance(error, (CallCancelledError, GeneratorTooLong))

    return final or is_finding(error)
