"""
The tool loop: model, calls, results, model, until there is an answer.

One generator holds the order of steps for both colours; `ToolLoop.run` and
`ToolLoop.arun` only do what has to wait.
The matching page is docs/tutorial.md.
"""

from __future__ import annotations

import copy

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any, TypeAlias, final

from ._batch import check_failures
from ._budget import Budget
from ._calls import ToolCall
from ._charging import check_budget, meter_of
from ._client import ToolClient
from ._conversation import Conversation, not_run
from ._doors import Failures
from ._meter import BudgetMeter
from ._suspension import BatchResult
from ._terminal import close_quietly
from ._turns import LoopResult, Model, ModelRequest, StopReason, Turn
from .exceptions import DeclarationError


__all__ = ["ToolLoop"]

Step: TypeAlias = ModelRequest | list[ToolCall]
Flow: TypeAlias = Generator[Step, Turn | BatchResult, LoopResult]


@final
class ToolLoop:
    """
    Lets a model call a client's tools until it answers; may be run many times.

    Args:
        client: Runs the calls.
        model: Decides.
        max_turns: How often the model is asked at most.
        budget: Limits for the calls of one run, beside those of the client.
        failures: ``"raise"`` ends the run with BatchFailedError when a call fails.
        eligible: Asked with each turn that has calls; where it says False, the calls
            are answered as not run and the loop ends with the turn's text.

    Raises:
        DeclarationError: *max_turns* is no whole number from 1, or another option is off.
    """

    def __init__(
        self,
        client: ToolClient,
        model: Model,
        *,
        max_turns: int = 10,
        budget: Budget | None = None,
        failures: Failures = "return",
        eligible: Callable[[Turn], bool] | None = None,
    ) -> None:
        if type(max_turns) is not int or max_turns < 1:
            raise DeclarationError(
                f"ToolLoop(max_turns=...) takes a whole number from 1, got {max_turns!r}."
            )
        if not isinstance(client, ToolClient):
            raise DeclarationError(f"ToolLoop takes a ToolClient, got {client!r}.")
        if eligible is not None and not callable(eligible):
            raise DeclarationError(
                f"ToolLoop(eligible=...) takes a predicate, got {eligible!r}."
            )
        check_failures(failures)
        check_budget(budget, client.table, "ToolLoop(budget=...)")
        self._budget = budget
        self._client = client
        self._model = model
        self._max_turns = max_turns
        self._failures: Failures = failures
        self._eligible = eligible

    def run(self, messages: str | Iterable[Mapping[str, Any]]) -> LoopResult:
        """
        Run the loop from a text or from a conversation so far.

        Raises:
            ModelFailedError: The model raised; its ``messages`` can be run again, and
                what has run is not run again.
            BatchFailedError: With ``failures="raise"``, a call did not succeed.
            ValueError: The messages are malformed.
        """
        state = Conversation(messages, self._meter())
        flow = self._flow(state)
        reply: Turn | BatchResult | None = None
        try:
            while True:
                step = next(flow) if reply is None else flow.send(reply)
                if isinstance(step, ModelRequest):
                    with state.model_at_work():
                        reply = _turn(self._model.respond(step))
                else:
                    place = state.place(len(step))
                    reply = self._client._invoke_run(step, place, self._failures)
        except StopIteration as stop:
            result: LoopResult = stop.value
            return result

    async def arun(self, messages: str | Iterable[Mapping[str, Any]]) -> LoopResult:
        """
        Run the loop from async code; as `run`.
        """
        state = Conversation(messages, self._meter())
        flow = self._flow(state)
        reply: Turn | BatchResult | None = None
        while True:
            try:
                step = next(flow) if reply is None else flow.send(reply)
            except StopIteration as stop:
                result: LoopResult = stop.value
                return result
            if isinstance(step, ModelRequest):
                with state.model_at_work():
                    reply = _turn(await self._model.arespond(step))
            else:
                place = state.place(len(step))
                reply = await self._client._ainvoke_run(step, place, self._failures)

    def _meter(self) -> BudgetMeter | None:
        """
        Return what one run is charged to.
        """
        return meter_of(self._budget, "loop", self._client._runtime.clock)

    def _flow(self, state: Conversation) -> Flow:
        for number in range(1, self._max_turns + 1):
            request = ModelRequest(
                messages=copy.deepcopy(state.messages),
                tools=self._client.definitions("anthropic"),
            )
            turn = yield request
            if not isinstance(turn, Turn):
                raise AssertionError("unreachable")
            calls = state.add_turn(turn)
            if not calls:
                return state.result(StopReason.ANSWER, turn.text, number)
            if turn.truncated:
                state.add_results(not_run(calls, _CUT_OFF))
                continue
            if self._eligible is not None and not self._eligible(turn):
                state.add_results(not_run(calls, _NOT_ELIGIBLE))
                return state.result(StopReason.ANSWER, turn.text, number)
            results = yield calls
            if not isinstance(results, BatchResult):
                raise AssertionError("unreachable")
            state.add_results(results)
            if self._is_direct(results):
                text = "\n".join(result.content for result in results)
                return state.result(StopReason.RETURN_DIRECT, text, number)

        return state.result(StopReason.MAX_TURNS, "", self._max_turns)

    def _is_direct(self, results: BatchResult) -> bool:
        """
        Whether all calls declare ``return_direct`` and all succeeded.
        """
        table = self._client.table

        return all(r.ok and table[r.name].return_direct for r in results)


_CUT_OFF = (
    "the response was cut off by its length limit, so none of its calls was run; "
    "send them again, smaller"
)
_NOT_ELIGIBLE = "the host does not let this turn run tools"


def _turn(turn: object) -> Turn:
    if not isinstance(turn, Turn):
        close_quietly(turn)
        raise TypeError(f"A model returns a Turn, got {type(turn).__name__}.")

    return turn
