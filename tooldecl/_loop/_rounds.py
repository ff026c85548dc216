"""
The order of steps of one run of a loop, once for both colours.

`Rounds.step` says what has to be waited for: a `ModelRequest` to be answered, or a
`Batch` to be run; it takes what came of it, until it gives a `LoopResult`.

Invariants:

1. Whenever the host sees the messages, each call in them has its answer, right after
   its turn: a call that waits has a placeholder, which its result replaces.
2. Once a run is to stop, the model is not asked again and no further body begins.
3. What has run is in the result, however the run ends; nothing of it is run again.
"""

from __future__ import annotations

import copy
import dataclasses

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any, TypeAlias, final

from .._batch import Run
from .._calls import ToolCall, ToolResult
from .._decisions import Proceed
from .._environment import paused
from .._meter import LimitName
from .._policy import shown
from .._records import record
from .._suspension import BatchResult, Suspension, batch_result
from .._turns import LoopResult, ModelRequest, Stop, StopReason, Turn
from ..exceptions import BudgetExceededError
from ._conversation import Conversation, not_run
from ._rules import Rules


Decisions: TypeAlias = Mapping[str, Any]


@final
@record(frozen=True, slots=True, kw_only=True)
class Batch:
    """
    Calls to be run at their place in the run, or to be resumed there.
    """

    calls: list[ToolCall]
    run: Run
    suspension: Suspension | None = None
    decisions: Decisions | None = None


Step: TypeAlias = ModelRequest | Batch
Flow: TypeAlias = Generator[Step, Turn | BatchResult, LoopResult]


