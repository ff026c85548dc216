"""
What a limit measures: one attempt of one body, and nothing around it.
"""

from __future__ import annotations

import asyncio
import itertools
import threading

from datetime import timedelta

import pytest

from fronts import call, call_batch
from ordering import HANGS_AFTER
from tooldecl import Retry, ToolCall, ToolClient, ToolContext, tool
from tooldecl.telemetry import LateFinish


TIMEOUT = 0.2
AMPLE = 60


def call_once(front, client, name):
    """
    Call a tool whose body may not even begin.
    """
    if front == "sync":
        return client.invoke(name)

    return asyncio.run(client.ainvoke(name))


def declared(timeout, *, name="work", hangs=True):
    """
    Declare a tool that hangs until cancelled, or one that returns at once.
    """

    @tool(name=name, timeout=timeout)
    async def work(ctx: ToolContext) -> float | None:
        """
        Work.
        """
        if hangs:
            await asyncio.sleep(HANGS_AFTER)
        return ctx.remaining()

    return work


class TestSizes:
    """
    From next to nothing to longer than the machine lives.
    """

    @pytest.mark.parametrize("timeout", [1e12, 1e300, timedelta.max], ids=repr)
    def test_a_huge_limit_is_a_limit(self, front, timeout):
        """
        No clock, lock or timer may overflow.
        """

        @tool(timeout=timeout)
        def sync() -> str:
            """
            Work.
            """
            return "done"

        client = ToolClient([sync, declared(timeout, hangs=False)])

        assert "done" == call(front, client, "sync").value
        assert 1e11 < call(front, client, "work").value

    @pytest.mark.parametrize("place", [{}, {"isolation": "thread"}], ids=repr)
    def test_a_tiny_limit_is_a_timeout_whether_or_not_the_body_began(
        self, front, place
    ):
        """
        R06, trap 13, trap 17: the result says which, and the body agrees with it.
        """
        began = []

        @tool(timeout=1e-9, **place)
        def sync() -> str:
            """
            Work.
            """
            began.append("sync")
            return "done"

        @tool(name="coroutine", timeout=1e-9, **place)
        async def work() -> str:
            """
            Work.
            """
            began.append("coroutine")
            await asyncio.sleep(HANGS_AFTER)
            return "done"

        client = ToolClient([sync, work])
        results = [call_once(front, client, name) for name in ("sync", "coroutine")]
        started = [result.fate != "not_started" for result in results]

        assert ["timeout", "timeout"] == [result.status for result in results]
        assert ["1e-09 s" in result.content for result in results] == [True, True]
        assert [int(value) for value in started] == [r.attempts for r in results]
        for name, expected in zip(("sync", "coroutine"), started, strict=True):
            assert expected or name not in began


class TestTheClock:
    """
    What a limit measures: one attempt of the body.
    """

    @pytest.mark.slow
    def test_filters_are_outside_of_it(self, front):
        """
        TMO-15, TMO-16: whoever has to think before the tool runs takes no time from it;
        the same tool is still cut when its own body is slow.
        """
        thinking = threading.Event()

        def think(request):
            thinking.wait(TIMEOUT * 1.5)
            return (yield request)

        tools = [declared(TIMEOUT, hangs=False), declared(TIMEOUT, name="slow")]
        client = ToolClient(tools, filters=[think])
        quick, slow = (call(front, client, name) for name in ("work", "slow"))

        assert ("ok", "timeout") == (quick.status, slow.status)
        assert quick.elapsed > TIMEOUT

    @pytest.mark.slow
    def test_waiting_for_a_turn_is_outside_of_it(self, front):
        """
        R06, TMO-16: a call behind a slow one is not late before it began.
        """
        held = threading.Event()

        @tool
        def slow() -> str:
            """
            Take longer than the next call may.
            """
            held.wait(TIMEOUT * 1.5)
            return "done"

        client = ToolClient([slow, declared(TIMEOUT, hangs=False)])
        results = call_batch(front, client, [ToolCall("slow"), ToolCall("work")])

        assert ["ok", "ok"] == [result.status for result in results]
        assert results[1].queue_wait > TIMEOUT

    def test_every_attempt_has_a_new_one(self, front):
        """
        R32: the limit is per attempt, so the attempts together may take longer.
        """
        deadlines = []
        pause = threading.Event()

        @tool(timeout=AMPLE, retry=Retry(attempts=3, delay=0))
        def work(ctx: ToolContext) -> str:
            """
            Fail after a while.
            """
            deadlines.append(ctx.deadline)
            pause.wait(0.05)
            raise ConnectionError

        result = call(front, ToolClient([work]), "work")
        gaps = [b - a for a, b in itertools.pairwise(deadlines)]

        assert ("tool_error", 3) == (result.status, result.attempts)
        assert [True, True] == [gap >= 0.05 for gap in gaps]


class TestABatchesLimit:
    """
    ``within`` bounds what its calls' own limits leave open.
    """

    @pytest.mark.slow
    def test_a_body_that_hangs_for_ever_is_answered(self, front, gate, listener):
        """
        R11: no heartbeat resets it and no way out joins the stuck worker; what has not
        begun is not run.
        """
        ran = []

        @tool
        def hang() -> str:
            """
            Hang.
            """
            gate.pass_through()
            return "late"

        @tool
        def work() -> str:
            """
            Work.
            """
            ran.append(1)
            return "done"

        client = ToolClient([hang, work], hooks=[listener])
        calls = [ToolCall("work"), ToolCall("hang"), ToolCall("work")]
        results = call_batch(front, client, calls, within=0.3)
        gate.open()
        listener.wait_for(LateFinish)

        assert [
            ("ok", "completed"),
            ("timeout", "abandoned"),
            ("not_run", "not_started"),
        ] == [(result.status, result.fate) for result in results]
        assert "batch" == results[1].error.source
        assert [1] == ran

    def test_the_tools_own_tighter_limit_stays_its_own(self, front):
        """
        The text names whose limit it was, and there the batch had time left.
        """
        client = ToolClient([declared(TIMEOUT)])
        [result] = call_batch(front, client, [ToolCall("work")], within=AMPLE)

        assert ("declared", TIMEOUT) == (result.error.source, result.error.timeout)
