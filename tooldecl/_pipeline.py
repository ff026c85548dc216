"""
The fixed order of stages around one call, once for both colours.

`Call.flow` is a generator: it yields what has to wait (an `Admission`, an `Attempt` to
run, a `Pause`). `_running` drives it on a thread or on a loop; a call that has nothing
to wait for but one run of its body goes straight, through the same stages.
The matching page is docs/explanation/the-life-of-a-call.md.
"""

from __future__ import annotations

import contextvars

from collections.abc import Generator
from typing import final

from ._admission import Admission
from ._answers import Answers
from ._approvals import Approvals
from ._attempts import Attempts, Flow
from ._calls import Status, ToolResult
from ._context import AROUND, seal
from ._driver import Step
from ._entrance import check_after, check_before
from ._gate import Admitted, admit
from ._isolation import Attempt, Stopped
from ._layers import Layers
from ._meta import ToolMeta
from ._offload import is_to_keep, kept
from ._runtime import Incoming, Runtime
from .exceptions import CallCancelledError, CallError


__all__ = ["Call"]


@final
class Call:
    """
    One call on its way through the stages.

    Attributes:
        meta: What was declared about the tool, once the gate has found it.
    """

    __slots__ = (
        "_answers",
        "_attempts",
        "_incoming",
        "_outcome",
        "_runtime",
        "_started",
        "meta",
    )

    meta: ToolMeta
    _attempts: Attempts

    def __init__(self, runtime: Runtime, incoming: Incoming) -> None:
        self._runtime = runtime
        self._incoming = incoming
        self._started = runtime.clock.monotonic()
        self._answers = Answers(
            incoming.call_id, incoming.name, runtime.result_limit, runtime.on_overflow
        )
        self._outcome: ToolResult | None = None

    def surroundings(self) -> contextvars.Context | None:
        """
        Return what the steps of the flow run in, or None where nothing is needed.

        What filters set of context variables is for what they are around: it is seen
        by the body, and neither by the caller nor by the next call.
        """
        return contextvars.copy_context() if self._runtime.filters else None

    def enter(self) -> Admitted | None:
        """
        Go through the gate, and all that refuses a call at once; None when it is refused.
        """
        runtime, incoming, answers = self._runtime, self._incoming, self._answers
        if runtime.reports:
            incoming.on_progress = runtime.reports.progress
            self._report_start()
        if incoming.listener is not None:
            incoming.on_progress = runtime.reports.progress_to(incoming.listener)
        try:
            check_before(incoming, self._started)
            admitted = admit(
                runtime.table, runtime.json_limits, incoming.name, incoming.given
            )
            self.meta = incoming.meta = admitted.entry.meta
            answers.use_limits_of(self.meta)
            if incoming.charge is not None:
                # With filters, what is free for a call that they refuse is taken later.
                meta = self.meta
                take = not (runtime.filters or meta.sensitive or meta.external)
                incoming.charge.look(self.meta.name, admitted.arguments, take=take)
            check_after(runtime, incoming)
        except CallError as error:
            if incoming.charge is not None:
                incoming.charge.refused(incoming.name, incoming.given, error)
            self._outcome = answers.refusal(error)
            return None

        return admitted

    @property
    def is_straight(self) -> bool:
        """
        Whether there is nothing to wait for but one run of the body.
        """
        return self._runtime.ways[self.meta.name].is_straight

    def begin(self, admitted: Admitted) -> Attempt | None:
        """
        Return the first attempt of a straight call; None when it may not have one.
        """
        runtime, incoming = self._runtime, self._incoming
        if incoming.on_standing is not None:
            incoming.on_standing()
        self._attempts = Attempts(runtime, incoming, self._answers, self.meta)
        first = self._attempts.first(admitted)
        if isinstance(first, ToolResult):
            self._outcome = first
            return None
        if incoming.signal is not None and incoming.signal.is_set:
            raise Stopped

        return first

    def end(self, attempt: Attempt) -> bool:
        """
        Take over what came of a first attempt; False when there may be another.
        """
        if not self._attempts.is_last(attempt):
            return False
        self._outcome = self._attempts.outcome(attempt)

        return True

    def go_on(self, admitted: Admitted, done: Attempt) -> Generator[Step, None, None]:
        """
        Make what attempts there may be after the first one.
        """
        self._outcome = yield from self._attempts.run(admitted, done)

    def flow(self, admitted: Admitted) -> Generator[Step, None, None]:
        """
        Go through the further stages, yielding whatever has to wait.
        """
        incoming = self._incoming
        if self._runtime.max_concurrency is not None or isinstance(
            self.meta.serial, str
        ):
            yield from self._admitted(admitted)
            return
        if incoming.on_standing is not None:
            incoming.on_standing()
        self._outcome = yield from self._through_filters(admitted)

    def _admitted(self, admitted: Admitted) -> Generator[Step, None, None]:
        """
        Wait for the call's turn, and give back what it holds when it has its answer.
        """
        incoming = self._incoming
        admission = Admission(self._runtime, incoming, self.meta)
        try:
            yield admission
            if admission.refusal is not None:
                self._outcome = self._answers.refusal(admission.refusal)
                return
            if self._runtime.filters:  # in surroundings of the call's own
                AROUND.set(incoming)
            self._outcome = yield from self._through_filters(admitted)
        finally:
            admission.leave()

    def _through_filters(self, admitted: Admitted) -> Flow:
        runtime, incoming, answers = self._runtime, self._incoming, self._answers
        attempts = Attempts(runtime, incoming, answers, self.meta)
        body: Attempts | Approvals = attempts
        if self.meta.sensitive or self.meta.external:
            body = Approvals(runtime, incoming, answers, attempts, self.meta)
        if not runtime.filters:
            return body.run(admitted)
        layers = Layers(runtime, incoming, answers, body, self._elapsed)

        return layers.run(admitted)

    def _elapsed(self) -> float:
        now = self._runtime.clock.monotonic()

        return max(0.0, now - self._started - self._incoming.waited)

    @property
    def is_to_keep(self) -> bool:
        """
        Whether the text is too long, and goes to the client's store.
        """
        return is_to_keep(self._outcome, self._answers)

    def keep(self) -> None:
        """
        Put a text that is too long into the client's store; this waits for it.
        """
        if self.is_to_keep and self._outcome is not None:
            self._outcome = kept(self._outcome, self._answers, self._runtime.store)

    def finish(self) -> ToolResult:
        """
        Return the one answer, within its limit, and tell the hooks.
        """
        # Frames of a body that failed may keep this call, which must not keep them.
        result, self._outcome = self._outcome, None
        if result is None:
            raise AssertionError("unreachable")
        result = self._stamped(self._answers.fitted(result))
        if (
            result.status is not Status.PENDING
        ):  # a filter has made something else of it
            self._incoming.held = None
        self._settle()
        if self._runtime.reports:
            self._runtime.reports.finished(result, self._answers.attempt)
        self._answers.attempt = None

        return result

    def escape(self, error: BaseException) -> None:
        """
        Note how a call ended, and tell the hooks: *error* leaves the client.
        """
        attempt = self._answers.attempt
        if attempt is not None:
            seal(attempt.context, cancelled=attempt.error is not error)
        self._settle()
        if attempt is not None and attempt.error is error:
            result = self._answers.failure(error, attempt, raised=True)
        else:
            fate = self._answers.fate.value
            result = self._answers.refusal(
                CallCancelledError(tool=self._incoming.name, fate=fate)
            )
        ended = self._incoming.ended = self._stamped(self._answers.fitted(result))
        if self._runtime.reports:
            self._runtime.reports.finished(ended, attempt)

    def _settle(self) -> None:
        """
        Give back what the call was charged, where no body has begun.
        """
        charge, held = self._incoming.charge, self._incoming.held
        if charge is not None:
            given_away = held is not None and held.kind == "external"
            charge.settle(ran=self._answers.ran or given_away)

    def _stamped(self, result: ToolResult) -> ToolResult:
        """
        Write the times into a result that nobody else has seen yet.
        """
        incoming = self._incoming
        object.__setattr__(result, "elapsed", self._elapsed())
        if incoming.queued_at is not None:
            queue_wait = self._started - incoming.queued_at + incoming.waited
            object.__setattr__(result, "queue_wait", queue_wait)
        elif incoming.waited:
            object.__setattr__(result, "queue_wait", incoming.waited)
        if incoming.original_id is not None:
            object.__setattr__(result, "original_id", incoming.original_id)

        return result

    def _report_start(self) -> None:
        incoming = self._incoming
        self._runtime.reports.started(
            incoming.call_id,
            incoming.name,
            incoming.given,
            self._runtime.table.get(incoming.name),
        )
