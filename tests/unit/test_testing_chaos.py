"""
What goes wrong at given rates, and the same again for the same seed.
"""

from __future__ import annotations

import pytest

from fronts import call, call_batch
from tooldecl import ToolCall, ToolClient, ToolLoop, Turn, tool
from tooldecl.engines import AsyncioEngine, SequentialEngine, ThreadEngine
from tooldecl.testing import Chaos, FakeClock, ScriptedModel


RUNS: list[int] = []


@tool
def work(number: int) -> int:
    """Work."""
    RUNS.append(number)
    return number


CALLS = [ToolCall("work", {"number": n % 50}, f"c{n}") for n in range(200)]
STATUSES = {"failure": "tool_error", "death": "worker_died", "busy": "busy"}


def outcome(results):
    """
    Return how each call ended, by what it was about.
    """
    return sorted((r.status, r.value or 0) for r in results)


def test_one_seed_is_one_run_under_every_engine(front):
    """
    A failure that chaos has found can be looked at again, whichever thread was first.
    """
    outcomes = []
    for engine in (SequentialEngine, ThreadEngine, AsyncioEngine):
        chaos = Chaos(7, failures=0.2, deaths=0.1, busy=0.1)
        client = ToolClient([work], filters=[chaos], engine=engine())
        results = call_batch(front, client, CALLS)
        outcomes.append(outcome(results))
        by_id = {r.call_id: r for r in results}

        assert [c.id for c in CALLS] == [r.call_id for r in results]
        assert {STATUSES[what] for what in chaos.happened.values()} == {
            by_id[call_id].status for call_id in chaos.happened
        }
        assert sum(not r.ok for r in results) == len(chaos.happened)

    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_another_seed_is_another_run():
    """
    Else it would be one test and not many.
    """
    happened = []
    for seed in (1, 1, 2):
        chaos = Chaos(seed, failures=0.5)
        ToolClient([work], filters=[chaos]).invoke_batch(CALLS)
        happened.append(chaos.happened)

    assert happened[0] == happened[1] != happened[2]


@pytest.mark.parametrize(
    ("share", "status"),
    [("failures", "tool_error"), ("deaths", "worker_died"), ("busy", "busy")],
)
def test_rates_are_kept_and_results_look_like_the_real_ones(front, share, status):
    """
    A host cannot tell them apart: it has a status, a class, a text and an error.
    """
    client = ToolClient([work], filters=[Chaos(3, **{share: 0.25})])
    results = call_batch(front, client, CALLS)
    failed = [r for r in results if not r.ok]

    assert 30 < len(failed) < 70
    assert {(status, "transient")} == {(r.status, r.error_class) for r in failed}
    assert all(r.content == str(r.error) and "'work'" in r.content for r in failed)
    with pytest.raises(type(failed[0].error)):
        failed[0].unwrap()


def test_some_of_what_failed_has_taken_effect():
    """
    A result that is lost on its way back is the case that hosts forget.
    """
    RUNS.clear()
    results = ToolClient([work], filters=[Chaos(1, deaths=1)]).invoke_batch(CALLS)
    ran = [r for r in results if r.fate == "completed"]

    assert 60 < len(RUNS) == len(ran) < 140
    assert {"worker_died"} == {r.status for r in results}


def test_a_call_that_finds_no_place_has_not_run():
    """
    Busy means that the body never began.
    """
    RUNS.clear()
    results = ToolClient([work], filters=[Chaos(1, busy=1)]).invoke_batch(CALLS)

    assert ([], {"not_started"}) == (RUNS, {r.fate for r in results})


def test_delays_pass_on_the_clock_of_the_test(front):
    """
    A slow world is tried in no time; what waits is answered as ever.
    """
    clock = FakeClock()
    chaos = Chaos(1, delays=1, longest=60, clock=clock)
    result = call(front, ToolClient([work], filters=[chaos]), "work", {"number": 1})

    assert ("ok", True) == (result.status, 0 < clock.monotonic() <= 60)


def test_delays_pass_in_real_time_without_one(front):
    """
    For the tests that are about overlap.
    """
    chaos = Chaos(1, delays=1, longest=0.001)
    result = call(front, ToolClient([work], filters=[chaos]), "work", {"number": 1})

    assert ("ok", {}) == (result.status, chaos.happened)


def test_a_loop_goes_on_through_all_of_it():
    """
    What the model is told is always a transcript that can be sent on.
    """
    turns = [Turn(calls=CALLS[n : n + 5]) for n in range(0, 50, 5)]
    model = ScriptedModel([*turns, Turn(text="done")])
    chaos = Chaos(11, failures=0.3, deaths=0.3, busy=0.3)
    client = ToolClient([work], filters=[chaos])
    run = ToolLoop(client, model, max_turns=20).run("Go.")
    model.assert_complete()

    assert ("answer", 50) == (run.stop_reason, len(run.results))
    assert 50 == sum(message["role"] == "tool" for message in run.messages)


@pytest.mark.parametrize(
    ("shares", "text"),
    [
        ({"failures": -0.1}, "from 0 to 1"),
        ({"delays": 1.1}, "from 0 to 1"),
        ({"failures": 0.6, "busy": 0.6}, "together they are at most 1"),
    ],
)
def test_shares_that_are_none_are_refused(shares, text):
    """
    A share of 30 was meant as 30 %.
    """
    with pytest.raises(ValueError, match=text):
        Chaos(1, **shares)


def test_the_same_call_again_has_another_fate():
    """
    Else a call that failed once would fail for ever, and no retry would be tried.
    """
    client = ToolClient([work], filters=[Chaos(1, failures=0.5)])
    results = [client.invoke("work", {"number": 1}) for _ in range(40)]

    assert {"ok", "tool_error"} == {result.status for result in results}
