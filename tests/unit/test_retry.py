"""
Whether there is another attempt, and when: pure, with time and chance as arguments.
"""

from __future__ import annotations

import asyncio
import email.message
import math
import urllib.error

import pytest

from tooldecl import Retry, ToolMeta
from tooldecl._calls import Fate
from tooldecl._retry import backoff, next_wait
from tooldecl.exceptions import DeclarationError, ToolError, ToolTimeoutError


def middle():
    """
    Give the number that spreads nothing.
    """
    return 0.5


def low():
    """
    Give the lowest number there is.
    """
    return 0.0


def high():
    """
    Give a number as near to 1 as random.random comes.
    """
    return math.nextafter(1.0, 0.0)


def wait_after(error, *, retry=None, fate=Fate.COMPLETED, attempt=1, spent=0.0, **meta):
    """
    Ask for the wait after a failed attempt.
    """
    retry = retry or Retry(delay=0.2)
    record = ToolMeta(name="f", description="F.", retry=retry, **meta)

    return next_wait(
        record, attempt=attempt, error=error, fate=fate, spent=spent, rng=middle
    )


def timed_out(fate):
    """
    Make the error of an attempt whose deadline passed.
    """
    return ToolTimeoutError(tool="f", timeout=1, source="declared", fate=fate)


def test_waits_grow_by_the_factor_up_to_the_cap():
    """
    RTY-07, E-12: 0.1 s, doubled, capped at 0.35 s.
    """
    retry = Retry(attempts=20, delay=0.1, factor=2, max_delay=0.35, jitter=0)
    waits = [backoff(retry, number, middle) for number in (1, 2, 3, 4, 11)]

    assert [0.1, 0.2, 0.35, 0.35, 0.35] == waits


def test_the_first_number_of_the_defaults():
    """
    RTY-06: what ``retry=True`` declares is what the documents say, wait by wait.
    """
    retry = Retry()
    waits = [round(backoff(retry, number, middle), 9) for number in (1, 2, 3)]

    assert ([0.2, 0.4, 0.8], 3) == (waits, retry.attempts)


@pytest.mark.parametrize("number", [400, 100_000])
@pytest.mark.parametrize("factor", [10, 10.0])
def test_a_wait_beyond_all_numbers_is_the_cap(factor, number):
    """
    The hundred thousandth wait overflows any float long before it is waited for.
    """
    retry = Retry(attempts=10**6, delay=0.1, factor=factor, max_delay=5, jitter=0)

    assert 5 == backoff(retry, number, middle)


@pytest.mark.parametrize("number", [1, 2, 400])
def test_no_delay_stays_no_delay(number):
    """
    Zero times anything is zero, however large the factor has become.
    """
    retry = Retry(attempts=1000, delay=0, factor=10.0)

    assert 0.0 == backoff(retry, number, high)


def test_jitter_spreads_evenly_around_the_wait():
    """
    E-12: callers that failed together do not come back together, and the bounds are the
    declared share, from below and from above.
    """
    retry = Retry(delay=1, jitter=0.25)
    waits = [backoff(retry, 1, rng) for rng in (low, middle, high)]

    assert [0.75, 1.0] == waits[:2]
    assert 1.25 - 1e-9 < waits[2] <= 1.25


def test_full_jitter_goes_down_to_nothing():
    """
    A share of 1 is the widest there is; a wait is never negative.
    """
    assert 0.0 == backoff(Retry(delay=1, jitter=1), 1, low)


def test_jitter_does_not_pass_the_cap():
    """
    ``max_delay`` is a promise about every wait, the spread ones too.
    """
    retry = Retry(delay=1, max_delay=1, jitter=1)

    assert 1.0 == backoff(retry, 1, high)


def test_without_jitter_no_number_is_asked_for():
    """
    A host that wants exact waits gets them, whatever its source of numbers does.
    """

    def broken():
        raise AssertionError("asked")

    assert 0.2 == backoff(Retry(jitter=0), 1, broken)


@pytest.mark.parametrize(
    ("attempt", "expected"), [(1, 0.2), (2, 0.4), (3, None), (4, None)]
)
def test_attempts_count_the_first(attempt, expected):
    """
    RTY-02: three attempts are the first one and two more.
    """
    assert expected == wait_after(ConnectionError(), attempt=attempt)


def test_nothing_declared_is_no_retry():
    """
    RTY-03, R29: a repeat is only ever what the tool's author asked for.
    """
    meta = ToolMeta(name="f", description="F.")

    assert None is next_wait(
        meta,
        attempt=1,
        error=ConnectionError(),
        fate=Fate.COMPLETED,
        spent=0.0,
        rng=middle,
    )


@pytest.mark.parametrize(
    "given", [{"max": 3}, {"attempts": 3}, [3], "3", 2.0, 0, -1, False, object()]
)
def test_a_retry_of_an_odd_shape_is_refused(given):
    """
    E-02: a wrong key must not give the defaults, and a wrong value must not be found at
    the first backoff.
    """
    with pytest.raises(DeclarationError) as caught:
        ToolMeta(name="f", description="F.", retry=given)

    assert str(caught.value).startswith("@tool on f: retry takes a Retry, ")


@pytest.mark.parametrize(
    "error",
    [
        ValueError(),
        TypeError(),
        PermissionError(),
        FileNotFoundError(),
        ToolError("Wrong order.", error_class="semantic"),
        ToolError("No such order."),
        ExceptionGroup("", [ConnectionError(), ValueError()]),
    ],
    ids=repr,
)
def test_only_transient_failures_are_repeated(error):
    """
    RTY-04, R34: what is wrong now will be wrong in a second as well.
    """
    assert wait_after(error) is None


