"""
What a stand-in would only ignore is refused: a test with a typo must not pass.
"""

from __future__ import annotations

import math

import pytest

from fronts import FRONTS, call_batch
from tooldecl import ToolCall, ToolClient, Turn, tool
from tooldecl.filters import Approved, Denied
from tooldecl.testing import (
    Chaos,
    FakeClock,
    FakeEngine,
    Gate,
    Recording,
    ScriptedApprover,
    ScriptedModel,
)


@tool
def say(word: str) -> str:
    """Say a word."""
    return word


CALLS = [ToolCall("say", {"word": word}, word) for word in "abc"]

CLOCK = FakeClock()

POSITIONS = "takes a whole number from 0, got"
SECONDS = "takes a finite number of seconds from 0, got"
SHARE = "takes a share from 0 to 1, got"


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (
            {"order": "reverse"},
            ValueError,
            "order=...) takes 'given', 'reversed' or positions, got 'reverse'.",
        ),
        (
            {"order": "random"},
            ValueError,
            "order=...) takes 'given', 'reversed' or positions, got 'random'.",
        ),
        ({"order": 5}, TypeError, "order=...) takes positions, got 5."),
        ({"order": ["0"]}, TypeError, f"order=...) {POSITIONS} '0'."),
        ({"order": [True]}, TypeError, f"order=...) {POSITIONS} True."),
        ({"order": [-1]}, ValueError, f"order=...) {POSITIONS} -1."),
        (
            {"order": [0, 0]},
            ValueError,
            "order=...) takes each position once, got 0 twice.",
        ),
        ({"lost": [-1]}, ValueError, f"lost=...) {POSITIONS} -1."),
        ({"lost": ["0"]}, TypeError, f"lost=...) {POSITIONS} '0'."),
        ({"lost": "0"}, TypeError, "lost=...) takes positions, got '0'."),
        ({"lost": 0}, TypeError, "lost=...) takes positions, got 0."),
        (
            {"lost": [1, 1]},
            ValueError,
            "lost=...) takes each position once, got 1 twice.",
        ),
        ({"delays": [5]}, TypeError, "delays=...) takes seconds by position, got [5]."),
        ({"delays": {-1: 5}}, ValueError, f"delays=...) {POSITIONS} -1."),
        ({"delays": {"0": 5}}, TypeError, f"delays=...) {POSITIONS} '0'."),
        ({"delays": {0: -5}}, ValueError, f"delays={{0: ...}}) {SECONDS} -5."),
        ({"delays": {0: math.nan}}, ValueError, f"delays={{0: ...}}) {SECONDS} nan."),
        ({"delays": {0: "5"}}, TypeError, f"delays={{0: ...}}) {SECONDS} '5'."),
        ({"fails_after": -1}, ValueError, f"fails_after=...) {POSITIONS} -1."),
        ({"fails_after": "x"}, TypeError, f"fails_after=...) {POSITIONS} 'x'."),
        (
            {"clock": "x"},
            TypeError,
            "clock=...) takes a FakeClock or None, got 'x'.",
        ),
    ],
)
def test_an_engine_refuses_what_it_would_ignore(options, error, text):
    """
    What can be known when it is made is said then, with the option and the value.
    """
    with pytest.raises(error) as caught:
        FakeEngine(**{"clock": CLOCK} | options)

    assert f"FakeEngine({text}" == str(caught.value)


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize(
    ("option", "given", "place"),
    [
        ("order", [7], 7),
        ("order", [0, 3], 3),
        ("lost", [99], 99),
        ("delays", {99: 5}, 99),
    ],
)
def test_a_position_that_a_batch_does_not_have_fails_it(front, option, given, place):
    """
    A fault at a call that is not there would test nothing, and pass.
    """
    engine = FakeEngine(clock=CLOCK, **{option: given})
    with pytest.raises(AssertionError) as caught:
        call_batch(front, ToolClient([say], engine=engine), CALLS)

    assert (
        f"FakeEngine({option}=...) names position {place}, and the engine was given "
        "3 calls, counted from 0."
    ) == str(caught.value)
    assert [] == engine.ran


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"failures": math.nan}, ValueError, f"failures=...) {SHARE} nan."),
        ({"failures": True}, TypeError, f"failures=...) {SHARE} True."),
        ({"failures": "0.5"}, TypeError, f"failures=...) {SHARE} '0.5'."),
        ({"deaths": 30}, ValueError, f"deaths=...) {SHARE} 30."),
        ({"busy": -0.1}, ValueError, f"busy=...) {SHARE} -0.1."),
        ({"delays": 1.5}, ValueError, f"delays=...) {SHARE} 1.5."),
        ({"longest": -1}, ValueError, f"longest=...) {SECONDS} -1."),
        ({"longest": math.nan}, ValueError, f"longest=...) {SECONDS} nan."),
        (
            {"clock": "x"},
            TypeError,
            "clock=...) takes a FakeClock or None, got 'x'.",
        ),
    ],
)
def test_chaos_refuses_what_is_no_rate(options, error, text):
    """
    Chaos that never happens lets every test pass.
    """
    with pytest.raises(error) as caught:
        Chaos(1, **options)

    assert f"Chaos({text}" == str(caught.value)


