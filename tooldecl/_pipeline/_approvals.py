"""
The last stage before a body: who has to approve the call, and who else may run it.

Invariants:

1. A decision counts for the tool and the very arguments that it was made about, and for
   one call: what has been changed since is asked about again.
2. Whoever is asked and fails, answers nonsense or answers too late lets nothing through.
3. What was decided about a call is not asked again, however often a filter runs it.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, final

from .._calls import ToolResult
from .._decisions import Answer, Approved, Decision, Denied, Suspend
from .._gate import Admitted, admit
from .._held import Held, Kind
from .._jsonforms import JSON
from .._texts import whole_characters
from ..exceptions import (
    ApprovalDeniedError,
    CallError,
    CallPendingError,
)
from ..filters._approval import Approval
from ._attempts import Attempts, Flow, Step
from ._questions import Over, Questions


# So many times may those who are asked edit what the others have approved of.
MOST_EDITS = 10


@final
class Approvals:
    """
    Runs an admitted call of a tool that is sensitive, or that somebody else runs.
    """

    __slots__ = ("_call", "_decided", "_incoming", "_meta", "_questions", "_runtime")

    def __init__(self, call: Attempts) -> None:
        self._call = call
        self._runtime = call.runtime
        self._incoming = call.incoming
        self._meta = call.meta
        self._questions = Questions(call)
        self._decided: dict[tuple[int, str], Decision] = {}

    def run(self, admitted: Admitted) -> Flow:
        """
        Run the body once everybody has approved of it.
        """
        resumed, asked = self._incoming.resumed, admitted.arguments
        if resumed is not None and resumed.result is not None:
            made: ToolResult = resumed.result(self._call)  # it has run, elsewhere
            return made
        try:
            if self._meta.sensitive:
                admitted = yield from self._approved(admitted)
            if self._meta.external:
                self._give_away(asked, admitted)
        except Over as over:
            return over.result
        except (
            CallError
        ) as error:  # edited arguments that the gate refuses, or a budget
            return self._call.refusal(error)

        return (yield from self._call.run(admitted))

    def _approved(self, admitted: Admitted) -> Generator[Step, None, Admitted]:
        """
        Ask everybody in turn; return the call with what they have edited.

        What somebody edits is asked about again, of all others.

        Raises:
            Over: Somebody did not approve.
            CallError: The gate refuses what somebody has edited.
        """
        asked, approvals = admitted.arguments, self._runtime.approvals
        done: set[int] = set()
        held = self._held_for(asked)
        if held is not None:  # approved so far, with these edits
            done.update(held.approved)
            admitted = self._with(admitted, held.arguments)
        edits = 0
        while left := [p for p in range(len(approvals)) if p not in done]:
            place = left[0]
            decision = yield from self._decision(place, approvals[place], admitted)
            match decision:
                case Approved(arguments=None):
                    pass
                case Approved(arguments=edited):
                    changed = self._with(admitted, edited)
                    if changed is not admitted:
                        edits, admitted = edits + 1, changed
                        done.clear()
                    if edits > MOST_EDITS:
                        self._questions.fail(
                            approvals[place], "they do not come to an end"
                        )
                case Denied(reason=reason):
                    self._over(ApprovalDeniedError(tool=self._meta.name, reason=reason))
                case Answer(text=text):
                    text = whole_characters(text)
                    raise Over(self._call.given(text, text))
                case Suspend(expires=expires):
                    limit = expires if isinstance(expires, float) else None
                    self._hold("approval", asked, admitted, place, limit, done)
            done.add(place)

        return admitted

    def _held_for(self, asked: dict[str, Any]) -> Held | None:
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
        raise Over(self._call.refusal(error))

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
            decision = yield from self._questions.ask(approval, admitted)
        if not isinstance(decision, Suspend):
            self._decided[key] = decision
        self._questions.tell(decision)

        return decision

    def _give_away(self, asked: dict[str, Any], admitted: Admitted) -> None:
        """
        Let somebody else run the call, and wait for what comes of it.

        Raises:
            Over: It waits.
            CallError: A budget does not allow it.
        """
        if self._incoming.charge is not None:
            self._incoming.charge.begin()
        limit = self._call.way.timeout
        everybody = set(range(len(self._runtime.approvals)))
        self._hold("external", asked, admitted, len(everybody), limit, everybody)

    def _hold(
        self,
        kind: Kind,
        asked: dict[str, Any],
        admitted: Admitted,
        place: int,
        limit: float | None,
        approved: set[int],
    ) -> None:
        self._incoming.held = Held(
            kind=kind,
            asked=asked,
            arguments=admitted.arguments,
            place=place,
            limit=limit,
            approved=tuple(sorted(approved)),
        )
        self._over(CallPendingError(tool=self._meta.name, kind=kind))
