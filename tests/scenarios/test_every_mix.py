"""
One declaration, kept in every mix of tool, place, front and batch.
"""

from __future__ import annotations

import asyncio

from concurrent.futures import Future

import pytest

from fronts import acall, call, call_batch
from ordering import HANGS_AFTER
from tooldecl import ToolCall, ToolClient, ToolContext, tool
from tooldecl.engines import SequentialEngine
from tooldecl.telemetry import CallFinished, LateFinish


TIMEOUT = 0.2
QUICK = 0.05
AMPLE = 60

KINDS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
PLACES = pytest.mark.parametrize("place", [{}, {"isolation": "thread"}], ids=str)
SOURCES = pytest.mark.parametrize("source", ["declared", "engine"])
COUNTS = pytest.mark.parametrize("count", [1, 2])


def client_of(source, timeout, declare, **options):
    """
    Build a client whose tool has a limit from one source or the other.
    """
    if source == "declared":
        return ToolClient([declare(timeout=timeout, **options)])

    return ToolClient([declare(**options)], engine=SequentialEngine(timeout=timeout))


@KINDS
@PLACES
@SOURCES
@COUNTS
class TestEveryMix:
    """
    R05: no mix returns a late value, and none loses a value that came in time.
    """

    def test_what_hangs_is_cut(self, front, gate, is_async, place, source, count):
        """
        R05, TMO-17: from any source, for any tool, alone or in a batch.
        """

        def declare(**options):
            if is_async:

                @tool(**options)
                async def work() -> str:
                    """
                    Hang.
                    """
                    await asyncio.sleep(HANGS_AFTER)
                    return "late"

            else:

                @tool(**options)
                def work() -> str:
                    """
                    Hang.
                    """
                    gate.pass_through()
                    return "late"

            return work

        client = client_of(source, QUICK, declare, **place)
        results = call_batch(front, client, [ToolCall("work")] * count)

        assert [("timeout", None, source)] * count == [
            (result.status, result.value, result.error.source) for result in results
        ]

    def test_what_is_quick_is_unchanged(self, front, is_async, place, source, count):
        """
        TMO-02, TMO-24: its value is its own, and what it wrote is kept.
        """
        value = ["a", {"b": 1}]

        def declare(**options):
            def work(ctx: ToolContext) -> list:
                """
                Write and return.
                """
                ctx.write("slot", ctx.call_id)
                return value

            async def awork(ctx: ToolContext) -> list:
                """
                Write and return.
                """
                await asyncio.sleep(0)
                return work(ctx)

            return tool(name="work", **options)(awork if is_async else work)

        client = client_of(source, AMPLE, declare, **place)
        results = call_batch(front, client, [ToolCall("work")] * count)

        assert [("ok", "completed")] * count == [(r.status, r.fate) for r in results]
        assert all(value is result.value for result in results)
        assert [{"slot": r.call_id} for r in results] == [r.writes for r in results]
        assert {"slot": results[-1].call_id} == client.state


class TestBothFronts:
    """
    R08: the same outcome for the same input, and each is on the record.
    """

    @KINDS
    def test_a_slow_tool_is_the_same_outcome(self, gate, listener, is_async):
        """
        R08: neither front raises where the other one returns.
        """

        @tool(timeout=TIMEOUT, name="work")
        async def awork() -> str:
            """
            Hang.
            """
            await asyncio.sleep(HANGS_AFTER)
            return "late"

        @tool(timeout=TIMEOUT)
        def work() -> str:
            """
            Hang.
            """
            gate.pass_through()
            return "late"

        client = ToolClient([awork if is_async else work], hooks=[listener])
        results = [call(front, client, "work") for front in ("sync", "async")]
        same = [
            result.replace(call_id="", error=None, elapsed=0.0) for result in results
        ]

        assert same[0] == same[1]
        assert results == [e.result for e in listener.of(CallFinished)][-2:]


class TestOneAfterTheOther:
    """
    The default engine runs calls in request order.
    """

    @KINDS
    def test_no_call_begins_before_the_last_one_has_ended(self, front, is_async):
        """
        ENG-01: also where the first one takes longer.
        """
        log = []

        @tool(timeout=AMPLE, name="work")
        async def awork(x: int) -> int:
            """
            Note its begin and its end.
            """
            log.append(("begin", x))
            for _ in range(10 - x):
                await asyncio.sleep(0)
            log.append(("end", x))
            return x

        @tool(timeout=AMPLE)
        def work(x: int) -> int:
            """
            Note its begin and its end.
            """
            log.append(("begin", x))
            sum(range(100_000 // (x + 1)))
            log.append(("end", x))
            return x

        client = ToolClient([awork if is_async else work])
        calls = [ToolCall("work", {"x": x}) for x in range(3)]
        results = call_batch(front, client, calls)

        assert [0, 1, 2] == [result.value for result in results]
        assert [(step, x) for x in range(3) for step in ("begin", "end")] == log


class TestWhatStoppedMeans:
    """
    The tool's own code has ended; what it started elsewhere may go on.
    """

    async def test_a_thread_of_the_tools_own_goes_on(self, gate):
        """
        Trap 9: its task was stopped, and the thread it waited for takes effect later.
        """
        effects = []

        @tool(timeout=TIMEOUT)
        async def work() -> str:
            """
            Wait for a thread.
            """
            await asyncio.to_thread(gate.pass_through)
            return "late"

        @tool(timeout=TIMEOUT, name="effect")
        async def take_effect() -> str:
            """
            Leave an effect to a thread.
            """

            def later():
                gate.pass_through()
                effects.append(1)

            await asyncio.to_thread(later)
            return "late"

        client = ToolClient([work, take_effect])
        results = [await acall(client, name) for name in ("work", "effect")]
        before = list(effects)
        gate.open()
        await asyncio.get_running_loop().shutdown_default_executor()

        assert [("timeout", "stopped")] * 2 == [(r.status, r.fate) for r in results]
        assert results[1].content.endswith("It was stopped.")
        assert ([], [1], ()) == (before, effects, client.abandoned)

    @PLACES
    def test_what_swallows_everything_is_not_called_stopped(self, place, listener):
        """
        Trap 18: a bare ``except`` takes the cancellation for one more error.
        """
        told = []
        release: Future[None] = Future()

        @tool(timeout=TIMEOUT, **place)
        async def work() -> int:
            """
            Try again and again.
            """
            while len(told) < 2:
                try:
                    if not told:
                        await asyncio.sleep(HANGS_AFTER)
                    await asyncio.wrap_future(release)
                    told.append("went on")
                except:  # noqa: E722 (that is the case)
                    told.append("swallowed")
            return len(told)

        client = ToolClient([work], hooks=[listener])
        result = call("sync", client, "work")
        release.set_result(None)
        [late] = listener.wait_for(LateFinish)

        assert ("timeout", "abandoned") == (result.status, result.fate)
        assert (["swallowed", "went on"], 2) == (told, late.value)