@pytest.mark.parametrize(
    ("now", "error"), [("x", TypeError), (True, TypeError), (math.nan, ValueError)]
)
def test_a_clock_refuses_what_is_no_time(now, error):
    """
    No deadline is ever reached on a clock that shows nothing.
    """
    with pytest.raises(error) as caught:
        FakeClock(now)

    assert (
        f"FakeClock(now=...) takes a finite number of seconds, got {now!r}."
    ) == str(caught.value)


@pytest.mark.parametrize("way", ["advance", "sleep"])
@pytest.mark.parametrize(
    ("seconds", "error"), [(-5, ValueError), (math.nan, ValueError), ("5", TypeError)]
)
def test_a_clock_never_goes_back(way, seconds, error):
    """
    No monotonic clock does: what a test sees then cannot happen.
    """
    clock = FakeClock(10)
    with pytest.raises(error) as caught:
        getattr(clock, way)(seconds)

    assert f"FakeClock.{way}(...) {SECONDS} {seconds!r}." == str(caught.value)
    assert (10, []) == (clock.monotonic(), clock.sleeps)


@pytest.mark.parametrize(
    ("given", "error"), [(-1, ValueError), (math.nan, ValueError), ("x", TypeError)]
)
def test_a_gate_refuses_what_is_no_time(given, error):
    """
    Whoever waits would fail at once, or never.
    """
    with pytest.raises(error) as caught:
        Gate(hangs_after=given)

    assert f"Gate(hangs_after=...) {SECONDS} {given!r}." == str(caught.value)


@pytest.mark.parametrize(
    ("whose", "made", "good", "unit"),
    [
        ("model", ScriptedModel, Turn("a"), "turns"),
        ("approver", ScriptedApprover, Approved(), "decisions"),
        ("approver", ScriptedApprover, Denied("no"), "decisions"),
    ],
)
@pytest.mark.parametrize("bad", [5, "x", None, ValueError])
def test_a_script_refuses_what_cannot_be_said(whose, made, good, unit, bad):
    """
    It is said where it is written, not where the script comes to it.
    """
    made([good, ValueError()])
    with pytest.raises(TypeError) as caught:
        made([good, bad])

    assert f"The script of this {whose} has {unit} and exceptions, got {bad!r}." == str(
        caught.value
    )


def test_a_recording_refuses_what_is_no_flag():
    """
    A recording of what is sensitive is never made by mistake.
    """
    with pytest.raises(TypeError) as caught:
        Recording(sensitive="no")

    assert "Recording(sensitive=...) takes True or False, got 'no'." == str(
        caught.value
    )
