"""
A batch: one answer per call, in order, whatever the others do.
"""

from __future__ import annotations

import asyncio
import json
import pickle

import pytest

from fronts import call_batch
from tooldecl import (
    BatchResult,
    ToolCall,
    ToolClient,
    ToolContext,
    ToolError,
    tool,
)
from tooldecl.engines import SequentialEngine
from tooldecl.exceptions import BatchFailedError, DeclarationError
from tooldecl.telemetry import (
    BatchFinished,
    BatchStarted,
    CallFinished,
    CallStarted,
)
from tooldecl.testing import FakeClock, RecordingHook


RUNS = []


@pytest.fixture(autouse=True)
def _no_runs():
    RUNS.clear()


@tool
def note(word: str) -> str:
    """Note a word."""
    RUNS.append(word)

    return word.upper()


@tool
async def anote(word: str) -> str:
    """Note a word, later."""
    await asyncio.sleep(0)
    RUNS.append(word)

    return word.upper()


@tool
def boom(word: str) -> str:
    """Fail."""
    RUNS.append(word)
    raise ValueError(word)


@tool
def recurse(word: str) -> str:
    """Exhaust the stack."""
    return recurse(word)


@tool
def fatal(kind: str) -> str:
    """Raise what means stop."""
    RUNS.append(kind)
    raise {"memory": MemoryError, "keyboard": KeyboardInterrupt}[kind]("out")


def words(*given, name="note"):
    """
    Make calls, one per word, with the words as their ids.
    """
    return [ToolCall(name, {"word": word}, word) for word in given]


def client_with(**options):
    """
    Build the client of these tests.
    """
    return ToolClient([note, anote, boom, recurse, fatal], **options)


@pytest.mark.parametrize("name", ["note", "anote"])
def test_calls_run_one_after_the_other_in_request_order(front, name):
    """
    BAT-01, R53, R65: strictly, for sync and for async tools; the answers in the same order.
    """
    given = [f"w{n}" for n in range(30)]
    results = call_batch(front, client_with(), words(*given, name=name))

    assert (given, given, [w.upper() for w in given]) == (
        RUNS,
        [r.call_id for r in results],
        [r.value for r in results],
    )


async def test_no_two_calls_overlap():
    """
    R65: the second body does not begin before the first has ended, though both wait.
    """
    log = []

    @tool
    async def wait(word: str) -> None:
        """Wait a few turns of the loop."""
        log.append(f"in {word}")
        for _ in range(5):
            await asyncio.sleep(0)
        log.append(f"out {word}")

    await ToolClient([wait]).ainvoke_batch(words("a", "b", "c", name="wait"))

    assert ["in a", "out a", "in b", "out b", "in c", "out c"] == log


def test_a_failure_stays_with_its_call(front):
    """
    BAT-02, R59, FAT-04: ok, boom, recursion, ok: siblings keep their results.
    """
    calls = [*words("a"), *words("b", name="boom"), *words("c", name="recurse")]
    results = call_batch(front, client_with(), [*calls, *words("d")])

    assert [
        ("a", "ok", "A"),
        ("b", "tool_error", None),
        ("c", "tool_error", None),
        ("d", "ok", "D"),
    ] == [(r.call_id, r.status, r.value) for r in results]
    assert (False, None, "semantic") == (
        results.ok,
        results[0].error_class,
        results[2].error_class,
    )


def test_six_kinds_of_calls_have_six_answers(front, gate):
    """
    R54, R72: success, failure, refusal, timeout, unknown tool and broken text in one
    batch: none of them raises, and each is answered under its own id.
    """

    @tool(timeout=0.02)
    def stuck(word: str) -> None:
        """Hang."""
        gate.pass_through()

    def guarding(request):
        if request.arguments["word"] == "guarded":
            raise PermissionError
        return (yield request)

    client = ToolClient([note, boom, stuck], filters=[guarding])
    calls = [
        ToolCall("note", {"word": "a"}, "1"),
        ToolCall("boom", {"word": "b"}, "2"),
        ToolCall("note", {"word": "guarded"}, "3"),
        ToolCall("stuck", {"word": "c"}, "4"),
        ToolCall("nothing", {"word": "d"}, "5"),
        ToolCall("note", '{"word": "e"', "6"),
        ToolCall("note", '{"word": "f"}', "7"),
    ]
    results = call_batch(front, client, calls)

    assert [
        ("1", "ok"),
        ("2", "tool_error"),
        ("3", "guard_failed"),
        ("4", "timeout"),
        ("5", "unknown_tool"),
        ("6", "invalid"),
        ("7", "ok"),
    ] == [(r.call_id, r.status) for r in results]
    assert ["a", "b", "f"] == RUNS


