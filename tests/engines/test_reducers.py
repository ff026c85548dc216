"""
Slots with a reducer: under every engine they take every write, in call order.
"""

from __future__ import annotations

import operator

import pytest

from engine_stage import SEQUENTIAL, client_of
from fronts import call_batch
from tooldecl import Reducer, ToolLoop, Turn
from tooldecl.telemetry import WriteConflict
from tooldecl.testing import ScriptedModel


def joined(old, new):
    """
    Append what was written.
    """
    return [*old, new]


REDUCERS = {"sum": Reducer(0, operator.add), "log": Reducer([], joined)}


def client_with(case, **options):
    """
    Build a client whose slots ``sum`` and ``log`` take every write.
    """
    return client_of(case.make(), reducers=REDUCERS, **options)


def puts(stage, *entries):
    """
    Make calls from triples of tool, slot and value.
    """
    return [stage.call(name, slot=slot, value=value) for name, slot, value in entries]


def test_every_write_is_taken(case, front, stage, listener):
    """
    WRT-02, WRT-04: two calls write one slot, and nothing is a conflict; the control is
    the slot beside it, which has no reducer.
    """
    client = client_with(case, hooks=[listener])
    writes = [("put", "sum", 3), ("put", "sum", 4), ("put", "x", 1), ("put", "x", 2)]
    call_batch(front, client, puts(stage, *writes))

    assert ({"sum": 7, "x": 2}, ["x"]) == (
        client.state,
        [event.slot for event in listener.of(WriteConflict)],
    )


def test_a_value_that_is_there_is_gone_on_from(case, front, stage):
    """
    WRT-03: over two batches, and in a client that has one from the start.
    """
    client = client_with(case, state={"sum": 100})
    for _ in range(2):
        call_batch(front, client, puts(stage, ("put", "sum", 1), ("put", "log", 2)))

    assert {"sum": 102, "log": [2, 2]} == client.state


def test_writes_are_taken_in_call_order(overlapping, front, stage):
    """
    WRT-08: the first call writes when the second is done, and stands first all the same.
    """
    client = client_with(overlapping)
    writes = [("put_late", "log", 1), ("put_early", "log", 2)]
    call_batch(front, client, puts(stage, *writes))

    assert {"log": [1, 2]} == client.state


def test_a_batch_sees_nothing_of_what_it_adds_up(overlapping, front, stage):
    """
    WRT-06: the reader looks when the writer is done, and sees the state from before.
    """
    client = client_with(overlapping, state={"sum": 1})
    calls = [
        stage.call("put_early", slot="sum", value=5),
        stage.call("look_late", slot="sum"),
    ]
    results = call_batch(front, client, calls)

    assert (1, {"sum": 6}) == (results[1].value, client.state)


def test_failed_calls_add_nothing(case, front, stage):
    """
    WRT-09: only what the good one wrote.
    """
    client = client_with(case)
    writes = [("put_and_fail", "sum", 3), ("put", "sum", 4)]
    call_batch(front, client, puts(stage, *writes))

    assert {"sum": 4} == client.state


@pytest.mark.parametrize("writes", [[("put", "log", n) for n in range(12)]])
def test_every_engine_makes_the_same_state(case, front, stage, writes):
    """
    WRT-11: as one after the other would.
    """
    expected, client = client_with(SEQUENTIAL), client_with(case)
    for made in (expected, client):
        call_batch(front, made, puts(stage, *writes))

    assert {"log": list(range(12))} == expected.state == client.state


def test_derived_clients_go_their_own_way(case, front, stage):
    """
    R144: with the same reducers, from the state as it was.
    """
    client = client_with(case, state={"sum": 1})
    derived = client.without("work")
    call_batch(front, derived, puts(stage, ("put", "sum", 1)))

    assert ({"sum": 1}, {"sum": 2}) == (client.state, derived.state)


def test_what_was_written_is_in_the_results_and_not_on_the_wire(case, stage):
    """
    WRT-12: the host has it of each call; a model is told nothing that it did not ask for.
    """
    client = client_with(case)
    calls = puts(stage, ("put", "sum", 3), ("put", "sum", 4))
    model = ScriptedModel([Turn(calls=calls), Turn("done")])
    result = ToolLoop(client, model).run("go")
    told = [m for m in result.messages if m["role"] == "tool"]

    assert [{"sum": 3}, {"sum": 4}] == [r.writes for r in result.results]
    assert [{"role", "tool_call_id", "name", "content", "status"}] * 2 == list(
        map(set, told)
    )
    assert ["3", "4"] == [m["content"] for m in told]
