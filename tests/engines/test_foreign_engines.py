"""
Engines of a host's own: what a batch promises does not depend on them.
"""

from __future__ import annotations

import asyncio
import threading

from engine_stage import PoolEngine
from fronts import call_batch
from tooldecl import ToolCall, ToolClient, ToolContext, tool
from tooldecl.telemetry import BatchFinished, CallFinished
from tooldecl.testing import RecordingHook


def test_serial_holds_under_an_engine_of_a_hosts_own(front):
    """
    ENG-05: order kept, the filter hit for each call, the writes folded.
    """
    seen, inside, peaks = [], [], []

    def watch(request):
        seen.append(request.call_id)
        return (yield request)

    @tool(serial=True)
    def append(number: int, ctx: ToolContext) -> int:
        """Append a number."""
        inside.append(number)
        peaks.append(len(inside))
        ctx.write("last", number)
        inside.remove(number)
        return number

    engine = PoolEngine()
    client = ToolClient([append], engine=engine, filters=[watch])
    calls = [ToolCall("append", {"number": n}, str(n)) for n in range(10)]
    results = call_batch(front, client, calls)

    assert (list(range(10)), [1] * 10, {"last": 9}) == (
        [r.value for r in results],
        peaks,
        client.state,
    )
    assert ([str(n) for n in range(10)], [1] * 10) == (seen, engine.steps)


def test_without_serial_that_engine_overlaps(front):
    """
    ENG-04: the control: it gets all calls in one step, and from sync code they meet.
    """
    meeting = threading.Barrier(3)

    @tool
    def gather() -> int:
        """Meet the others."""
        return meeting.wait(30) if front == "sync" else 0

    engine = PoolEngine()
    results = call_batch(front, ToolClient([gather], engine=engine), [CALL] * 3)

    assert ([3], True) == (engine.steps, results.ok)


CALL = ToolCall("gather", {})


class OddEngine(PoolEngine):
    """
    An engine that leaves a call out, runs one twice, and returns nonsense.
    """

    def run_batch(self, calls, run):
        """
        Run the second call twice, and the first not at all.
        """
        return [run(calls[1]), run(calls[1]), None]

    async def arun_batch(self, calls, run):
        """
        Run the second call twice, and the first not at all.
        """
        return [await run(calls[1]), await run(calls[1]), None]


def test_what_an_engine_returns_is_not_trusted(front):
    """
    SPEC 6: one result for each call, in request order, from what was run and only once.
    """
    runs = []

    @tool
    def count(word: str) -> str:
        """Count."""
        runs.append(word)
        return word

    hook = RecordingHook()
    client = ToolClient([count], engine=OddEngine(), hooks=[hook])
    calls = [ToolCall("count", {"word": w}, w) for w in "abc"]
    results = call_batch(front, client, calls)

    assert (["not_run", "ok", "not_run"], ["b"]) == ([r.status for r in results], runs)
    assert "Tool 'count' was not run: its engine left it out." == results[0].content
    assert (3, 1) == (len(hook.of(CallFinished)), len(hook.of(BatchFinished)))


class HastyEngine(PoolEngine):
    """
    An engine that does not wait for its calls.
    """

    def run_batch(self, calls, run):
        """
        Begin each call, and leave it.
        """
        for call in calls:
            threading.Thread(target=run, args=(call,), daemon=True).start()

        return []

    async def arun_batch(self, calls, run):
        """
        Begin each call, and leave it.
        """
        self.tasks = [asyncio.create_task(run(call)) for call in calls]
        await asyncio.sleep(0)

        return []


def test_calls_that_an_engine_leaves_are_waited_for(front):
    """
    SPEC 6: one result per call, and that of the call itself.
    """

    @tool
    async def slow(word: str) -> str:
        """Take a few turns of a loop."""
        for _ in range(20):
            await asyncio.sleep(0)
        return word

    client = ToolClient([slow], engine=HastyEngine())
    for _ in range(20):
        calls = [ToolCall("slow", {"word": w}) for w in "abc"]
        results = call_batch(front, client, calls)

        assert {"ok", "not_run"} >= {r.status for r in results}
        assert all(r.value == w for r, w in zip(results, "abc", strict=True) if r.ok)


class CancellingEngine(PoolEngine):
    """
    An engine that wants the first answer only.
    """

    async def arun_batch(self, calls, run):
        """
        Cancel whatever is slower.
        """
        tasks = [asyncio.create_task(run(call)) for call in calls]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)

        return []


async def test_a_call_that_its_engine_cancels_has_an_answer():
    """
    R58: the batch is not cancelled, and each of its calls is answered.
    """

    @tool
    async def quick() -> int:
        """Be quick."""
        return 1

    @tool
    async def slow() -> None:
        """Wait for ever."""
        await asyncio.Event().wait()

    client = ToolClient([quick, slow], engine=CancellingEngine())
    calls = [ToolCall("slow", None, "s"), ToolCall("quick", None, "q")]
    results = await client.ainvoke_batch(calls)

    assert [("s", "cancelled"), ("q", "ok")] == [(r.call_id, r.status) for r in results]