@pytest.mark.parametrize(
    "error",
    [
        ConnectionError(),
        TimeoutError(),
        ToolError("Busy.", error_class="transient"),
        ExceptionGroup("", [ConnectionError(), TimeoutError()]),
    ],
    ids=repr,
)
def test_transient_failures_are_repeated(error):
    """
    RTY-01, R120: also those that a task group has wrapped.
    """
    assert 0.2 == wait_after(error)


@pytest.mark.parametrize(
    "error",
    [
        asyncio.CancelledError(),
        KeyboardInterrupt(),
        SystemExit(1),
        GeneratorExit(),
        MemoryError(),
        BaseExceptionGroup("", [ConnectionError(), SystemExit()]),
        ExceptionGroup("", [ConnectionError(), MemoryError()]),
    ],
    ids=repr,
)
def test_whatever_is_no_ordinary_exception_is_never_repeated(error):
    """
    R31: "everything but ValueError" must not keep a program from being stopped.
    """
    assert wait_after(error, retry=Retry(on=lambda _: True)) is None


@pytest.mark.parametrize(
    ("fate", "idempotent", "repeated"),
    [
        ("stopped", False, True),
        ("killed", False, True),
        ("not_started", False, True),
        ("completed", False, False),
        ("abandoned", False, False),
        ("completed", True, True),
        ("abandoned", True, True),
    ],
)
def test_a_timeout_is_repeated_only_where_it_cannot_double_an_effect(
    fate, idempotent, repeated
):
    """
    R28: a body that may still run, or that ended unseen after its deadline, is run again
    only where the author has declared that harmless.
    """
    wait = wait_after(timed_out(fate), fate=Fate(fate), idempotent=idempotent)

    assert repeated == (wait is not None)


def test_a_predicate_cannot_allow_what_may_double_an_effect():
    """
    R28: the declaration is honoured by every path, the author's own predicate included.
    """
    retry = Retry(on=lambda _: True)

    assert wait_after(timed_out("abandoned"), retry=retry, fate=Fate.ABANDONED) is None


def test_an_abandoned_body_counts_whatever_the_error_is():
    """
    The fate says whether a body may still run, not the type of the error.
    """
    assert wait_after(ConnectionError(), fate=Fate.ABANDONED) is None


@pytest.mark.parametrize(
    ("on", "error", "repeated"),
    [
        ((KeyError,), KeyError(), True),
        ((LookupError,), KeyError(), True),
        ((KeyError, OSError), TimeoutError(), True),
        ((KeyError,), ConnectionError(), False),
        ((KeyError,), ExceptionGroup("", [KeyError(), KeyError()]), True),
        ((KeyError,), ExceptionGroup("", [KeyError(), ValueError()]), False),
        ((ExceptionGroup,), ExceptionGroup("", [ValueError()]), True),
        ((TimeoutError,), timed_out("stopped"), True),
    ],
)
def test_types_replace_the_standard_set(on, error, repeated):
    """
    ``on`` is exact: what it names is repeated, what it does not name is not.
    """
    wait = wait_after(error, retry=Retry(on=on), fate=Fate.STOPPED)

    assert repeated == (wait is not None)


def test_types_are_looked_for_along_the_causes_like_the_standard_set():
    """
    An author who words a failure for the model wraps it, and still wants it repeated.
    """
    error = ToolError("The shop does not answer.")
    error.__cause__ = ConnectionError()

    assert [0.2, None] == [
        wait_after(error, retry=Retry(on=on)) for on in ((OSError,), (KeyError,))
    ]


def test_a_predicate_replaces_the_standard_set():
    """
    It sees the error itself and decides by whatever it likes.
    """
    retry = Retry(on=lambda error: error.args == (503,))

    assert [0.2, None, None] == [
        wait_after(error, retry=retry)
        for error in (ValueError(503), ValueError(404), ConnectionError())
    ]


@pytest.mark.parametrize(
    ("spent", "expected"), [(0.0, 0.2), (0.79, 0.2), (0.8, None), (5.0, None)]
)
def test_no_wait_goes_past_the_whole_budget(spent, expected):
    """
    RTY-10, R32: ``within`` is for all attempts and waits; a wait that would end at its
    end or beyond is not begun.
    """
    assert expected == wait_after(
        ConnectionError(), retry=Retry(delay=0.2, within=1), spent=spent
    )


def shop_says(seconds):
    """
    Make the error of a server that wants to be left alone.
    """
    headers = email.message.Message()
    headers["Retry-After"] = str(seconds)

    return urllib.error.HTTPError("http://shop", 503, "busy", headers, None)


@pytest.mark.parametrize(
    ("asked", "expected"), [(0, 0.2), (3, 3.0), (10, 10.0), (11, None)]
)
def test_a_server_is_left_alone_for_as_long_as_it_asks(asked, expected):
    """
    E-12: it is never asked sooner, and where it asks for more than ``max_delay`` there is
    no other attempt.
    """
    assert expected == wait_after(
        shop_says(asked), retry=Retry(delay=0.2, max_delay=10)
    )


def test_the_wait_that_a_server_asks_for_counts_against_the_budget():
    """
    E-12: ``within`` holds whoever named the wait.
    """
    assert wait_after(shop_says(3), retry=Retry(within=3)) is None
