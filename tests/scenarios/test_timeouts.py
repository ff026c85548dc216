"""
What becomes of a call at its deadline, wherever its body runs.

The rows are those of the table in docs/explanation/timeouts-and-isolation.md.
"""

from __future__ import annotations

import asyncio
import threading

from concurrent.futures import Future

import pytest

from fronts import acall, call
from ordering import HANGS_AFTER
from tooldecl import ToolClient, ToolContext, tool
from tooldecl.telemetry import LateFinish
from tooldecl.testing import assert_no_abandoned


TIMEOUT = 0.2
AMPLE = 60

LIMIT = "Tool 'work' did not finish within 0.2 s, the limit declared on it. "
MAY_STILL_RUN = LIMIT + "It may still be running and may still take effect."

PLACES = pytest.mark.parametrize(
    "place", [{}, {"isolation": "thread"}], ids=["task", "private loop"]
)


async def sleep_for_ever():
    """
    Wait until cancelled.
    """
    await asyncio.sleep(HANGS_AFTER)


class TestSyncTool:
    """
    Row 2: a sync tool in a thread.
    """

    def test_the_caller_is_answered_while_the_body_runs_on(self, front, gate, listener):
        """
        TMO-06, TMO-27, R02: nothing can stop a thread, so the result says that the body
        may still take effect; and it does.
        """
        effects = []

        @tool(timeout=TIMEOUT)
        def work() -> str:
            """
            Work.
            """
            gate.pass_through()
            effects.append("done")
            return "late"

        client = ToolClient([work], hooks=[listener])
        result = call(front, client, "work")
        before = list(effects)
        gate.open()
        listener.wait_for(LateFinish)

        assert ("timeout", "abandoned") == (result.status, result.fate)
        assert MAY_STILL_RUN == result.content
        assert ([], ["done"]) == (before, effects)

    def test_a_busy_loop_cannot_delay_the_answer(self, front, listener):
        """
        TMO-06: a body that waits for nothing is left behind like one that blocks.
        """
        counted, goal = [0], [float("inf")]

        @tool(timeout=TIMEOUT)
        def work() -> int:
            """
            Count.
            """
            while counted[0] < goal[0]:
                counted[0] += 1
            return counted[0]

        client = ToolClient([work], hooks=[listener])
        try:
            result = call(front, client, "work")
        finally:
            goal[0] = counted[0] + 1_000
        late = listener.wait_for(LateFinish)[0]

        assert "abandoned" == result.fate
        assert goal[0] == late.value

    def test_a_timeout_is_transient_and_writes_nothing(self, front, gate):
        """
        TMO-07, TMO-22: declared on the tool it holds without any filter, and what the
        body had written is dropped.
        """

        @tool(timeout=TIMEOUT)
        def work(ctx: ToolContext) -> str:
            """
            Work.
            """
            ctx.write("slot", 1)
            gate.pass_through()
            return "late"

        client = ToolClient([work])
        result = call(front, client, "work")

        assert ("timeout", "transient") == (result.status, result.error_class)
        assert ({}, {}) == (result.writes, client.state)

    def test_a_timed_body_runs_on_a_daemon_thread_of_ours(self, front):
        """
        TMO-05: never on a pool that the rest of the program needs, nor on a loop.
        """

        @tool(timeout=AMPLE)
        def work() -> list:
            """
            Say where it runs.
            """
            thread = threading.current_thread()
            return [thread.name.startswith("tooldecl-body-"), thread.daemon]

        assert [True, True] == call(front, ToolClient([work]), "work").value


class TestAsyncTool:
    """
    Rows 1 and 4: an async tool as a task, and on a private loop in a thread.
    """

    @PLACES
    def test_a_body_that_obeys_is_stopped(self, front, place):
        """
        TMO-01: the body sees the cancellation, and the result says that it has ended.
        """
        seen = []

        @tool(timeout=TIMEOUT, **place)
        async def work() -> str:
            """
            Work.
            """
            try:
                await sleep_for_ever()
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise
            return "late"

        client = ToolClient([work])
        result = call(front, client, "work")

        assert ("timeout", "stopped") == (result.status, result.fate)
        assert LIMIT + "It was stopped." == result.content
        assert ["cancelled"] == seen
        assert_no_abandoned(client)

    @PLACES
    @pytest.mark.parametrize("error", [None, RuntimeError("cut")], ids=repr)
    def test_no_answer_to_the_cancellation_is_an_outcome(self, front, place, error):
        """
        R27, trap 1: a body cannot dodge its deadline by returning a value instead, nor
        by raising something else.
        """

        @tool(timeout=TIMEOUT, **place)
        async def work() -> int:
            """
            Work.
            """
            try:
                await sleep_for_ever()
            except asyncio.CancelledError:
                if error:
                    raise error from None
            return 42

        result = call(front, ToolClient([work]), "work")

        assert ("timeout", "stopped", None) == (
            result.status,
            result.fate,
            result.value,
        )

    @PLACES
    async def test_an_endless_clean_up_delays_nobody_and_is_not_cut(
        self, place, listener
    ):
        """
        R27, trap 2: past the grace the caller goes on, and so does the body.
        """
        client, release, swept = _refusing(place, listener)
        result = await acall(client, "work")
        before = list(swept)
        release.set_result(None)
        await asyncio.to_thread(listener.wait_for, LateFinish)

        assert ("timeout", "abandoned") == (result.status, result.fate)
        assert MAY_STILL_RUN == result.content
        assert ([], ["clean"]) == (before, swept)

    @PLACES
    def test_an_endless_clean_up_delays_no_script(self, place, listener):
        """
        R27, trap 2: the same from the sync front.
        """
        client, release, swept = _refusing(place, listener)
        result = call("sync", client, "work")
        before = list(swept)
        release.set_result(None)
        listener.wait_for(LateFinish)

        assert ("timeout", "abandoned") == (result.status, result.fate)
        assert MAY_STILL_RUN == result.content
        assert ([], ["clean"]) == (before, swept)

    def test_a_private_loop_answers_in_time_for_a_body_that_blocks(self, front, gate):
        """
        Row 4: with ``isolation="thread"`` blocking code holds nobody's loop.
        """

        @tool(timeout=TIMEOUT, isolation="thread")
        async def work() -> str:
            """
            Work.
            """
            gate.pass_through()
            return "late"

        client = ToolClient([work])
        result = call(front, client, "work")

        assert ("timeout", "abandoned") == (result.status, result.fate)
        assert ["work"] == [left.name for left in client.abandoned]


def _refusing(place, listener):
    """
    Build a client whose tool cleans up until *release* has a result.
    """
    release: Future[None] = Future()
    swept = []

    @tool(timeout=TIMEOUT, **place)
    async def work() -> str:
        """
        Work.
        """
        try:
            await sleep_for_ever()
        finally:
            await asyncio.wrap_future(release)
            swept.append("clean")
        return "late"

    return ToolClient([work], hooks=[listener]), release, swept
