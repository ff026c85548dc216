"""
The fixed order of stages around one call, once for both colours.

`Call.flow` is a generator: it yields what has to wait (an `Attempt` to run, a `Pause`)
and is driven by `run_call` on a thread or by `arun_call` on a loop.
The matching page is docs/explanation/the-life-of-a-call.md.
"""

from __future__ import annotations

import contextvars

from collections.abc import Callable, Generator
from typing import Any, final

from ._answers import Answers
from ._attempts import Attempts, Step
from ._calls import ToolResult
from ._context import seal
from ._gate import admit
from ._isolation import Attempt
from ._layers import Layers
from ._meta import ToolMeta
from ._runtime import Incoming, Runtime
from .exceptions import CallCancelledError, CallError, EngineBusyError, NotRunError


__all__ = ["arun_call", "run_call"]


def run_call(runtime: Runtime, incoming: Incoming) -> ToolResult:
    """
    Run one call on this thread.
    """
    call = Call(runtime, incoming)
    flow, run = call.flow(), call.surroundings()
    try:
        while (step := run(next, flow, None) if run else next(flow, None)) is not None:
            if isinstance(step, Attempt):
                runtime.terminal.invoke(step, call.meta)
            else:
                runtime.clock.sleep(step.seconds)
    except BaseException as error:
        run(flow.close) if run else flow.close()
        call.escape(error)
        raise

    return call.finish()


async def arun_call(runtime: Runtime, incoming: Incoming) -> ToolResult:
    """
    Run one call on the running loop.
    """
    call = Call(runtime, incoming)
    flow, run = call.flow(), call.surroundings()
    try:
        while (step := run(next, flow, None) if run else next(flow, None)) is not None:
            if isinstance(step, Attempt):
                await runtime.terminal.ainvoke(step, call.meta)
            else:
                await runtime.clock.asleep(step.seconds)
    except BaseException as error:
        run(flow.close) if run else flow.close()
        call.escape(error)
        raise

    return call.finish()


@final
class Call:
    """
    One call on its way through the stages.

    Attributes:
        meta: What was declared about the tool, once the gate has found it.
    """

    __slots__ = ("_answers", "_incoming", "_outcome", "_runtime", "_started", "meta")

    meta: ToolMeta

    def __init__(self, runtime: Runtime, incoming: Incoming) -> None:
        self._runtime = runtime
        self._incoming = incoming
        self._started = runtime.clock.monotonic()
        self._answers = Answers(
            incoming.call_id, incoming.name, runtime.result_limit, runtime.on_overflow
        )
        self._outcome: ToolResult | None = None

    def surroundings(self) -> Callable[..., Any] | None:
        """
        Return what the steps of the flow run in, or None where nothing is needed.

        What filters set of context variables is for what they are around: it is seen
        by the body, and neither by the caller nor by the next call.
        """
        return contextvars.copy_context().run if self._runtime.filters else None

    def flow(self) -> Generator[Step, None, None]:
        """
        Go through the stages, yielding whatever has to wait; `finish` has the outcome.
        """
        runtime, incoming, answers = self._runtime, self._incoming, self._answers
        if runtime.reports:
            incoming.on_progress = runtime.reports.progress
            self._report_start()
        try:
            if incoming.refusal is not None:
                raise incoming.refusal
            if incoming.deadline is not None:
                self._check_time(incoming.deadline)
            admitted = admit(
                runtime.table, runtime.json_limits, incoming.name, incoming.given
            )
            self.meta = incoming.meta = admitted.entry.meta
            answers.use_limits_of(self.meta)
            if runtime.max_abandoned is not None or incoming.deadline is not None:
                self._check_place()
        except CallError as error:
            self._outcome = answers.refusal(error)
            return
        attempts = Attempts(runtime, incoming, answers, self.meta)
        if runtime.filters:
            layers = Layers(runtime, incoming, answers, attempts, self._elapsed)
            self._outcome = yield from layers.run(admitted)
        else:
            self._outcome = yield from attempts.run(admitted)

    def _elapsed(self) -> float:
        return self._runtime.clock.monotonic() - self._started

    def _check_time(self, deadline: float) -> None:
        if self._started >= deadline:
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
                calls = (
                    "1 earlier call was"
                    if count == 1
                    else f"{count} earlier calls were"
                )
                reason = f"{calls} given up and may still be running"
                raise EngineBusyError(tool=meta.name, reason=reason)
        if self._incoming.deadline is not None and meta.isolation == "inline":
            reason = "isolation='inline' cannot be held to the batch's time limit"
            raise NotRunError(tool=meta.name, reason=reason)

    def finish(self) -> ToolResult:
        """
        Return the one answer, within its limit, and tell the hooks.
        """
        # Frames of a body that failed may keep this call, which must not keep them.
        result, self._outcome = self._outcome, None
        if result is None:
            raise AssertionError("unreachable")
        result = self._stamped(self._answers.fitted(result))
        self._answers.attempt = None
        if self._runtime.reports:
            self._runtime.reports.finished(result)

        return result

    def escape(self, error: BaseException) -> None:
        """
        Tell the hooks of a call that gets no result: *error* leaves the client.
        """
        attempt = self._answers.attempt
        if attempt is not None:
            seal(attempt.context, cancelled=attempt.error is not error)
        if not self._runtime.reports:
            return
        if attempt is not None and attempt.error is error:
            result = self._answers.failure(error, attempt, raised=True)
        else:
            fate = self._answers.fate.value
            result = self._answers.refusal(
                CallCancelledError(tool=self._incoming.name, fate=fate)
            )
        self._runtime.reports.finished(self._stamped(self._answers.fitted(result)))

    def _stamped(self, result: ToolResult) -> ToolResult:
        """
        Write the times into a result that nobody else has seen yet.
        """
        incoming = self._incoming
        object.__setattr__(result, "elapsed", self._elapsed())
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
            incoming.call_id, incoming.name, None if hidden else incoming.given
        )
