"""
The doors through which calls go on that have waited for a decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ._batch import Run, check_failures
from ._calls import ToolResult
from ._charging import Charge
from ._doors import Doors, Failures
from ._gather import arun_all, run_all
from ._ids import new_id
from ._resume import Claims, TakenUp, suspension_of, take_up
from ._suspension import BatchResult, Suspension, batch_result


class Resumable(Doors):
    """
    How calls go on that have waited.
    """

    _claims: Claims

    def resume(
        self,
        suspension: Suspension,
        decisions: Mapping[str, Any],
        *,
        failures: Failures = "return",
        deps: Any = None,
    ) -> BatchResult:
        """
        Go on with calls that were ``pending``; return the results of their whole batch.

        A call goes through its filters again. What has run is not run again; what no
        decision is given for still waits, in the suspension of what is returned.

        Args:
            suspension: From a `BatchResult`, a `CallPendingError` or
                `Suspension.from_json`.
            decisions: By call id, for those that wait for an approval: `Approved`,
                `Denied`, `Answer` or `Suspend`. For external ones what came of them:
                data in JSON form, or a `ToolError` or `NotFound`. For those that a loop
                has paused for: `Again` or `Proceed`. A decision counts for
                the arguments in the suspension: where a filter makes others of them,
                the approver is asked again.
            failures: ``"raise"`` raises once all have finished.
            deps: The host's own object, for ``ToolContext.deps``.

        Raises:
            ResumeError: Something was given that does not fit; nothing was run.
            BatchFailedError: With ``failures="raise"``, a call did not succeed.
            EngineClosedError: The client or its engine is closed.
        """
        return self._resume_run(suspension, decisions, failures, _lone(deps))

    async def aresume(
        self,
        suspension: Suspension,
        decisions: Mapping[str, Any],
        *,
        failures: Failures = "return",
        deps: Any = None,
    ) -> BatchResult:
        """
        Go on with calls that were ``pending``, from async code; as `resume`.
        """
        return await self._aresume_run(suspension, decisions, failures, _lone(deps))

    def _resume_run(
        self,
        suspension: Suspension,
        decisions: Mapping[str, Any],
        failures: Failures,
        run: Run,
    ) -> BatchResult:
        """
        Go on with calls that have their place in a longer run.
        """
        taken = self._take_up(suspension, decisions, failures, run)
        results = run_all(self._runtime, self._engine, taken.calls, run.kept)

        return self._merge(suspension, taken, results, failures)

    async def _aresume_run(
        self,
        suspension: Suspension,
        decisions: Mapping[str, Any],
        failures: Failures,
        run: Run,
    ) -> BatchResult:
        taken = self._take_up(suspension, decisions, failures, run)
        results = await arun_all(self._runtime, self._engine, taken.calls, run.kept)

        return self._merge(suspension, taken, results, failures)

    def _take_up(
        self,
        suspension: Suspension,
        decisions: Mapping[str, Any],
        failures: str,
        run: Run,
    ) -> TakenUp:
        self._check_open()
        check_failures(failures)
        taken = take_up(
            self._runtime, suspension, decisions, deps=run.deps, claims=self._claims
        )
        self._state.adopt(suspension.state)
        meters = self._meters(None)
        if run.meter is not None:
            meters.append(run.meter)
        for call in taken.calls:
            if meters and call.call_id not in taken.paid:
                call.charge = Charge(meters)
        if self._runtime.reports.hooks:
            self._runtime.reports.batch_started(
                tuple(call.call_id for call in taken.calls)
            )

        return taken

    def _merge(
        self,
        suspension: Suspension,
        taken: TakenUp,
        results: Iterable[ToolResult],
        failures: Failures,
    ) -> BatchResult:
        """
        Put the results into the places that were kept for them.
        """
        fresh = list(results)
        self._take_over(fresh)
        by_id = {result.call_id: result for result in fresh}
        merged = [by_id.get(old.call_id, old) for old in suspension.results]
        waiting = suspension_of(
            taken.calls,
            merged,
            state=self._state.snapshot(),
            before=suspension,
            rounds={call.call_id: call for call in taken.pending},
        )

        return self._done(batch_result(merged, waiting), failures)


def _lone(deps: object) -> Run:
    """
    Return the run of calls that belong to no loop's.
    """
    return Run(run_id=new_id("run"), deps=deps)
