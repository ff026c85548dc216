"""
One question to somebody who has to approve of a call, and the time there is for it.
"""

from __future__ import annotations

import contextvars
import logging

from collections.abc import Generator
from typing import final

from .._calls import ToolRequest, ToolResult
from .._context import ToolContext, stand_around
from .._decisions import Answer, Approved, Decision, Denied, Suspend
from .._errors import is_fatal
from .._gate import Admitted
from .._isolation import Attempt
from .._texts import type_names
from ..exceptions import (
    ApprovalExpiredError,
    CallCancelledError,
    CallError,
    EngineBusyError,
    NotRunError,
)
from ..filters._approval import Approval
from ._attempts import Attempts, Step


logger = logging.getLogger("tooldecl")

_WORDS: dict[type[Decision], str] = {
    Approved: "approved",
    Denied: "denied",
    Answer: "answered",
    Suspend: "suspended",
}


class Over(Exception):  # noqa: N818 (a signal between frames of our own)
    """
    The call has its answer, without a body.
    """

    def __init__(self, result: ToolResult) -> None:
        super().__init__()
        self.result = result


@final
class Questions:
    """
    Asks about one call.
    """

    __slots__ = ("_call", "_incoming", "_meta", "_runtime")

    def __init__(self, call: Attempts) -> None:
        self._call = call
        self._runtime = call.runtime
        self._incoming = call.incoming
        self._meta = call.meta

    def ask(
        self, approval: Approval, admitted: Admitted
    ) -> Generator[Step, None, Decision]:
        """
        Ask, within the time there is for that.

        Raises:
            Over: There is no decision.
        """
        attempt = self._question(approval, admitted)
        if self._runtime.reports.hooks:
            self._runtime.reports.asked(
                self._incoming.call_id, self._meta.name, approval.expires
            )
        yield attempt
        error, value = attempt.error, attempt.value
        if attempt.timed_out:
            self._out_of_time(attempt, approval)
        if attempt.revoked:
            self._tell("failed")
            self._end(CallCancelledError(tool=self._meta.name, fate="not_started"))
        if attempt.refused is not None:
            self._end(EngineBusyError(tool=self._meta.name, reason=attempt.refused))
        if error is not None and is_fatal(error, self._runtime.stop_on):
            raise error
        if error is not None:
            self.fail(approval, ", ".join(type_names(error)), error)
        if type(value) not in _WORDS:
            self.fail(approval, "it gave no decision")
        decision: Decision = value

        return decision

    def _question(self, approval: Approval, admitted: Admitted) -> Attempt:
        request = ToolRequest(
            call_id=self._incoming.call_id,
            name=self._meta.name,
            arguments=admitted.arguments,
            meta=self._meta,
        )
        variables = contextvars.copy_context()
        variables.run(
            stand_around, self._incoming
        )  # whom it calls, it calls from inside
        attempt = Attempt(
            lambda _values, _context: approval.approver(request),
            {},
            ToolContext(self._incoming, 0),
            variables,
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
            self._end(NotRunError(tool=self._meta.name, reason=reason))
        self._end(ApprovalExpiredError(tool=self._meta.name, limit=approval.expires))

    def fail(
        self, approval: Approval, why: str, error: BaseException | None = None
    ) -> None:
        """
        Block a call about which nothing sensible was said.
        """
        self._tell("failed")
        text = "The approver %r failed for %r: %s."
        logger.warning(text, approval.name, self._meta.name, why)

        raise Over(self._call.blocked(approval.name, error))

    def tell(self, decision: Decision) -> None:
        """
        Tell the hooks what was decided.
        """
        self._tell(_WORDS[type(decision)])

    def _end(self, error: CallError) -> None:
        raise Over(self._call.refusal(error))

    def _tell(self, decision: str) -> None:
        if self._runtime.reports.hooks:
            self._runtime.reports.decided(
                self._incoming.call_id, self._meta.name, decision
            )
