"""
Reducers: a slot that takes every write, whoever else writes meanwhile.
"""

from __future__ import annotations

import dataclasses
import itertools
import logging
import operator
import pickle
import threading

import pytest

from ordering import HANGS_AFTER
from tooldecl import Reducer
from tooldecl._state import State
from tooldecl.exceptions import DeclarationError


def joined(old, new):
    """
    Append what was written.
    """
    return [*old, new]


async def waiting(old, new):
    """
    Add up, but only when somebody awaits it.
    """


def state_of(initial=None, **reducers):
    """
    Make a state with reducers.
    """
    return State(initial or {}, reducers)


@pytest.mark.parametrize("fn", [None, 3, waiting])
def test_what_cannot_be_called_at_once_is_refused(fn):
    """
    VAL-07: a coroutine in a slot would be found by the next call that reads it.
    """
    with pytest.raises(DeclarationError) as caught:
        Reducer(0, fn)

    assert str(caught.value) == (
        "Reducer(fn=...) takes a callable of the old and the new value that waits for "
        f"nothing, got {fn!r}."
    )


def test_a_reducer_is_frozen_and_its_first_value_copied():
    """
    R148: the list that it was made with may go on changing.
    """
    given = [1]
    reducer = Reducer(given, joined)
    given.append(2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        reducer.init = 3

    assert ([1], reducer) == (reducer.init, pickle.loads(pickle.dumps(reducer)))


def test_every_write_is_taken_and_is_no_conflict():
    """
    WRT-02, WRT-04: 3 and 4 onto 0 are 7, and a list has both.
    """
    state = state_of(n=Reducer(0, operator.add), log=Reducer([], joined))
    conflicts = state.fold([("c1", {"n": 3, "log": "a"}), ("c2", {"n": 4, "log": "b"})])

    assert ({"n": 7, "log": ["a", "b"]}, {}) == (state.snapshot(), conflicts)


def test_the_first_value_is_for_a_slot_that_has_none():
    """
    WRT-03: a value that is there, None as well, is what the reducer goes on from.
    """
    state = state_of(
        {"n": 10, "none": None},
        n=Reducer(0, operator.add),
        none=Reducer(0, joined_to_none),
    )
    state.fold([("c1", {"n": 1, "none": 1})])

    assert {"n": 11, "none": [None, 1]} == state.snapshot()


def joined_to_none(old, new):
    """
    Show both.
    """
    return [old, new]


def test_other_slots_keep_the_last_write():
    """
    WRT-01: beside a slot with a reducer, the others are as they were.
    """
    state = state_of(n=Reducer(0, operator.add))
    conflicts = state.fold([("c1", {"n": 1, "x": 1}), ("c2", {"n": 1, "x": 2})])

    assert ({"n": 2, "x": 2}, {"x": ("c1", "c2")}) == (state.snapshot(), conflicts)


def test_writes_are_taken_in_call_order():
    """
    WRT-08: what a reducer makes depends on the calls, never on who was quicker.
    """
    state = state_of(log=Reducer("", operator.add))
    state.fold([("c1", {"log": "a"}), ("c2", {"log": "b"}), ("c3", {"log": "c"})])

    assert "abc" == state.snapshot()["log"]


def test_no_writes_leave_the_very_same_state():
    """
    WRT-05: the reducer is not asked, and its first value does not appear.
    """
    state = state_of(n=Reducer(0, operator.add))
    before = state.snapshot()

    assert ({}, True, {}) == (
        state.fold([("c1", {})]),
        state.snapshot() is before,
        state.snapshot(),
    )


def test_what_a_reducer_makes_is_read_only_at_depth():
    """
    A tool that could write to it would write for its siblings.
    """
    made = {"a": [1]}
    state = state_of(x=Reducer({}, lambda _old, _new: made))
    state.fold([("c1", {"x": 1})])
    made["a"].append(2)
    with pytest.raises(TypeError):
        state.snapshot()["x"]["a"].append(3)

    assert {"x": {"a": [1]}} == state.snapshot()


def test_what_a_reducer_is_given_is_read_only():
    """
    One that changes the old value in place would change what other calls have read.
    """
    state = state_of({"log": [0]}, log=Reducer([], operator.iadd))
    before = state.snapshot()
    state.fold([("c1", {"log": [1]})])

    assert ({"log": [0]}, True) == (state.snapshot(), state.snapshot() is before)


def circle(old, new):
    """
    Return a list that contains itself.
    """
    made = [old, new]
    made.append(made)

    return made


def choosy(old, new):
    """
    Add up, but no thirteen.
    """
    if new == 13:
        raise ValueError("secret 13")

    return old + new


def leaving(old, new):
    """
    Ask the interpreter to end.
    """
    raise SystemExit(3)


@pytest.mark.parametrize("fn", [circle, leaving])
def test_a_reducer_that_cannot_be_used_loses_its_write_alone(fn, caplog):
    """
    The other slots of the call, and the other calls, have theirs.
    """
    state = state_of(bad=Reducer(0, fn), n=Reducer(0, operator.add))
    state.fold([("c1", {"bad": 1, "n": 1, "x": 1}), ("c2", {"n": 1})])

    assert {"n": 2, "x": 1} == state.snapshot()
    assert [
        "The reducer of the slot 'bad' failed: the write of call c1 is dropped."
    ] == [record.getMessage() for record in caplog.records]


def test_the_write_that_failed_is_named_once(caplog):
    """
    The log names slot and call, at the level of a warning, with the reducer's traceback.
    """
    state = state_of(n=Reducer(0, choosy))
    state.fold([("c1", {"n": 1}), ("c2", {"n": 13}), ("c3", {"n": 2})])
    [record] = caplog.records

    assert ({"n": 3}, logging.WARNING, ValueError) == (
        state.snapshot(),
        record.levelno,
        record.exc_info[0],
    )


@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError])
def test_what_means_stop_is_not_kept(kind):
    """
    FAT-06: it leaves unchanged, and the state is as it was.
    """

    def stop(old, new):
        raise kind

    state = state_of(n=Reducer(0, stop))
    with pytest.raises(kind):
        state.fold([("c1", {"n": 1, "x": 1})])

    assert {} == state.snapshot()