def test_ids_that_cannot_be_used_are_replaced(front):
    """
    R57: never one result for two calls; the documented rule is in `ToolCall`.
    """
    calls = [ToolCall("note", {"word": str(n)}, i) for n, i in enumerate("aa")]
    calls += [ToolCall("note", {"word": "2"}), ToolCall("note", {"word": "3"}, "")]
    results = call_batch(front, client_with(), calls)

    assert (4, ["0", "1", "2", "3"], [None, "a", None, ""]) == (
        len({r.call_id for r in results}),
        [r.value for r in results],
        [r.original_id for r in results],
    )


def test_calls_share_nothing(front):
    """
    R66: twenty calls of one tool with twenty contexts; each reads back its own, after the
    others have been given theirs.
    """
    contexts = []

    @tool
    def read(number: int, ctx: ToolContext) -> list[object]:
        """Read the context back."""
        contexts.append(ctx)
        ctx.write(str(number), number)
        return [number, ctx.call_id, ctx.attempt, ctx.idempotency_key]

    calls = [ToolCall("read", {"number": n}, f"c{n}") for n in range(20)]
    results = call_batch(front, ToolClient([read]), calls)

    assert [[n, f"c{n}", 1] for n in range(20)] == [r.value[:3] for r in results]
    assert [f"c{n}" for n in range(20)] == [ctx.call_id for ctx in contexts]
    assert 20 == len({r.value[3] for r in results})


def test_a_batch_waits_for_each_call_to_its_own_end(front, gate):
    """
    R62: nobody is stamped "aborted" because a sibling was quicker.
    """

    @tool
    def slow(word: str) -> str:
        """Take until the gate is open."""
        gate.pass_through()
        return word

    gate.open()
    client = ToolClient([note, slow])
    results = call_batch(front, client, [*words("a"), *words("b", name="slow")])

    assert ["ok", "ok"] == [r.status for r in results]


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


def test_failures_can_be_raised_once_the_whole_batch_has_finished(front):
    """
    SPEC 6: the error carries every result and names the first failure in call order; the
    calls after it have run.
    """
    calls = [*words("a"), *words("b", "c", name="boom"), *words("d")]
    with pytest.raises(BatchFailedError) as caught:
        call_batch(front, client_with(), calls, failures="raise")
    error = caught.value

    assert (["ok", "tool_error", "tool_error", "ok"], "boom", ["a", "b", "c", "d"]) == (
        [r.status for r in error.results],
        error.first,
        RUNS,
    )
    assert (BatchResult, True) == (
        type(error.results),
        error.__cause__ is error.results[1].error,
    )
    assert [r.call_id for r in error.results] == [
        r.call_id for r in pickle.loads(pickle.dumps(error)).results
    ]


def test_nothing_is_raised_where_nothing_failed(front):
    """
    SPEC 6: ``failures="raise"`` changes how failures are told, not what a batch is.
    """
    results = call_batch(front, client_with(), words("a", "b"), failures="raise")

    assert (True, BatchResult) == (results.ok, type(results))


def test_the_writes_are_kept_where_failures_are_raised(front):
    """
    SPEC 6: the batch has finished, and what succeeded has succeeded.
    """

    @tool
    def write(word: str, ctx: ToolContext) -> None:
        """Write, and perhaps fail."""
        ctx.write(word, True)
        if word == "b":
            raise ToolError("No.")

    client = ToolClient([write])
    with pytest.raises(BatchFailedError):
        call_batch(front, client, words("a", "b", "c", name="write"), failures="raise")

    assert {"a": True, "c": True} == client.state


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


def test_the_hooks_hear_of_a_batch_and_of_each_of_its_calls(front):
    """
    OBS: one frame around the calls, with their ids in order.
    """
    hook = RecordingHook()
    call_batch(front, client_with(hooks=[hook]), words("a", "b"))

    assert [
        BatchStarted,
        *[CallStarted, CallFinished] * 2,
        BatchFinished,
    ] == [type(event) for event in hook.events]
    assert [("a", "b"), ("a", "b")] == [
        hook.events[0].call_ids,
        hook.events[-1].call_ids,
    ]


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


def test_a_batch_pickles_and_is_plain_data(front):
    """
    Hosts keep batches and send them on.
    """
    calls = [*words("a"), *words("b", name="boom")]
    results = call_batch(front, client_with(), calls)
    loaded = pickle.loads(pickle.dumps(results))

    assert (BatchResult, [r.to_dict() for r in results]) == (
        type(loaded),
        [r.to_dict() for r in loaded],
    )
    json.dumps([r.to_dict() for r in results])


async def test_a_cancelled_caller_starts_no_further_call():
    """
    R58: the running one gets its cancellation, and the rest never begins.
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

    assert (["a", "b"], ["ok", "cancelled"], 0) == (
        RUNS,
        [event.result.status for event in hook.of(CallFinished)],
        len(hook.of(BatchFinished)),
    )
