"""
The transcript of one run of a loop: always valid, every call in it has its answer.
"""

from __future__ import annotations

import copy

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .._batch import Run, unique_id
from .._calls import Status, ToolCall, ToolResult
from .._ids import new_id
from .._meter import BudgetMeter, LimitName
from .._suspension import Suspension, read_result
from .._texts import whole_characters
from .._transcript import Message, Messages, calls_in, plain_arguments, read_messages
from .._turns import LoopResult, StopReason, Turn
from ..exceptions import CallCancelledError, CallError, NotRunError


class Conversation:
    """
    What was said and run so far in one run of a loop, and what was spent of its budget.

    Attributes:
        messages: What was said, as plain dicts.
        results: The results of all calls that have one.
        turns: How often the model was asked.
        open: The calls of the latest turn, until they have their answers.
        run: Where these stand in the run.
        rounds: How often each call was held.
        settled: The calls that failed and are left as they are.
        limit: Which limit has refused one of them so that the run ends, or None.
        meter: What the calls of the run are charged to, or None.
    """

    def __init__(
        self,
        messages: Messages,
        meter: BudgetMeter | None = None,
    ) -> None:
        self.messages = read_messages(messages)
        self.meter = meter
        self.results: list[ToolResult] = []
        self.turns = 0
        self.open: list[ToolCall] = []
        self.rounds: dict[str, int] = {}
        self.settled: set[str] = set()
        self.limit: LimitName | None = None
        self.run_id = new_id("run")
        self.run = Run(run_id=self.run_id, meter=meter)
        self._calls = 0
        self._ids = {call["id"] for m in self.messages for call in calls_in(m)}
        self._originals: dict[str, str] = {}

    def add_turn(self, turn: Turn) -> list[ToolCall]:
        """
        Append the model's turn, and return its calls under ids that are unique here.
        """
        calls = [self._under_unique_id(call) for call in turn.calls]
        message: Message = {"role": "assistant", "content": whole_characters(turn.text)}
        if calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "name": call.name,
                    "arguments": plain_arguments(call.arguments),
                }
                for call in calls
            ]
        if turn.memo is not None:
            message["memo"] = copy.deepcopy(dict(turn.memo))
        self.messages.append(message)
        self.turns += 1
        self.open = calls

        return calls

    def _under_unique_id(self, call: ToolCall) -> ToolCall:
        call_id, original = unique_id(call.id, self._ids)
        if original is not None:
            self._originals[call_id] = original
        name: object = call.name  # whatever a model may have sent
        text = name if isinstance(name, str) else f"<{type(name).__name__}>"
        shown = whole_characters(text)

        return ToolCall(shown, call.arguments, call_id)

    def add_results(self, results: Iterable[ToolResult]) -> None:
        """
        Append the answers to the latest turn's calls.
        """
        for result in results:
            original = self._originals.get(result.call_id)
            self.results.append(
                result if original is None else result.replace(original_id=original)
            )
            self.messages.append(
                {
                    "role": "tool",
                    "tool_call_id": result.call_id,
                    "name": result.name,
                    "content": result.content,
                    "status": result.status.value,
                }
            )
        self.open = []

    def place(
        self, count: int, *, deps: object = None, stop: Callable[[], bool] | None = None
    ) -> Run:
        """
        Return where the next *count* calls stand in the run.
        """
        self.run = Run(
            run_id=self.run_id,
            position=self._calls,
            meter=self.meter,
            deps=deps,
            stop=stop,
        )
        self._calls += count

        return self.run

    def close(self, kept: Sequence[ToolResult]) -> None:
        """
        Answer the calls that are open, the ones without a result as cancelled.
        """
        by_id = {r.call_id: r for r in kept if r.status is not Status.PENDING}
        left = [call for call in self.open if call.id not in by_id]
        by_id |= {result.call_id: result for result in cancelled(left)}
        self.add_results([by_id[call.id or ""] for call in self.open])

    def result(
        self,
        reason: StopReason,
        text: str,
        *,
        stopped_by: LimitName | None = None,
        suspension: Suspension | None = None,
        truncated: bool = False,
    ) -> LoopResult:
        """
        Close the run.
        """
        return LoopResult(
            stop_reason=reason,
            text=whole_characters(text),
            messages=self.messages,
            results=tuple(self.results),
            turns=self.turns,
            stopped_by=stopped_by,
            suspension=suspension,
            truncated=truncated,
        )

    # -- across a suspension -----------------------------------------------------------

    def to_plain(self) -> dict[str, Any]:
        """
        Return the run as plain JSON data, up to the answers of its latest turn.
        """
        return {
            "messages": copy.deepcopy(self.messages),
            "results": [result.to_dict() for result in self.results],
            "turns": self.turns,
            "run_id": self.run_id,
            "calls": self._calls,
            "position": self.run.position,
            "originals": {
                call.id: self._originals[call.id]
                for call in self.open
                if call.id in self._originals
            },
            "rounds": dict(self.rounds),
            "settled": sorted(self.settled),
            "limit": self.limit,
            "meter": None if self.meter is None else self.meter.to_plain(),
        }

    @classmethod
    def from_plain(
        cls,
        plain: Mapping[str, Any],
        meter: BudgetMeter | None,
        call_ids: Sequence[str],
    ) -> Conversation:
        """
        Go on from `to_plain`, with a turn of calls with *call_ids*.

        Raises:
            ValueError: It is something else.
        """
        try:
            *said, last = plain["messages"]
            state = cls(said, meter)
            state.messages.append(copy.deepcopy(dict(last)))
            state.open = [
                ToolCall(call["name"], call["arguments"], call["id"])
                for call in calls_in(last)
            ]
            _check_same(state.open, call_ids)
            state._ids |= {*call_ids}
            state.results = [read_result(result) for result in plain["results"]]
            state.turns, state._calls = int(plain["turns"]), int(plain["calls"])
            state.run_id = str(plain["run_id"])
            state.run = Run(
                run_id=state.run_id, position=int(plain["position"]), meter=meter
            )
            state._originals = dict(plain["originals"])
            state.rounds = dict(plain["rounds"])
            state.settled, state.limit = set(plain["settled"]), plain["limit"]
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"This is no run of a loop: {error!r:.200}.") from error

        return state


def _check_same(calls: Iterable[ToolCall], call_ids: Sequence[str]) -> None:
    if [call.id for call in calls] != [*call_ids]:
        raise ValueError("its turn has other calls")


def not_run(calls: Iterable[ToolCall], reason: str) -> list[ToolResult]:
    """
    Answer *calls* without running them.
    """
    return [
        _refused(call, Status.NOT_RUN, NotRunError(tool=call.name, reason=reason))
        for call in calls
    ]


def cancelled(calls: Iterable[ToolCall]) -> list[ToolResult]:
    """
    Answer *calls* that never began, because their run was stopped.
    """
    return [
        _refused(
            call,
            Status.CANCELLED,
            CallCancelledError(tool=call.name, fate="not_started"),
        )
        for call in calls
    ]


def _refused(call: ToolCall, status: Status, error: CallError) -> ToolResult:
    return ToolResult(
        call_id=call.id or "",
        name=call.name,
        status=status,
        content=str(error),
        error=error,
        error_class="semantic",
    )
