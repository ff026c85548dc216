"""
Calls of one group never overlap on one client, whoever makes them.
"""

from __future__ import annotations

import asyncio
import threading

import pytest

from engine_stage import begin, begin_batch, client_of, outcome, peak
from fronts import Listener, acall, call, call_batch
from tooldecl import ToolCall, ToolClient, tool
from tooldecl.engines import SequentialEngine, ThreadEngine
from tooldecl.telemetry import CallFinished, CallStarted, LateFinish


GIVEN_UP = (
    "was not run: an earlier call of the serial group 'disk' was given up and may still "
    "be running."
)


def given(stage, word):
    """
    Return the arguments of one call.
    """
    return {"where": stage.where, "word": word}


def test_within_a_batch_they_run_one_by_one(case, front, stage):
    """
    R64: in request order, under every engine.
    """
    entries = [("hold_disk", word) for word in "abcd"]
    stage.go(4)
    results = call_batch(front, client_of(case.make()), stage.calls(*entries))

    assert [f"{way} {word}" for word in "abcd" for way in ("in", "out")] == (
        stage.journal
    )
    assert results.ok


def test_two_groups_overlap(overlapping, front, stage):
    """
    ENG-04: the control: one of each group is inside at once.
    """
    entries = [("hold_disk", "a"), ("hold_tape", "b")]
    future = begin_batch(front, client_of(overlapping.make()), stage.calls(*entries))
    stage.arrivals(2)
    stage.go(2)

    assert (True, 2) == (outcome(future).ok, peak(stage.journal))


def test_others_go_on_beside_a_group(overlapping, front, stage):
    """
    SPEC 6: with room for two, a call of no group does not wait behind one that waits.
    """
    entries = [("hold_disk", "a"), ("hold_disk", "b"), ("work", "c")]
    engine = overlapping.make(max_concurrency=2)
    future = begin_batch(front, client_of(engine), stage.calls(*entries))
    stage.take("done")
    before = stage.journal
    stage.go(2)

    assert (True, True) == ("out c" in before, outcome(future).ok)
    assert "in b" not in before


@pytest.mark.parametrize("derived", [False, True], ids=["client", "derived"])
def test_across_batches_they_wait_for_each_other(case, front, stage, derived):
    """
    SPEC 1: over all batches of a client and of those derived from it.
    """
    listener = Listener()
    client = client_of(case.make(), hooks=[listener])
    other = client.without("leave") if derived else client
    first = begin_batch(front, client, stage.calls(("hold_disk", "a")))
    stage.arrivals(1)
    second = begin_batch(front, other, stage.calls(("hold_disk", "b")))
    listener.wait_for(CallStarted, 2)
    inside = stage.journal
    stage.go(2)

    assert (True, True, ["in a"]) == (outcome(first).ok, outcome(second).ok, inside)
    assert ["in a", "out a", "in b", "out b"] == stage.journal


def test_another_client_has_groups_of_its_own(case, front, stage):
    """
    SPEC 1: the control of the test above: on one engine, but not on one client.
    """
    engine = case.make()
    first = begin(call, front, client_of(engine), "hold_disk", given(stage, "a"))
    second = begin(call, front, client_of(engine), "hold_disk", given(stage, "b"))
    stage.arrivals(2)
    stage.go(2)

    assert (True, True, 2) == (
        outcome(first).ok,
        outcome(second).ok,
        peak(stage.journal),
    )


async def test_threads_and_tasks_stand_in_one_line(stage):
    """
    SPEC 1: first come first served, whatever they are waiting on.
    """
    listener = Listener()
    client = client_of(SequentialEngine(), hooks=[listener])
    jobs = []
    for number in range(6):
        word = str(number)
        if number % 2:
            jobs.append(
                asyncio.create_task(acall(client, "hold_disk", given(stage, word)))
            )
        else:
            running = begin(client.invoke, "hold_disk", given(stage, word))
            jobs.append(asyncio.wrap_future(running))
        if number == 0:
            await asyncio.to_thread(stage.arrivals, 1)
        await asyncio.to_thread(in_line, client, number)
    stage.go(6)
    results = [await job for job in jobs]

    assert [f"{way} {n}" for n in range(6) for way in ("in", "out")] == stage.journal
    assert all(result.queue_wait > 0 for result in results[1:])


def in_line(client, count):
    """
    Wait until *count* calls stand in line.
    """
    line = client._runtime.line
    waiting = threading.Event()
    while line.standing < count:
        waiting.wait(0.001)


def abandoning(gate, **options):
    """
    Build a client whose group has a call that is given up.
    """

    @tool(timeout=0.05, serial="disk")
    def stuck() -> None:
        """Hang."""
        gate.pass_through()

    @tool(serial="disk")
    def disk() -> int:
        """Be of the group."""
        return 1

    @tool
    def free() -> int:
        """Be of no group."""
        return 2

    @tool(timeout=0.05)
    def free_stuck() -> None:
        """Hang."""
        gate.pass_through()

    @tool(serial=True)
    def alone() -> int:
        """Run alone."""
        return 3

    @tool(timeout=0.05, serial=True)
    def alone_stuck() -> None:
        """Hang alone."""
        gate.pass_through()

    tools = [stuck, disk, free, free_stuck, alone, alone_stuck]

    return ToolClient(tools, engine=ThreadEngine(), **options)


def test_a_group_with_a_given_up_body_is_busy(front, gate, listener):
    """
    SPEC 1, 5: never a wait without an end, never an overlap; and open again afterwards.
    """
    client = abandoning(gate, hooks=[listener])
    stuck = call(front, client, "stuck")
    during, beside = call(front, client, "disk"), call(front, client, "free")
    gate.open()
    listener.wait_for(LateFinish)
    after = call(front, client, "disk")

    assert ("abandoned", "busy", "ok", "ok") == (
        stuck.fate,
        during.status,
        beside.status,
        after.status,
    )
    assert during.content.endswith(GIVEN_UP)


def test_who_waited_for_a_call_that_is_given_up_is_busy(front, gate, listener):
    """
    SPEC 5: its turn has come, and the body before it may still be running.
    """
    results = call_batch(
        front,
        abandoning(gate, hooks=[listener]),
        [ToolCall("stuck"), ToolCall("disk"), ToolCall("free")],
    )

    assert ["timeout", "busy", "ok"] == [r.status for r in results]
    assert results[1].content.endswith(GIVEN_UP)
    assert 3 == len(listener.of(CallFinished))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["free_stuck", "alone", "free"], ["timeout", "busy", "ok"]),
        (["alone_stuck", "free", "alone"], ["timeout", "busy", "busy"]),
        (["free_stuck", "free"], ["timeout", "ok"]),
        (["free", "alone", "free"], ["ok", "ok", "ok"]),
    ],
)
def test_nothing_overlaps_a_serial_call_that_is_given_up(front, gate, names, expected):
    """
    R64, SPEC 5: inside of a batch, a body that may still run keeps a serial call out, and
    a serial one keeps all others out; the last two are the controls.
    """
    results = call_batch(front, abandoning(gate), [ToolCall(name) for name in names])

    assert expected == [r.status for r in results]


def test_the_next_batch_is_another_matter(front, gate):
    """
    SPEC 1: ``serial=True`` speaks of one batch.
    """
    client = abandoning(gate)
    first = call_batch(front, client, [ToolCall("alone_stuck")])
    second = call_batch(front, client, [ToolCall("alone"), ToolCall("free")])

    assert ("abandoned", True) == (first[0].fate, second.ok)
