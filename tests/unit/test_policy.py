"""
`Retry` and the limits of time: closed, frozen, checked when they are made.
"""

from __future__ import annotations

import dataclasses
import pickle

from datetime import timedelta

import pytest

from tooldecl import Retry
from tooldecl._policy import check_seconds
from tooldecl.exceptions import DeclarationError


def test_the_defaults_are_those_that_are_documented():
    """
    TAB-03: what is not said is filled in when the policy is made, and nowhere else.
    """
    retry = Retry(attempts=5)

    assert (5, 0.2, 2.0, 30.0, 0.1, None, None) == dataclasses.astuple(retry)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"attempts": 0}, "Retry(attempts=...) takes a whole number from 1, got 0."),
        ({"attempts": -1}, "Retry(attempts=...) takes a whole number from 1, got -1."),
        (
            {"attempts": True},
            "Retry(attempts=...) takes a whole number from 1, got True.",
        ),
        (
            {"attempts": 2.0},
            "Retry(attempts=...) takes a whole number from 1, got 2.0.",
        ),
        (
            {"attempts": "3"},
            "Retry(attempts=...) takes a whole number from 1, got '3'.",
        ),
        ({"delay": -1}, "Retry(delay=...) takes a number from 0, got -1."),
        ({"delay": "1"}, "Retry(delay=...) takes a number from 0, got '1'."),
        ({"delay": True}, "Retry(delay=...) takes a number from 0, got True."),
        ({"factor": 0.5}, "Retry(factor=...) takes a number from 1, got 0.5."),
        ({"jitter": 1.5}, "Retry(jitter=...) takes a number from 0 to 1, got 1.5."),
        (
            {"delay": 5, "max_delay": 4},
            "Retry(max_delay=...) takes at least delay (5), got 4.",
        ),
        ({"within": 0}, "Retry(within=...) takes seconds above 0, got 0."),
    ],
    ids=str,
)
def test_a_policy_that_makes_no_sense_is_refused(options, message):
    """
    VAL-08: a policy is judged when it is made, not at the first failure.
    """
    with pytest.raises(DeclarationError) as caught:
        Retry(**options)

    assert message == str(caught.value)


@pytest.mark.parametrize("field", ["delay", "factor", "max_delay", "jitter", "within"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400], ids=str)
def test_numbers_without_an_end_are_refused(field, value):
    """
    VAL-09: a wait of infinite or of no length would only be noticed in production.
    """
    with pytest.raises(DeclarationError, match=rf"^Retry\({field}=...\) takes "):
        Retry(**{field: value})


@pytest.mark.parametrize(
    "on", [(ValueError, OSError), ValueError, bool.__instancecheck__]
)
def test_conditions_are_exception_types_or_a_predicate(on):
    """
    One type alone is meant as a tuple of one.
    """
    expected = (on,) if isinstance(on, type) else on

    assert expected == Retry(on=on).on


async def _async_predicate(_error):
    return False


@pytest.mark.parametrize(
    "on",
    [
        (),
        (KeyboardInterrupt,),
        BaseException,
        int,
        (1,),
        "ValueError",
        _async_predicate,
    ],
    ids=repr,
)
def test_a_condition_that_would_never_or_always_hold_is_refused(on):
    """
    VAL-08: a class is callable and a coroutine is true, so both would pass for a
    predicate that always says yes.
    """
    with pytest.raises(DeclarationError, match=r"^Retry\(on=...\) takes a tuple of "):
        Retry(on=on)


def test_an_unknown_field_is_pythons_own_error():
    """
    A misspelt option must not be ignored.
    """
    with pytest.raises(TypeError, match="max_retries"):
        Retry(max_retries=3)


def test_a_policy_is_frozen_and_pickles():
    """
    Policies are shared by tools and sent to other processes.
    """
    retry = Retry(attempts=2, on=(ValueError,))

    with pytest.raises(dataclasses.FrozenInstanceError):
        retry.attempts = 3
    assert retry == pickle.loads(pickle.dumps(retry))


@pytest.mark.parametrize("value", [5, 0.2, timedelta(seconds=2), 1e-9])
def test_seconds_are_numbers_or_a_timedelta(value):
    """
    All limits of time go through one check.
    """
    expected = value.total_seconds() if isinstance(value, timedelta) else value

    assert expected == check_seconds(value, "timeout")


@pytest.mark.parametrize(
    "value",
    ["5s", -1, 0, True, float("nan"), float("inf"), 10**400, timedelta(0), None, [1]],
    ids=str,
)
def test_what_is_no_length_of_time_is_refused(value):
    """
    VAL-01: text, booleans, zero and what is not finite are no limits.
    """
    with pytest.raises(DeclarationError, match=r"^timeout takes seconds above 0, got "):
        check_seconds(value, "timeout")


def test_a_long_value_is_not_shown_whole():
    """
    The rule has to stay readable, whatever was given.
    """
    with pytest.raises(DeclarationError) as caught:
        check_seconds("x" * 1000, "timeout")

    assert 150 > len(str(caught.value))
