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

from .._calls import Fate, Status, ToolResult
from .._charging import Charge
from .._context import AROUND, seal
from .._gate import Admitted, admit
from .._isolation import Attempt, Stopped
from .._offload import is_too_long, kept
from ..exceptions import CallCancelledError, CallError
from ._admission import Admission
from ._approvals import Approvals
from ._attempts import Attempts, Flow
from ._driver import Step
from ._entrance import check_after, check_before
from ._layers import Layers


__all__ = ["Call"]


@final
class Call(Attempts):
    """
    One call on its way through the stages.
    """

    __slots__ = ("_outcome",)

    _outcome: ToolResult | None

    def surroundings(self) -> contextvars.Context | None:
        """
        Return what the steps of the flow run in, or None where nothing is needed.

        What filters set of context variables is for what they are around: it is seen
        by the body, and neither by the caller nor by the next call.
        """
        return contextvars.copy_context() if self.runtime.filters else None

    def enter(self) -> Admitted | None:
        """
        Go through the gate, and all that refuses a call at once; None when it is refused.
        """
        runtime, incoming = self.runtime, self.incoming
        self._outcome = None
        if runtime.reports.hooks:
            incoming.on_progress = runtime.reports.progress
            self._report_start()
        if incoming.listener is not None:
            incoming.on_progress = runtime.reports.progress_to(incoming.listener)
        try:
            check_before(incoming, self.started)
            admitted = admit(
                runtime.table, runtime.json_limits, incoming.name, incoming.given
            )
            meta = self.meta = incoming.meta = admitted.entry.meta
            way = self.way = runtime.ways[meta.name]
            self.limit, self.overflow = way.limit, way.overflow
            if incoming.charge is not None:
                # With filters, what is free for a call that they refuse is taken later.
                take = not (runtime.filters or meta.sensitive or meta.external)
                incoming.charge.look(meta.name, admitted.arguments, take=take)
            check_after(runtime, incoming, way)
        except CallError as error:
            if incoming.charge is not None:
                incoming.charge.refused(incoming.name, incoming.given, error)
            self._outcome = self.refusal(error)
            return None

        return admitted

    def start(self, admitted: Admitted) -> Attempt | None:
        """
        Return the first attempt of a straight call; None when it may not have one.
        """
        incoming = self.incoming
        if incoming.on_standing is not None:
            incoming.on_standing()
        first = self.first(admitted)
        if not isinstance(first, Attempt):
            self._outcome = first
            return None
        if incoming.signal is not None and incoming.signal.is_set:
            raise Stopped

        return first

    def end(self, attempt: Attempt) -> bool:
        """
        Take over what came of a first attempt; False when there may be another.
        """
        self._outcome = self.outcome(attempt)

        return self._outcome is not None

    def go_on(self, admitted: Admitted, done: Attempt) -> Generator[Step, None, None]:
        """
        Make what attempts there may be after the first one.
        """
        self._outcome = yield from self.run(admitted, done)

    def flow(self, admitted: Admitted) -> Generator[Step, None, None]:
        """
        Go through the further stages, yielding whatever has to wait.
        """
        incoming = self.incoming
        if self.runtime.max_concurrency is not None or isinstance(
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
        incoming = self.incoming
        admission = Admission(self.runtime, incoming, self.meta)
        try:
            yield admission
            if admission.refusal is not None:
                self._outcome = self.refusal(admission.refusal)
                return
            if self.runtime.filters:  # in surroundings of the call's own
                AROUND.set(incoming)
            self._outcome = yield from self._through_filters(admitted)
        finally:
            admission.leave()

    def _through_filters(self, admitted: Admitted) -> Flow:
        body: Attempts | Approvals = self
        if self.meta.sensitive or self.meta.external:
            body = Approvals(self)
        if not self.runtime.filters:
            return body.run(admitted)

        return Layers(self, body).run(admitted)

    def is_to_keep(self) -> bool:
        """
        Whether the text is too long, and goes to the client's store.
        """
        return self.overflow == "offload" and is_too_long(self._outcome, self.limit)

    def keep(self) -> None:
        """
        Put a text that is too long into the client's store; this waits for it.
        """
        if self._outcome is not None:
            self._outcome = kept(self._outcome, self, self.runtime.store)

    def finish(self) -> ToolResult:
        """
        Return the one answer, within its limit, and tell the hooks.
        """
        # Frames of a body that failed may keep this call, which must not keep them.
        result, self._outcome = self._outcome, None
        if result is None:
            raise AssertionError("unreachable")
        result = self._stamped(self.fitted(result))
        incoming = self.incoming
        if incoming.held is not None and result.status is not Status.PENDING:
            incoming.held = None  # a filter has made something else of it
        if incoming.charge is not None:
            self._settle(incoming.charge)
        if self.runtime.reports.hooks:
            self.runtime.reports.finished(result, self.attempt)
        self.attempt = None

        return result

    def escape(self, error: BaseException) -> None:
        """
        Note how a call ended, and tell the hooks: *error* leaves the client.
        """
        attempt, incoming = self.attempt, self.incoming
        if attempt is not None:
            seal(attempt.context, cancelled=attempt.error is not error)
        if incoming.charge is not None:
            self._settle(incoming.charge)
        if attempt is not None and attempt.error is error:
            if isinstance(error, KeyboardInterrupt):  # from outside, and into the body
                attempt.fate = Fate.STOPPED
                error = CallCancelledError(tool=incoming.name, fate=self.fate.value)
            raised = error is attempt.error
            result = self.failure(error, attempt, raised=raised)
        else:
            fate = self.fate.value
            result = self.refusal(CallCancelledError(tool=incoming.name, fate=fate))
        incoming.ended = self._stamped(self.fitted(result))
        if self.runtime.reports.hooks:
            self.runtime.reports.finished(incoming.ended, attempt)

    def _settle(self, charge: Charge) -> None:
        """
        Give back what the call was charged, where no body has begun.
        """
        held = self.incoming.held
        given_away = held is not None and held.kind == "external"
        charge.settle(ran=self.ran or given_away)

    def _stamped(self, result: ToolResult) -> ToolResult:
        """
        Write the times into a result that nobody else has seen yet.
        """
        incoming, waited = self.incoming, self.incoming.waited
        object.__setattr__(result, "elapsed", self.elapsed())
        if incoming.queued_at is not None:
            waited += self.started - incoming.queued_at
        if waited:
            object.__setattr__(result, "queue_wait", waited)
        if incoming.original_id is not None:
            object.__setattr__(result, "original_id", incoming.original_id)

        return result

    def _report_start(self) -> None:
        incoming = self.incoming
        self.runtime.reports.started(
            incoming.call_id,
            incoming.name,
            incoming.given,
            self.runtime.table.get(incoming.name),
        )
