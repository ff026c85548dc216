"""
Reading a batch: ids, places, one deadline and one snapshot, before anything runs.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from tooldecl import ToolCall
from tooldecl._batch import Run, check_failures, read_batch, unique_id
from tooldecl._ids import new_id
from tooldecl.exceptions import DeclarationError
from tooldecl.testing import FakeClock


def read(calls, *, within=None, run=None, state=None, deps=None, now=0.0):
    """
    Read a batch at a moment of one's own choice.
    """
    return read_batch(
        calls,
        within=within,
        run=run,
        state=state or {},
        deps=deps,
        clock=FakeClock(now),
    )


def ids_of(*given):
    """
    Return the ids that calls with these ids get, and what stays visible of the given.
    """
    batch = read([ToolCall("f", None, call_id) for call_id in given])

    return [call.call_id for call in batch], [call.original_id for call in batch]


def test_ids_that_can_be_used_are_kept():
    """
    Whoever sent the calls finds its answers by them.
    """
    assert (["a", "b"], [None, None]) == ids_of("a", "b")


def test_missing_empty_and_repeated_ids_are_replaced():
    """
    R57: two answers under one id, or one under none, could be mixed up by whoever reads
    them. The first call with an id keeps it, and the original stays visible.
    """
    used, originals = ids_of("a", None, "", "a", "b", "a")

    assert (["a", "b"], 6) == ([used[0], used[4]], len(set(used)))
    assert [None, None, "", "a", None, "a"] == originals


@pytest.mark.parametrize("given", [7, 7.5, b"a", ["a"]])
def test_an_id_that_is_no_text_is_replaced(given):
    """
    R57: it stays visible as text, since a strict provider takes text alone.
    """
    [[used], [original]] = ids_of(given)

    assert (str, str(given)) == (type(used), original)


def test_an_id_is_never_one_that_a_model_has_guessed():
    """
    R57: made-up ids are counted, so the next one could be sent before it is made.
    """
    made = new_id("call")
    prefix, count = made[:17], int(made[17:], 16)
    guessed = [f"{prefix}{count + n:x}" for n in (1, 2)]
    used, _ = ids_of(*guessed, None)

    assert 3 == len(set(used))


def test_an_id_taken_elsewhere_is_replaced():
    """
    R57: a transcript has many batches, and its ids are unique in all of it.
    """
    taken = {"a"}
    used = [unique_id(call_id, taken) for call_id in ("a", "b", "b")]

    assert ["a", None, "b"] == [original for _, original in used]
    assert {"a", *(call_id for call_id, _ in used)} == taken


def test_each_call_has_its_place_in_its_run():
    """
    The idempotency key of a call comes from these two, never from the model's id.
    """
    places = [
        (call.run_id, call.position)
        for call in read([ToolCall("f")] * 3, run=Run(run_id="r", position=5))
    ]

    assert [("r", 5), ("r", 6), ("r", 7)] == places


def test_batches_without_a_run_have_runs_of_their_own():
    """
    Two batches that a host sends one after the other do not repeat each other.
    """
    first, second = (read([ToolCall("f")] * 2) for _ in range(2))

    assert (1, 2) == (
        len({call.run_id for call in first}),
        len({call.run_id for call in [*first, *second]}),
    )


def test_all_calls_share_one_deadline_one_snapshot_and_one_object():
    """
    What a batch was given holds for each of its calls in the same way.
    """
    state, deps = {"x": 1}, object()
    batch = read([ToolCall("f")] * 2, within=3, state=state, deps=deps, now=10.0)

    assert [(13.0, 10.0, state, deps)] * 2 == [
        (call.deadline, call.queued_at, call.state, call.deps) for call in batch
    ]


@pytest.mark.parametrize(
    ("within", "deadline"), [(None, None), (2, 2.0), (timedelta(seconds=1.5), 1.5)]
)
def test_a_limit_is_seconds_or_a_timedelta(within, deadline):
    """
    Durations are written in the same two ways everywhere.
    """
    [call] = read([ToolCall("f")], within=within)

    assert deadline == call.deadline


@pytest.mark.parametrize("within", [0, -1, "5", True, float("nan"), float("inf")])
def test_an_odd_limit_is_refused(within):
    """
    VAL-01: a bound that bounds nothing is a mistake of the program.
    """
    with pytest.raises(DeclarationError) as caught:
        read([], within=within)

    assert f"within takes seconds above 0, got {within!r}." == str(caught.value)


@pytest.mark.parametrize(
    ("entry", "kind"), [({"name": "f"}, "dict"), ("f", "str"), (None, "NoneType")]
)
def test_an_entry_that_is_no_call_is_refused(entry, kind):
    """
    Leaving it out would leave its place without an answer.
    """
    with pytest.raises(TypeError) as caught:
        read([ToolCall("f"), entry])

    assert f"Entry 1 of the batch is a {kind}, not a ToolCall." == str(caught.value)


@pytest.mark.parametrize("name", [None, 5, ["f"], {"f": 1}])
def test_a_name_that_is_no_text_is_shown_by_its_type(name):
    """
    A model may send anything; what is no text names no tool, and breaks nothing.
    """
    [call] = read([ToolCall(name)])

    assert f"<{type(name).__name__}>" == call.name


@pytest.mark.parametrize("failures", ["ignore", None, "RAISE"])
def test_failures_are_returned_or_raised(failures):
    """
    VAL-07: a third word would be taken for one of the two in silence.
    """
    with pytest.raises(DeclarationError) as caught:
        check_failures(failures)

    assert f"failures takes 'return' or 'raise', got {failures!r}." == str(caught.value)


def test_an_empty_batch_is_a_batch():
    """
    A model may ask for nothing.
    """
    assert [] == read([])