@final
class Rounds:
    """
    What comes next in one run of a loop.

    Args:
        rules: Those of its loop.
        state: The conversation so far.
        stop: Says whether the run is to stop, or None.
        deps: The host's own object, for the tools.
        suspension: What the run goes on from, or None.
        decisions: What was decided about its calls.
    """

    def __init__(
        self,
        rules: Rules,
        state: Conversation,
        *,
        stop: Stop | None,
        deps: object,
        suspension: Suspension | None = None,
        decisions: Decisions | None = None,
    ) -> None:
        self.state = state
        self._rules = rules
        self._stop = None if stop is None else _asking(stop)
        self._deps = deps
        self._reports = rules.client._runtime.reports
        self._snapshot: Mapping[str, object] = {}
        self._flow = (
            self._run()
            if suspension is None
            else self._resumed(suspension, {} if decisions is None else decisions)
        )

    def step(self, reply: Turn | BatchResult | None) -> Step | LoopResult:
        """
        Go on with what came of the last step, None before the first; return the next.
        """
        try:
            return next(self._flow) if reply is None else self._flow.send(reply)
        except StopIteration as stop:
            result: LoopResult = stop.value
            return result

    def leave(self) -> None:
        """
        Go on no more.
        """
        self._flow.close()

    # -- the order of steps ------------------------------------------------------------

    def _resumed(self, suspension: Suspension, decisions: Decisions) -> Flow:
        state = self.state
        run = state.run = dataclasses.replace(state.run, deps=self._deps, kept=[])
        self._snapshot = suspension.snapshot
        state.settled |= {i for i, d in decisions.items() if isinstance(d, Proceed)}
        results = yield Batch(
            calls=state.open, run=run, suspension=suspension, decisions=decisions
        )
        ended = self._after(state.open, results)
        if ended is not None:
            return ended

        return (yield from self._run())

    def _run(self) -> Flow:
        state = self.state
        while (ended := self._end_before_model()) is None:
            turn = yield self._request()
            if not isinstance(turn, Turn):
                raise AssertionError("unreachable")
            calls = state.add_turn(turn)
            if not calls:
                answer, cut = StopReason.ANSWER, bool(turn.truncated)
                return state.result(answer, turn.text, truncated=cut)
            if turn.truncated:
                state.add_results(not_run(calls, _CUT_OFF))
                continue
            if not self._is_eligible(turn):
                state.add_results(not_run(calls, _NOT_ELIGIBLE))
                return state.result(StopReason.ANSWER, turn.text)
            self._snapshot = self._rules.client._state.snapshot()
            run = state.place(len(calls), deps=self._deps, stop=self._stop)
            results = yield Batch(calls=calls, run=run)
            ended = self._after(calls, results)
            if ended is not None:
                return ended

        return ended

    def _request(self) -> ModelRequest:
        if self._reports.hooks:
            self._reports.model_asked(self.state.run_id, self.state.turns + 1)

        return ModelRequest(
            messages=copy.deepcopy(self.state.messages),
            tools=self._rules.client.definitions("anthropic"),
        )

    def _is_stopped(self) -> bool:
        return self._stop is not None and self._stop()

    def _is_eligible(self, turn: Turn) -> bool:
        eligible = self._rules.eligible

        return eligible is None or bool(eligible(turn))

    def _end_before_model(self) -> LoopResult | None:
        """
        Return how the run ends where the model may not be asked again.
        """
        state = self.state
        if self._is_stopped():
            return state.result(StopReason.CANCELLED, "")
        for meter in (state.meter, self._rules.client._runtime.meter):
            if meter is not None and meter.is_over:
                return state.result(StopReason.BUDGET, "", stopped_by="seconds")
        if state.turns >= self._rules.max_turns:
            return state.result(StopReason.MAX_TURNS, "")

        return None

    def _after(self, calls: list[ToolCall], results: object) -> LoopResult | None:
        """
        Take the results of a turn; return how the run ends, where it does.
        """
        if not isinstance(results, BatchResult):
            raise AssertionError("unreachable")
        state = self.state
        waiting = results.suspension or self._paused(calls, results)
        if waiting is not None:
            return self._suspended(waiting, results)
        state.add_results(results)
        if self._is_direct(results):
            text = "\n".join(result.content for result in results)
            return state.result(StopReason.RETURN_DIRECT, text)
        limit = state.limit or _limit_in(results)
        if limit is None and state.meter is not None and state.meter.is_repeating:
            limit = "repeats"
        if limit is None:
            return None
        reason = StopReason.REPEATS if limit == "repeats" else StopReason.BUDGET

        return state.result(reason, "", stopped_by=limit)

    def _paused(self, calls: list[ToolCall], results: BatchResult) -> Suspension | None:
        if self._rules.on_environment_error == "proceed":
            return None
        state = self.state

        return paused(
            calls,
            results,
            settled=state.settled,
            run=state.run,
            rounds=state.rounds,
            snapshot=self._snapshot,
            state=self._rules.client._state.snapshot(),
        )

    def _suspended(self, waiting: Suspension, results: BatchResult) -> LoopResult:
        """
        Write down what is needed to go on from here, in another process as well.
        """
        state = self.state
        state.rounds |= {call.call_id: call.round for call in waiting.calls}
        state.limit = state.limit or _limit_in(results)
        suspension = dataclasses.replace(waiting, loop=state.to_plain())
        state.add_results(batch_result(results, suspension))

        return state.result(StopReason.SUSPENDED, "", suspension=suspension)

    def _is_direct(self, results: BatchResult) -> bool:
        """
        Whether all calls declare ``return_direct`` and all succeeded.
        """
        table = self._rules.client.table

        # What ran before it was suspended may be no tool of this client.
        return all(
            r.ok and r.name in table and table[r.name].return_direct for r in results
        )


def _asking(stop: Stop) -> Callable[[], bool]:
    """
    Return how to ask whether the run is to stop.

    Raises:
        TypeError: It is nothing that can be asked.
    """
    asked: object = getattr(stop, "is_set", None)
    if not callable(asked):
        raise TypeError(f"stop takes something with is_set(), got {shown(stop)}.")

    return stop.is_set


_CUT_OFF = (
    "the response was cut off by its length limit, so none of its calls was run; "
    "send them again, smaller"
)
_NOT_ELIGIBLE = "the host does not let this turn run tools"


_FINAL: dict[str, LimitName] = {
    "calls": "calls",
    "seconds": "seconds",
    "repeats": "repeats",
}


def _limit_in(results: Iterable[ToolResult]) -> LimitName | None:
    """
    Return which limit has refused a call, if one did that the run does not survive.

    Limits of single tools leave the others their calls.
    """
    for result in results:
        error = result.error
        if isinstance(error, BudgetExceededError) and error.limit_name in _FINAL:
            return _FINAL[error.limit_name]

    return None
