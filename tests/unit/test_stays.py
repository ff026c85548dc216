"""
The wait for a body whose batch may be over before it is.
"""

from __future__ import annotations

import threading

import pytest

from attempts import Late, attempt_of
from engine_stage import begin, outcome
from tooldecl._isolation import (
    Job,
    Ledger,
    Place,
    Stopped,
    StopSignal,
    run_here,
    run_job,
    submit,
)


def here(attempt, place):
    """
    Run a body on the thread that asks.
    """
    run_here(attempt, place, attempt.signal or StopSignal())


def away(attempt, place):
    """
    Run a body on a thread of its own.
    """
    run_job(Job(attempt, place), submit)


@pytest.fixture(params=[here, away])
def run(request):
    """
    Run the test with the body in either place.
    """
    return request.param


@pytest.fixture
def late():
    """
    Hear of late ends.
    """
    return Late()


@pytest.fixture
def place(late):
    """
    Give a body somewhere to be reported to.
    """
    return Place(ledger=Ledger(), owner="owner", on_late=late)


@pytest.mark.parametrize("make", [lambda: None, StopSignal], ids=["without", "with"])
def test_a_body_that_ends_first_has_its_outcome(run, place, late, make):
    """
    FAT-07: a signal that nobody sets changes nothing, and nothing is left on it.
    """
    attempt = attempt_of(lambda: 5)
    attempt.signal = signal = make()
    run(attempt, place)
    if signal is not None:
        signal.set()

    assert (5, "completed", [], 0) == (
        attempt.value,
        attempt.fate,
        late,
        len(place.ledger),
    )
    assert not attempt.context.cancelled


def test_a_body_that_is_left_behind_is_listed_until_it_ends(run, place, late):
    """
    SPEC 5: it is told, and whoever waits for it does so no longer.
    """
    began, release = threading.Event(), threading.Event()

    def body():
        began.set()
        release.wait(30)
        return 5

    attempt = attempt_of(body)
    attempt.signal = StopSignal()
    future = begin(run, attempt, place)
    began.wait(30)
    attempt.signal.set()
    while not len(place.ledger):
        began.wait(0.001)
    fate, cancelled = attempt.fate, attempt.context.cancelled
    release.set()
    with pytest.raises(Stopped):
        outcome(future)
    while len(place.ledger):
        release.wait(0.001)

    assert ("abandoned", True) == (fate, cancelled)
    assert [attempt] == [ended for ended, _ in late]


def test_a_body_does_not_begin_after_the_signal(place, late):
    """
    R20: the batch was over before.
    """
    ran = []
    attempt = attempt_of(lambda: ran.append(1))
    attempt.signal = StopSignal()
    attempt.signal.set()
    with pytest.raises(Stopped):
        run_here(attempt, place, attempt.signal)

    assert ([], "not_started", 0) == (ran, attempt.fate, len(place.ledger))
