"""
The last stage before a body: who has to approve the call, and who else may run it.

Invariants:

1. A decision counts for the tool and the very arguments that it was made about, and for
   one call: what has been changed since is asked about again.
2. Whoever is asked and fails, answers nonsense or answers too late lets nothing through.
3. What was decided about a call is not asked again, however often a filter runs it.
"""

from __future__ import annotations

import contextvars
import logging

from collections.abc import Generator
from typing import Any, final

from ._answers import Answers
from ._attempts import Attempts, Flow, Step
from ._calls import ToolRequest, ToolResult
from ._context import ToolContext
from ._decisions import Answer, Approved, Decision, Denied, Suspend
from ._errors import is_fatal
from ._gate import Admitted, admit
from ._held import Held, Kind
from ._isolation import Attempt
from ._jsonforms import JSON
from ._meta import ToolMeta
from ._runtime import Incoming, Runtime
from ._terminal import resolve_timeout
from ._texts import type_names
from .exceptions import (
    ApprovalDeniedError,
    ApprovalExpiredError,
    CallError,
    CallPendingError,
    EngineBusyError,
    NotRunError,
)
from .filters._approval import Approval


logger = logging.getLogger("tooldecl")

_WORDS: dict[type[Decision], str] = {
    Approved: "approved",
    Denied: "denied",
    Answer: "answered",
    Suspend: "suspended",
}


class _Over(Exception):  # noqa: N818 (a signal between two of our own frames)
    """
    The call has its answer, without a body.
    """

    def __init__(self, result: ToolResult) -> None:
        super().__init__()
        self.result = result


