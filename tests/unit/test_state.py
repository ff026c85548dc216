"""
The client's state: snapshots that stay as they are, and the fold of what was written.
"""

from __future__ import annotations

import sys
import threading

import pytest

from tooldecl._state import State


def test_the_last_writer_in_call_order_wins_and_the_conflict_is_told():
    """
    WRT-01: x is written twice and y once; the order of the calls decides, not of time.
    """
    state = State({})
    conflicts = state.fold([("c1", {"x": 1}), ("c2", {"x": 2, "y": 9})])

    assert ({"x": 2, "y": 9}, {"x": ("c1", "c2")}) == (state.snapshot(), conflicts)


def test_without_a_reducer_two_writers_do_not_add_up():
    """
    The control of WRT-04: 3 and 4 onto 0 are 4, and the conflict says that something was
    lost.
    """
    state = State({"n": 0})
    conflicts = state.fold([("c1", {"n": 3}), ("c2", {"n": 4})])

    assert ({"n": 4}, {"n": ("c1", "c2")}) == (state.snapshot(), conflicts)


def test_two_writes_of_one_call_are_no_conflict():
    """
    A call may write a slot as often as it likes; it only ever gives its last value.
    """
    state = State({"x": 0})

    assert ({}, {"x": 1}) == (state.fold([("c1", {"x": 1})]), state.snapshot())


def test_three_writers_are_all_named():
    """
    WRT-10: whoever looks for the reason of a lost value needs every one of them.
    """
    state = State({})
    writes = [("a", {"x": 1}), ("b", {"y": 1}), ("c", {"x": 2}), ("d", {"x": 3})]

    assert {"x": ("a", "c", "d")} == state.fold(writes)


@pytest.mark.parametrize("writes", [[], [("c1", {})]])
def test_no_writes_leave_the_very_same_state(writes):
    """
    WRT-05: a batch that writes nothing costs no copy.
    """
    state = State({"x": 1})
    before = state.snapshot()

    assert ({}, True) == (state.fold(writes), state.snapshot() is before)


def test_a_snapshot_does_not_see_later_writes():
    """
    WRT-07: all calls of a batch read the state as it was when the batch began.
    """
    state = State({"x": 1})
    before = state.snapshot()
    state.fold([("c1", {"x": 2, "y": 3})])

    assert ({"x": 1}, {"x": 2, "y": 3}) == (before, state.snapshot())


def test_a_snapshot_cannot_be_changed():
    """
    A tool that could write to it would write for its siblings, without an order.
    """
    state = State({"x": {"y": [1]}})
    state.fold([("c1", {"z": 1})])
    with pytest.raises(TypeError):
        state.snapshot()["x"] = 2
    with pytest.raises(TypeError):
        state.snapshot()["x"]["y"].append(2)

    assert {"x": {"y": [1]}, "z": 1} == state.snapshot()


def test_the_initial_state_is_copied():
    """
    R148: a dict that the caller goes on using must not leak into every later call.
    """
    given = {"x": [1]}
    state = State(given)
    given["x"].append(2)
    given["y"] = 3

    assert {"x": [1]} == state.snapshot()


def test_folds_from_many_threads_lose_nothing():
    """
    Batches of one client may end at the same time on several threads. Each thread has a
    slot of its own here, so whatever it reads back is what it has written last.
    """
    state = State({})
    together = threading.Barrier(8)
    lost = []

    def write(slot):
        together.wait()
        for number in range(300):
            state.fold([("c", {slot: number})])
            if state.snapshot().get(slot) != number:
                lost.append((slot, number))

    threads = [threading.Thread(target=write, args=(f"s{k}",)) for k in range(8)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)

    assert [] == lost
