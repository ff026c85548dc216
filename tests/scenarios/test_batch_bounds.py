"""
The edges of a batch: its time, its end, what stops it, and what is no batch.
"""

from __future__ import annotations

import asyncio

import pytest

from fronts import call_batch
from scenarios.batch_tools import (
    RUNS,
    client_with,
    note,
    words,
)
from tooldecl import (
    BatchResult,
    ToolCall,
    ToolClient,
    tool,
)
from tooldecl.engines import SequentialEngine
from tooldecl.exceptions import DeclarationError
from tooldecl.telemetry import (
    BatchFinished,
    CallFinished,
)
from tooldecl.testing import FakeClock, RecordingHook


@pytest.mark.parametrize("kind", ["memory", "keyboard"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_means_stop_leaves_a_batch_unchanged(front, kind, place):
    """
    FAT-06, FAT-07: from the first, the second or the third call, raw and unwrapped, and
    nothing after it is begun.
    """
    calls = words("a", "b")
    calls.insert(place, ToolCall("fatal", {"kind": kind}))
    expected = {"memory": MemoryError, "keyboard": KeyboardInterrupt}[kind]
    with pytest.raises(expected) as caught:
        call_batch(front, client_with(), calls)

    assert ("out", [*"ab"[:place], kind]) == (str(caught.value), RUNS)


class StopTheRunError(Exception):
    """
    A host's own signal.
    """


def test_what_the_host_named_leaves_a_batch_unchanged(front):
    """
    FAT-06: ``stop_on`` holds for every call of a batch.
    """

    @tool
    def stop(word: str) -> None:
        """Stop the run."""
        raise StopTheRunError(word)

    client = ToolClient([note, stop], stop_on=[StopTheRunError])
    with pytest.raises(StopTheRunError):
        call_batch(front, client, [*words("a"), *words("b", name="stop"), *words("c")])

    assert ["a"] == RUNS


@pytest.mark.parametrize("option", [{"failures": "ignore"}, {"within": 0}])
def test_an_odd_option_is_refused_before_anything_runs(front, option):
    """
    VAL-07: a mistake of the program is raised, and no call has been half a batch.
    """
    with pytest.raises(DeclarationError):
        call_batch(front, client_with(), words("a"), **option)

    assert [] == RUNS


def test_what_is_no_call_is_refused_before_anything_runs(front):
    """
    E-04: leaving it out would shift every answer after it.
    """
    with pytest.raises(TypeError):
        call_batch(front, client_with(), [*words("a"), {"name": "note"}])

    assert [] == RUNS


def test_calls_that_had_not_begun_in_time_are_not_run(front):
    """
    SPEC 6, R61: "not started" is an outcome of its own, and costs nothing.
    """
    clock = FakeClock()

    @tool
    def take(seconds: float) -> float:
        """Take some time."""
        RUNS.append(seconds)
        clock.advance(seconds)
        return seconds

    client = ToolClient([take], clock=clock)
    calls = [ToolCall("take", {"seconds": s}) for s in (1, 2, 4, 8)]
    results = call_batch(front, client, calls, within=3)

    assert (["ok", "ok", "not_run", "not_run"], [1, 2]) == (
        [r.status for r in results],
        RUNS,
    )
    assert (
        "Tool 'take' was not run: the batch's time was over before it began."
        == results[2].content
    )
    assert ["not_started", 0] == [results[3].fate, results[3].attempts]


def test_a_tool_that_cannot_be_held_to_the_limit_is_not_run(front):
    """
    SPEC 6: a hard bound holds for all of it, and nothing ends a body on one's own thread.
    """

    @tool(isolation="inline")
    def near(word: str) -> str:
        """Note a word here."""
        RUNS.append(word)
        return word

    client = ToolClient([near])
    bounded = call_batch(front, client, words("a", name="near"), within=60)
    unbounded = call_batch(front, client, words("b", name="near"))

    assert ("not_run", "ok", ["b"]) == (bounded[0].status, unbounded[0].status, RUNS)
    assert (
        "Tool 'near' was not run: isolation='inline' cannot be held to the batch's time "
        "limit." == bounded[0].content
    )


def test_the_time_a_call_waited_for_its_turn_is_told(front):
    """
    E-31: waiting in a queue is not running, so the two are told apart.
    """
    clock = FakeClock()

    @tool
    def take(seconds: float) -> None:
        """Take some time."""
        clock.advance(seconds)

    client = ToolClient([take], clock=clock)
    calls = [ToolCall("take", {"seconds": s}) for s in (1, 2, 4)]
    results = call_batch(front, client, calls)

    assert [(0, 1), (1, 2), (3, 4)] == [(r.queue_wait, r.elapsed) for r in results]


@pytest.mark.parametrize("calls", [[], (), iter([])])
def test_an_empty_batch_is_an_empty_result(front, calls):
    """
    ENG-11: the same shape as any other.
    """
    results = call_batch(front, client_with(engine=SequentialEngine()), calls)

    assert (BatchResult, (), True) == (type(results), tuple(results), results.ok)


def test_calls_may_come_from_anywhere(front):
    """
    A generator is as good as a list, and is read once.
    """
    results = call_batch(front, client_with(), (c for c in words("a", "b")))

    assert ["A", "B"] == [r.value for r in results]


async def test_a_cancelled_caller_starts_no_further_call():
    """
    R20, R58: the running one gets its cancellation, the rest never begins, and the hooks
    are told of an end for each, and for the batch.
    """
    started = asyncio.Event()

    @tool
    async def hang(word: str) -> None:
        """Wait for ever."""
        RUNS.append(word)
        started.set()
        await asyncio.Event().wait()

    hook = RecordingHook()
    client = ToolClient([note, hang], hooks=[hook])
    calls = [*words("a"), *words("b", name="hang"), *words("c")]
    task = asyncio.create_task(client.ainvoke_batch(calls))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    ends = [(e.result.status, e.result.fate) for e in hook.of(CallFinished)]

    assert (["a", "b"], 1) == (RUNS, len(hook.of(BatchFinished)))
    assert [
        ("ok", "completed"),
        ("cancelled", "stopped"),
        ("cancelled", "not_started"),
    ] == ends
