"""
What must not overlap does not, under any engine.
"""

from __future__ import annotations

import threading

from engine_stage import begin_batch, client_of, outcome
from fronts import call_batch
from tooldecl import ToolCall, ToolClient, tool
from tooldecl.engines import ThreadEngine


def test_nothing_overlaps_a_serial_call(case, front, stage):
    """
    R64, ENG-03: A, S, B: nothing is inside together with S, and the order is A, S, B.
    """
    calls = stage.calls(("work", "a"), ("alone", "s"), ("work", "b"))
    results = call_batch(front, client_of(case.make()), calls)

    assert ["in a", "out a", "in s", "out s", "in b", "out b"] == stage.journal
    assert results.ok


def test_a_serial_call_waits_for_the_calls_before_it(overlapping, front, stage):
    """
    ENG-03: both calls before it are inside, and until they leave it does not begin.
    """
    calls = stage.calls(("hold", "a"), ("hold", "b"), ("alone", "s"), ("work", "c"))
    future = begin_batch(front, client_of(overlapping.make()), calls)
    stage.arrivals(2)
    before = stage.journal
    stage.go(2)
    outcome(future)

    assert {"in a", "in b"} == set(before)
    assert ["in s", "out s", "in c", "out c"] == stage.journal[-4:]


def test_without_serial_the_same_calls_overlap(overlapping, front, stage):
    """
    ENG-04: the control of the test above: the third call is through while two are held.
    """
    calls = stage.calls(("hold", "a"), ("hold", "b"), ("work", "s"))
    future = begin_batch(front, client_of(overlapping.make()), calls)
    stage.take("done")
    stage.arrivals(2)
    before = stage.journal
    stage.go(2)
    outcome(future)

    assert {"in a", "in b", "in s", "out s"} == set(before)


def test_calls_after_a_serial_one_wait_for_it(overlapping, front, stage):
    """
    ENG-03: a barrier has two sides.
    """
    calls = stage.calls(("hold_alone", "s"), ("work", "a"), ("work", "b"))
    future = begin_batch(front, client_of(overlapping.make()), calls)
    stage.arrivals(1)
    before = stage.journal
    stage.go()

    assert (True, ["in s"]) == (outcome(future).ok, before)
    assert ["in s", "out s"] == stage.journal[:2]


def test_serial_alone_takes_no_threads():
    """
    SPEC 0: a batch of one call is no reason to make a window.
    """
    names = []

    @tool(isolation="inline")
    def where() -> None:
        """Tell the thread."""
        names.append(threading.current_thread())

    ToolClient([where], engine=ThreadEngine()).invoke_batch([ToolCall("where")])

    assert [threading.current_thread()] == names
