"""
The fixed order of stages around one call, once for both colours.

`Call.flow` is a generator: it yields what has to wait (an `Attempt` to run, a `Pause`)
and is driven by `run_call` on a thread or by `arun_call` on a loop.
The matching page is docs/explanation/the-life-of-a-call.md.
"""

from __future__ import annotations

import contextvars
import logging

from collections.abc import Generator, Mapping
from typing import Any, TypeAlias, final

from ._answers import Answers
from ._calls import ToolRequest, ToolResult
from ._context import CallFacts, ToolContext
from ._errors import classify, is_fatal
from ._gate import Admitted, admit
from ._isolation import Attempt
from ._meta import ToolMeta
from ._retry import next_wait
from ._runtime import Incoming, Runtime
from ._terminal import resolve_timeout
from .exceptions import (
    CallCancelledError,
    CallError,
    EngineBusyError,
    GuardFailedError,
    NotFound,
    NotRunError,
    ToolTimeoutError,
)
from .filters._chain import through


__all__ = ["arun_call", "run_call"]

logger = logging.getLogger("tooldecl")


@final
class Pause:
    """
    A wait between two attempts, in seconds.
    """

    __slots__ = ("seconds",)

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds


Step: TypeAlias = Attempt | Pause
Flow: TypeAlias = Generator[Step, None, ToolResult]


def run_call(runtime: Runtime, incoming: Incoming) -> ToolResult:
    """
    Run one call on this thread.
    """
    call = Call(runtime, incoming)
    flow = call.flow()
    try:
        while (step := next(flow, None)) is not None:
            if isinstance(step, Attempt):
                runtime.terminal.invoke(step, call.meta)
            else:
                runtime.clock.sleep(step.seconds)
    except BaseException as error:
        flow.close()
        call.escape(error)
        raise

    return call.finish()


async def arun_call(runtime: Runtime, incoming: Incoming) -> ToolResult:
    """
    Run one call on the running loop.
    """
    call = Call(runtime, incoming)
    flow = call.flow()
    try:
        while (step := next(flow, None)) is not None:
            if isinstance(step, Attempt):
                await runtime.terminal.ainvoke(step, call.meta)
            else:
                await runtime.clock.asleep(step.seconds)
    except BaseException as error:
        flow.close()
        call.escape(error)
        raise

    return call.finish()


