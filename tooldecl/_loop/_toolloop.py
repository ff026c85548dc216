"""
The tool loop: model, calls, results, model, until there is an answer.

`_rounds` holds the order of steps for both colours, `_runs` does what has to wait.
The matching pages are docs/how-to/run-a-loop.md and docs/how-to/sub-runs.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, final

from .._budget import Budget
from .._charging import check_budget, meter_of
from .._client import ToolClient
from .._doors import Failures
from .._meter import BudgetMeter
from .._suspension import Suspension
from .._transcript import Given, Message, Messages, closed
from .._turns import LoopResult, Model, Stop, Turn
from ..exceptions import ResumeError
from ._conversation import Conversation
from ._rounds import Decisions, Rounds
from ._rules import OnEnvironmentError, Rules
from ._runs import LoopRun
from ._subruns import OnEnd, TasksTool, TaskTool, in_async, task_tool, tasks_tool


__all__ = ["ToolLoop"]


@final
class ToolLoop:
    """
    Lets a model call a client's tools until it answers; may be run many times.

    Args:
        client: Runs the calls.
        model: Decides.
        max_turns: How often the model is asked at most.
        budget: Limits for the calls of one run, beside those of the client. Its seconds
            are counted from the start of the run.
        failures: ``"raise"`` ends the run with BatchFailedError when a call fails.
        eligible: Asked with each turn that has calls; where it says False, the calls
            are answered as not run and the loop ends with the turn's text.
        on_environment_error: ``"pause"`` suspends the run when a call fails for want of
            a permission, a module, space or the like; see `Again` and `Proceed`.

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
        on_environment_error: OnEnvironmentError = "proceed",
    ) -> None:
        self._rules = Rules(
            client=client,
            max_turns=max_turns,
            failures=failures,
            eligible=eligible,
            on_environment_error=on_environment_error,
        )
        check_budget(budget, client.table, "ToolLoop(budget=...)")
        self._budget = budget
        self._client = client
        self._model = model

    def run(
        self,
        messages: Messages,
        *,
        stop: Stop | None = None,
        on_end: OnEnd | None = None,
        deps: object = None,
    ) -> LoopResult:
        """
        Run the loop from a text or from a conversation so far.

        Args:
            messages: Every call in them has its answer; see `close_transcript`.
            stop: A `threading.Event`, or whatever else has ``is_set()``. Once it is set,
                the model is asked no more and no body begins; what runs may end.
            on_end: Called once with how the run ended, also where an error leaves it and
                nothing is returned: then the reason is ``cancelled``.
            deps: The host's own object, for ``ToolContext.deps``.

        Raises:
            ModelFailedError: The model raised; its ``messages`` can be run again, and
                what has run is not run again.
            BatchFailedError: With ``failures="raise"``, a call did not succeed.
            ValueError: The messages are malformed.
        """
        state = Conversation(messages, self._meter())

        return self._run(state, stop, on_end, deps).drive()

    async def arun(
        self,
        messages: Messages,
        *,
        stop: Stop | None = None,
        on_end: OnEnd | None = None,
        deps: object = None,
    ) -> LoopResult:
        """
        Run the loop from async code; as `run`, and a cancelled caller is cancelled.
        """
        state = Conversation(messages, self._meter())

        return await self._run(state, stop, on_end, deps).adrive()

    def resume(
        self,
        suspension: Suspension,
        decisions: Decisions,
        *,
        stop: Stop | None = None,
        on_end: OnEnd | None = None,
        deps: object = None,
    ) -> LoopResult:
        """
        Go on with a run that was suspended, in this process or another.

        The turn that it was suspended in is completed first; where some of its calls
        still wait, the run is suspended again.

        Args:
            suspension: From a `LoopResult`, or from `Suspension.from_json`.
            decisions: As for `ToolClient.resume`, by call id.
            stop: As for `run`. What was decided about is run all the same.
            on_end: As for `run`.
            deps: As for `run`.

        Raises:
            ResumeError: Something was given that does not fit; nothing was run.
        """
        state = self._state_of(suspension)
        run = self._run(state, stop, on_end, deps, suspension, decisions)

        return run.drive()

    async def aresume(
        self,
        suspension: Suspension,
        decisions: Decisions,
        *,
        stop: Stop | None = None,
        on_end: OnEnd | None = None,
        deps: object = None,
    ) -> LoopResult:
        """
        Go on with a run that was suspended, from async code; as `resume`.
        """
        state = self._state_of(suspension)
        run = self._run(state, stop, on_end, deps, suspension, decisions)

        return await run.adrive()

    def as_tool(self, *, name: str, description: str, **options: Any) -> TaskTool:
        """
        Return a tool that runs this loop: its one parameter is the ``task``, as a text.

        Each call is a run of its own, which knows nothing of the call around it but its
        `ToolContext.deps`. It ends when that call has its answer.

        Args:
            name: The name on the wire.
            description: What the model reads.
            options: Those of `tool`.
        """
        hooks = self._client._settings.hooks

        return task_tool(self._run_apart, hooks, name, description, options)

    def fan_out(
        self, *, name: str, description: str, max_concurrency: int = 8, **options: Any
    ) -> TasksTool:
        """
        Return a tool that runs this loop for each of several ``tasks``, at once.

        What comes of them is listed in their order, as ``name``, ``status`` and ``text``;
        a sub-run that fails leaves the others alone.

        Args:
            name: The name on the wire; the sub-runs are numbered behind it.
            description: What the model reads.
            max_concurrency: How many run at once at most.
            options: Those of `tool`.
        """
        return tasks_tool(
            self._run_apart,
            self._client._settings.hooks,
            name,
            description,
            options,
            max_concurrency=max_concurrency,
            stop_on=self._client._runtime.stop_on,
        )

    async def _run_apart(
        self, task: str, stop: Stop, deps: object, on_end: OnEnd
    ) -> LoopResult:
        """
        Run the loop as the body of a call.
        """
        state = Conversation(task, self._meter())
        rounds = Rounds(self._rules, state, stop=stop, deps=deps)
        model = in_async(self._model)

        return await LoopRun(self._rules, model, rounds, on_end).adrive()

    @staticmethod
    def close_transcript(
        messages: Iterable[Given],
    ) -> list[Message]:
        """
        Return a copy of a conversation in which every call has its one answer.

        What has none, or waits for somebody, is answered as ``cancelled``; answers that
        belong to no call, or come a second time, are left out. A conversation in which
        nothing is wrong stays as it is.

        Raises:
            ValueError: Something in it is no message.
        """
        return closed(messages)

    def _meter(self) -> BudgetMeter | None:
        """
        Return what one run is charged to.
        """
        meter = meter_of(self._budget, "loop", self._client._runtime.clock)
        if meter is not None:
            meter.begin()

        return meter

    def _state_of(self, suspension: object) -> Conversation:
        """
        Return the run that was suspended.
        """
        if not isinstance(suspension, Suspension):
            raise TypeError(
                f"resume() takes a Suspension, got {type(suspension).__name__}."
            )
        plain = suspension.loop
        if plain is None:
            problem = "it is of no run of a loop: resume it with its client"
            raise ResumeError(problems={suspension.id: problem})
        meter, spent = self._meter(), plain.get("meter")
        if self._budget is not None and spent is not None:
            clock = self._client._runtime.clock
            meter = BudgetMeter.from_plain(spent, self._budget, "loop", clock)

        call_ids = [result.call_id for result in suspension.results]

        return Conversation.from_plain(plain, meter, call_ids)

    def _run(
        self,
        state: Conversation,
        stop: Stop | None,
        on_end: OnEnd | None,
        deps: object,
        suspension: Suspension | None = None,
        decisions: Decisions | None = None,
    ) -> LoopRun:
        rounds = Rounds(
            self._rules,
            state,
            stop=stop,
            deps=deps,
            suspension=suspension,
            decisions=decisions,
        )

        return LoopRun(self._rules, self._model, rounds, on_end, suspension)