@final
class Approvals:
    """
    Runs an admitted call of a tool that is sensitive, or that somebody else runs.
    """

    __slots__ = (
        "_answers",
        "_attempts",
        "_decided",
        "_incoming",
        "_meta",
        "_runtime",
    )

    def __init__(
        self,
        runtime: Runtime,
        incoming: Incoming,
        answers: Answers,
        attempts: Attempts,
        meta: ToolMeta,
    ) -> None:
        self._runtime = runtime
        self._incoming = incoming
        self._answers = answers
        self._attempts = attempts
        self._meta = meta
        self._decided: dict[tuple[int, str], Decision] = {}

    def run(self, admitted: Admitted) -> Flow:
        """
        Run the body once everybody has approved of it.
        """
        asked = admitted.arguments
        try:
            if self._meta.sensitive:
                admitted = yield from self._approved(admitted)
            if self._meta.external:
                return self._from_elsewhere(asked, admitted)
        except _Over as over:
            return over.result
        except CallError as error:  # edited arguments that the gate refuses
            return self._answers.refusal(error)

        return (yield from self._attempts.run(admitted))

    def _approved(self, admitted: Admitted) -> Generator[Step, None, Admitted]:
        """
        Ask everybody in turn; return the call with what they have edited.

        Raises:
            _Over: Somebody did not approve.
            CallError: The gate refuses what somebody has edited.
        """
        asked, first = admitted.arguments, 0
        held = self._held_for(asked)
        if held is not None:  # approved so far, with these edits
            first = held.place
            admitted = self._with(admitted, held.arguments)
        for place, approval in enumerate(self._runtime.approvals):
            if place < first:
                continue
            decision = yield from self._decision(place, approval, admitted)
            match decision:
                case Approved(arguments=None):
                    continue
                case Approved(arguments=edited):
                    admitted = self._with(admitted, edited)
                case Denied(reason=reason):
                    self._over(ApprovalDeniedError(tool=self._meta.name, reason=reason))
                case Answer(text=text):
                    raise _Over(self._answers.given(text, text))
                case Suspend(expires=expires):
                    limit = expires if isinstance(expires, float) else None
                    self._hold("approval", asked, admitted, place, limit)

        return admitted

    def _held_for(self, asked: dict[str, Any]) -> Any:
        """
        Return how a resumed call was held, where it is still the same call.
        """
        resumed = self._incoming.resumed
        if resumed is None or resumed.held.asked != asked:
            return None

        return resumed.held

    def _with(self, admitted: Admitted, arguments: Any) -> Admitted:
        """
        Let the call through the gate with other arguments.
        """
        if arguments == admitted.arguments:
            return admitted
        runtime = self._runtime

        return admit(runtime.table, runtime.json_limits, self._meta.name, arguments)

    def _over(self, error: CallError) -> None:
        raise _Over(self._answers.refusal(error))

    def _decision(
        self, place: int, approval: Approval, admitted: Admitted
    ) -> Generator[Step, None, Decision]:
        """
        Return what is decided about the call, by whom it has not been decided yet.
        """
        key = place, JSON.encode(admitted.arguments)
        known = self._decided.get(key)
        if known is not None:
            return known
        resumed = self._incoming.resumed
        if (
            resumed is not None
            and resumed.decision is not None
            and (resumed.held.place, resumed.held.arguments)
            == (place, admitted.arguments)
        ):
            decision = resumed.decision
        else:
            decision = yield from self._ask(approval, admitted)
        if not isinstance(decision, Suspend):
            self._decided[key] = decision
        self._tell(_WORDS[type(decision)])

        return decision

    def _ask(
        self, approval: Approval, admitted: Admitted
    ) -> Generator[Step, None, Decision]:
        """
        Ask, within the time there is for that.

        Raises:
            _Over: There is no decision.
        """
        attempt = self._question(approval, admitted)
        if self._runtime.reports:
            self._runtime.reports.asked(
                self._incoming.call_id, self._meta.name, approval.expires
            )
        yield attempt
        error, value = attempt.error, attempt.value
        if attempt.timed_out:
            self._out_of_time(attempt, approval)
        if attempt.refused is not None:
            self._over(EngineBusyError(tool=self._meta.name, reason=attempt.refused))
        if error is not None and is_fatal(error, self._runtime.stop_on):
            raise error
        if error is not None or type(value) not in _WORDS:
            self._failed(approval, error)
        decision: Decision = value

        return decision

    def _question(self, approval: Approval, admitted: Admitted) -> Attempt:
        request = ToolRequest(
            call_id=self._incoming.call_id,
            name=self._meta.name,
            arguments=admitted.arguments,
            meta=self._meta,
        )
        attempt = Attempt(
            lambda _values, _context: approval.approver(request),
            {},
            ToolContext(self._incoming, attempt=0),
            contextvars.copy_context(),
        )
        attempt.is_async, attempt.aside = approval.is_async, True
        attempt.signal, attempt.apart = self._incoming.signal, self._incoming.apart
        attempt.timeout, attempt.source = approval.expires, "declared"
        if self._incoming.deadline is not None:
            left = self._incoming.deadline - self._runtime.clock.monotonic()
            attempt.keep_to_batch(max(0.0, left))

        return attempt

    def _out_of_time(self, attempt: Attempt, approval: Approval) -> None:
        self._tell("expired")
        if attempt.source == "batch":
            reason = "the batch's time was over before somebody decided about it"
            self._over(NotRunError(tool=self._meta.name, reason=reason))
        self._over(ApprovalExpiredError(tool=self._meta.name, limit=approval.expires))

    def _failed(self, approval: Approval, error: BaseException | None) -> None:
        """
        Block a call about which nothing sensible was said.
        """
        self._tell("failed")
        kinds = "it gave no decision" if error is None else ", ".join(type_names(error))
        text = "The approver %r failed for %r: %s."
        logger.warning(text, approval.name, self._meta.name, kinds)

        raise _Over(self._answers.blocked(approval.name, error))

    def _tell(self, decision: str) -> None:
        if self._runtime.reports:
            self._runtime.reports.decided(
                self._incoming.call_id, self._meta.name, decision
            )

    def _from_elsewhere(self, asked: dict[str, Any], admitted: Admitted) -> ToolResult:
        """
        Return the result that has come from elsewhere, or wait for it.
        """
        resumed = self._incoming.resumed
        if resumed is not None and resumed.result is not None:
            if self._incoming.charge is not None:
                self._incoming.charge.begin()
            made: ToolResult = resumed.result(self._answers)
            return made
        limit, _ = resolve_timeout(self._meta, self._runtime.engine_timeout)
        self._hold("external", asked, admitted, len(self._runtime.approvals), limit)

        raise AssertionError("unreachable")

    def _hold(
        self,
        kind: Kind,
        asked: dict[str, Any],
        admitted: Admitted,
        place: int,
        limit: float | None,
    ) -> None:
        self._incoming.held = Held(
            kind=kind,
            asked=asked,
            arguments=admitted.arguments,
            place=place,
            limit=limit,
        )
        self._over(CallPendingError(tool=self._meta.name, kind=kind))