@final
class Call:
    """
    One call on its way through the stages.
    """

    __slots__ = (
        "_answers",
        "_incoming",
        "_inner",
        "_meta",
        "_outcome",
        "_request",
        "_runtime",
        "_started",
    )

    def __init__(self, runtime: Runtime, incoming: Incoming) -> None:
        self._runtime = runtime
        self._incoming = incoming
        self._started = runtime.clock.monotonic()
        self._answers = Answers(
            incoming.call_id, incoming.name, runtime.result_limit, runtime.on_overflow
        )
        self._meta: ToolMeta | None = None
        self._request: ToolRequest | None = None
        self._inner: ToolResult | None = None
        self._outcome: ToolResult | None = None

    @property
    def meta(self) -> ToolMeta:
        """
        What was declared about the tool, once the gate has found it.
        """
        if self._meta is None:
            raise AssertionError("unreachable")

        return self._meta

    def flow(self) -> Generator[Step, None, None]:
        """
        Go through the stages, yielding whatever has to wait; `finish` has the outcome.
        """
        runtime, incoming = self._runtime, self._incoming
        if runtime.reports:
            self._report_start()
        try:
            if incoming.refusal is not None:
                raise incoming.refusal
            self._check_time()
            admitted = admit(
                runtime.table, runtime.json_limits, incoming.name, incoming.arguments
            )
            self._meta = admitted.entry.meta
            self._answers.use_limits_of(self._meta)
            self._check_place()
        except CallError as error:
            self._outcome = self._answers.refusal(error)
            return
        if not runtime.filters:
            self._outcome = yield from self._run(admitted)
            return
        request = self._request = ToolRequest(
            call_id=incoming.call_id,
            name=self._meta.name,
            arguments=admitted.arguments,
            meta=self._meta,
        )
        self._outcome = yield from through(
            runtime.filters, request, self._run_request, self
        )

    def _check_time(self) -> None:
        deadline = self._incoming.deadline
        if deadline is not None and self._started >= deadline:
            reason = "the batch's time was over before it began"
            raise NotRunError(tool=self._incoming.name, reason=reason)

    def _check_place(self) -> None:
        """
        Refuse a call that the engine has no room for, or that its batch cannot bound.
        """
        runtime, meta = self._runtime, self.meta
        if runtime.max_abandoned is not None:
            count = len(runtime.ledger)
            if count >= runtime.max_abandoned:
                reason = f"{count} earlier calls were given up and may still be running"
                raise EngineBusyError(tool=meta.name, reason=reason)
        if self._incoming.deadline is not None and meta.isolation == "inline":
            reason = "isolation='inline' cannot be held to the batch's time limit"
            raise NotRunError(tool=meta.name, reason=reason)

    def _run_request(self, request: ToolRequest) -> Flow:
        """
        Run a request that passed the filters; its arguments pass the gate again.
        """
        try:
            admitted = self._gate_again(request.arguments)
        except CallError as error:
            self._inner = self._answers.refusal(error)
        else:
            self._inner = yield from self._run(admitted)

        return self._inner

    def _gate_again(self, arguments: Mapping[str, Any]) -> Admitted:
        runtime = self._runtime

        return admit(runtime.table, runtime.json_limits, self.meta.name, arguments)

    def _run(self, admitted: Admitted) -> Flow:
        """
        Run attempts until one succeeds or none may follow.
        """
        answers, retry = self._answers, self.meta.retry
        facts = self._facts(admitted)
        began = 0.0 if retry is None else self._runtime.clock.monotonic()
        previous: BaseException | None = None
        number = 0
        while True:
            number += 1
            attempt = self._new_attempt(admitted, facts, number, previous)
            yield attempt
            if attempt.error is None and not attempt.timed_out and not attempt.refused:
                return answers.success(attempt)
            error = self._error_of(attempt)
            wait = None if retry is None else self._next_wait(attempt, error, began)
            if self._runtime.reports:
                self._runtime.reports.failed(attempt.context, error, wait)
            if wait is None:
                return answers.failure(error, attempt)
            yield Pause(wait)
            # A body may have changed what it was given; the next one gets its own.
            admitted, previous = self._gate_again(admitted.arguments), error

    def _facts(self, admitted: Admitted) -> CallFacts:
        incoming, reports = self._incoming, self._runtime.reports

        return CallFacts(
            call_id=incoming.call_id,
            meta=self.meta,
            arguments=admitted.arguments,
            run_id=incoming.run_id,
            position=incoming.position,
            state=incoming.state,
            deps=incoming.deps,
            on_progress=reports.progress if reports else _no_progress,
        )

    def _new_attempt(
        self,
        admitted: Admitted,
        facts: CallFacts,
        number: int,
        previous: BaseException | None,
    ) -> Attempt:
        answers = self._answers
        attempt = Attempt(
            admitted.entry.call,
            admitted.values,
            ToolContext(facts, attempt=number, previous_error=previous),
            contextvars.copy_context(),
        )
        timeout, source = resolve_timeout(self.meta, self._runtime.engine_timeout)
        if self._incoming.deadline is not None:
            now = self._runtime.clock.monotonic()
            left = max(0.0, self._incoming.deadline - now)
            if timeout is None or left < timeout:
                timeout, source = left, "batch"
        attempt.timeout, attempt.source = timeout, source
        attempt.limit = answers.limit if answers.overflow == "fail" else None
        answers.attempt = attempt
        answers.attempts += 1

        return attempt

    def _error_of(self, attempt: Attempt) -> BaseException:
        """
        Return what went wrong in an attempt.

        Raises:
            BaseException: What the body raised, where that may not be contained.
        """
        tool = self.meta.name
        if attempt.refused is not None:
            self._answers.attempts -= 1
            reason = f"the system gives no thread for it ({attempt.refused})"
            return EngineBusyError(tool=tool, reason=reason)
        if attempt.timed_out:
            if attempt.timeout is None or attempt.source is None:
                raise AssertionError("unreachable")
            return ToolTimeoutError(
                tool=tool,
                timeout=attempt.timeout,
                source=attempt.source,
                fate=attempt.fate.value,
                attempts=self._answers.attempts,
            )
        if attempt.error is None:
            raise AssertionError("unreachable")
        if is_fatal(attempt.error, self._runtime.stop_on):
            raise attempt.error

        return attempt.error

    def _next_wait(
        self, attempt: Attempt, error: BaseException, began: float
    ) -> float | None:
        if isinstance(error, NotFound):
            return None
        clock = self._runtime.clock
        try:
            wait = next_wait(
                self.meta,
                attempt=attempt.context.attempt,
                error=error,
                fate=attempt.fate,
                spent=clock.monotonic() - began,
                rng=self._runtime.rng,
            )
        except Exception:  # the author's predicate failed: no reason to run it again
            logger.exception("The retry predicate of %r failed.", self.meta.name)
            return None
        deadline = self._incoming.deadline
        if wait is not None and deadline is not None:
            return wait if clock.monotonic() + wait < deadline else None

        return wait

    def wrap(self, value: object) -> ToolResult:
        """
        Make a result of a value that a filter returned in place of one.
        """
        return self._answers.value_of_filter(value)

    def filter_failed(
        self, name: str, error: Exception | None, result: ToolResult | None
    ) -> ToolResult:
        """
        Make the result of a call whose filter failed.

        Raises:
            Exception: *error*, where it may not be contained.
        """
        if error is not None and is_fatal(error, self._runtime.stop_on):
            raise error
        tool = self.meta.name
        guard = GuardFailedError(tool=tool, filter_name=name, ran=result is not None)
        guard.__cause__ = error
        logger.warning("The filter %r failed around %r.", name, tool, exc_info=error)
        failure = self._answers.refusal(guard)

        return failure if error is None else failure.replace(error_class=classify(error))

    def finish(self) -> ToolResult:
        """
        Return the one answer, within its limit, and tell the hooks.
        """
        result = self._outcome
        if result is None:
            raise AssertionError("unreachable")
        if self._request is not None:
            result = self._answers.checked(result, self._inner)
        result = self._stamped(self._answers.fitted(result))
        if self._runtime.reports:
            self._runtime.reports.finished(result)

        return result

    def escape(self, error: BaseException) -> None:
        """
        Tell the hooks of a call that gets no result: *error* leaves the client.
        """
        attempt = self._answers.attempt
        if not self._runtime.reports:
            return
        if attempt is not None and attempt.error is error:
            result = self._answers.failure(error, attempt)
        else:
            fate = self._answers.fate.value
            result = self._answers.refusal(
                CallCancelledError(tool=self._incoming.name, fate=fate)
            )
        self._runtime.reports.finished(self._stamped(result))

    def _stamped(self, result: ToolResult) -> ToolResult:
        """
        Write the times into a result that nobody else has seen yet.
        """
        incoming = self._incoming
        elapsed = self._runtime.clock.monotonic() - self._started
        object.__setattr__(result, "elapsed", elapsed)
        if incoming.queued_at is not None:
            object.__setattr__(result, "queue_wait", self._started - incoming.queued_at)
        if incoming.original_id is not None:
            object.__setattr__(result, "original_id", incoming.original_id)

        return result

    def _report_start(self) -> None:
        incoming = self._incoming
        meta = self._runtime.table.get(incoming.name)
        hidden = meta is not None and meta.sensitive
        self._runtime.reports.started(
            incoming.call_id, incoming.name, None if hidden else incoming.arguments
        )


def _no_progress(
    context: ToolContext, done: float, total: float | None, message: str | None
) -> None:
    """
    Nobody listens.
    """