def test_a_copy_goes_its_own_way_with_the_same_reducers():
    """
    R144: a derived client begins with the state and adds up by itself.
    """
    state = state_of({"n": 1}, n=Reducer(0, operator.add))
    other = state.copy()
    other.fold([("c1", {"n": 1})])

    assert ({"n": 1}, {"n": 2}) == (state.snapshot(), other.snapshot())


class Slow:
    """
    A reducer that two folds are inside of at once, and that counts how often it is asked.
    """

    def __init__(self, parties):
        self._together = threading.Barrier(parties)
        self._numbers = itertools.count(1)
        self.asked = 0

    def __call__(self, old, new):
        self.asked = number = next(self._numbers)
        try:
            self._together.wait(HANGS_AFTER if number <= 2 else 0)
        except threading.BrokenBarrierError:
            pass

        return old + new


def test_two_folds_at_once_lose_nothing():
    """
    Both have read the same old value; the one that comes second is asked again. That both
    are inside shows that no lock is held, and that it is asked a third time that the first
    answer was thrown away.
    """
    slow = Slow(2)
    state = state_of(n=Reducer(0, slow))
    threads = [
        threading.Thread(target=state.fold, args=([("c", {"n": amount})],), daemon=True)
        for amount in (3, 4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANGS_AFTER)

    assert ({"n": 7}, 3) == (state.snapshot(), slow.asked)


def test_a_fold_of_other_slots_does_not_disturb():
    """
    A reducer is asked again only where its own slot has changed.
    """
    state = state_of(n=Reducer(0, lambda old, new: old + new + inside()))
    asked = []

    def inside():
        asked.append(1)
        state.fold([("c2", {"x": 1})])
        return 0

    state.fold([("c1", {"n": 1})])

    assert ({"n": 1, "x": 1}, 1) == (state.snapshot(), len(asked))
