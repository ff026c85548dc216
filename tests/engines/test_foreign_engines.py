"""
Engines of a host's own: what a batch promises does not depend on them.
"""

from __future__ import annotations

import contextlib
import threading

from concurrent.futures import ThreadPoolExecutor

import pytest

from engine_stage import client_of
from fronts import call_batch
from tooldecl import ToolCall, ToolClient, ToolContext, tool
from tooldecl.engines import Engine
from tooldecl.telemetry import BatchFinished, CallFinished
from tooldecl.testing import RecordingHook


class PoolEngine(Engine):
    """
    An engine of a host's own, which knows nothing of serial calls.
    """

    def __init__(self):
        self.steps = []

    def run_batch(self, calls, run):
        """
        Run all at once on an executor.
        """
        self.steps.append(len(calls))
        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(run, calls))

    async def arun_batch(self, calls, run):
        """
        Run one after the other, last one first.
        """
        self.steps.append(len(calls))
        return [await run(call) for call in reversed(calls)]


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


class HidingEngine(PoolEngine):
    """
    An engine that keeps to itself what comes out of a call.
    """

    def run_batch(self, calls, run):
        """
        Swallow everything.
        """
        for call in calls:
            with contextlib.suppress(BaseException):
                run(call)

        return []

    async def arun_batch(self, calls, run):
        """
        Raise something else instead.
        """
        for call in calls:
            try:
                await run(call)
            except BaseException as error:
                raise RuntimeError("The engine failed.") from error

        return []


@pytest.mark.parametrize("kind", [MemoryError, KeyboardInterrupt])
def test_what_means_stop_gets_past_any_engine(front, kind):
    """
    FAT-07: raw, whatever an engine makes of it.
    """

    @tool
    def stop() -> None:
        """Stop the run."""
        raise kind("out")

    with pytest.raises(kind) as caught:
        call_batch(front, ToolClient([stop], engine=HidingEngine()), [ToolCall("stop")])

    assert "out" == str(caught.value)


def test_a_fault_of_an_engine_is_not_hidden(front):
    """
    HOUSE, rule 3: a mistake of the program is raised, and the hooks hear of the end.
    """

    class Broken(PoolEngine):
        def run_batch(self, calls, run):
            raise RuntimeError("broken")

        async def arun_batch(self, calls, run):
            raise RuntimeError("broken")

    hook = RecordingHook()
    client = client_of(Broken(), hooks=[hook])
    with pytest.raises(RuntimeError, match="broken"):
        call_batch(front, client, [ToolCall("tell", {"number": 1})])

    assert ["cancelled"] == [e.result.status for e in hook.of(CallFinished)]
    assert 1 == len(hook.of(BatchFinished))
