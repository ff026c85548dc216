"""
A batch: one answer per call, in order, whatever the others do.
"""

from __future__ import annotations

import asyncio
import json
import pickle

import pytest

from fronts import call_batch
from scenarios.batch_tools import (
    RUNS,
    boom,
    client_with,
    note,
    words,
)
from tooldecl import (
    BatchResult,
    ToolCall,
    ToolClient,
    ToolContext,
    ToolError,
    tool,
)
from tooldecl.exceptions import BatchFailedError
from tooldecl.telemetry import (
    BatchFinished,
    BatchStarted,
    CallFinished,
    CallStarted,
)
from tooldecl.testing import RecordingHook


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
