"""
Retries, as one call shows them: how many, how long apart, with what, and when none.
"""

from __future__ import annotations

import logging

import pytest

from fronts import call_batch
from scenarios.flaky_tools import failing, run
from tooldecl import (
    NotFound,
    Retry,
    ToolCall,
    ToolClient,
    ToolError,
    tool,
)
from tooldecl.telemetry import AttemptFailed
from tooldecl.testing import FakeClock, RecordingHook


def test_a_transient_failure_is_repeated_until_it_succeeds(front):
    """
    RTY-01, R34: two failures and then a value are three attempts and no failure.
    """
    flaky, runs = failing(2, ConnectionError(), retry=3)
    result = run(front, flaky)

    assert ("ok", 3, 3, None, [1, 2, 3]) == (
        result.status,
        result.value,
        result.attempts,
        result.error_class,
        runs,
    )


def test_the_last_failure_says_how_often_it_was_tried(front):
    """
    RTY-02, R29: the text says how many attempts there were and that each may have had its
    effect, and it does not ask for more.
    """
    flaky, runs = failing(9, ConnectionError(), retry=Retry(attempts=3))
    result = run(front, flaky)

    assert ("tool_error", "transient", 3, [1, 2, 3]) == (
        result.status,
        result.error_class,
        result.attempts,
        runs,
    )
    assert (
        "Tool 'flaky' failed: ConnectionError. 3 attempts were made; each may have taken "
        "effect." == result.content
    )


def test_nothing_declared_is_one_attempt(front):
    """
    RTY-03, R29: and the text does not suggest to repeat.
    """
    flaky, runs = failing(1, ConnectionResetError())
    result = run(front, flaky)

    assert (1, [1], "Tool 'flaky' failed: ConnectionResetError.") == (
        result.attempts,
        runs,
        result.content,
    )


@pytest.mark.parametrize(
    "error",
    [ValueError(), TypeError(), PermissionError(), FileNotFoundError()],
    ids=repr,
)
def test_what_is_wrong_for_good_is_tried_once(front, error):
    """
    RTY-04, R34: minutes of repeats would not change a wrong argument.
    """
    flaky, runs = failing(9, error, retry=3)

    assert ("tool_error", [1]) == (run(front, flaky).status, runs)


@pytest.mark.parametrize("error", [NotFound(), NotFound("No such order.")])
def test_a_finding_is_never_repeated(front, error):
    """
    A tool that ran well and found nothing has given its answer, whatever ``on`` says.
    """
    flaky, runs = failing(9, error, retry=Retry(on=(Exception,)))

    assert ("not_found", [1]) == (run(front, flaky).status, runs)


@pytest.mark.parametrize("how", ["long", "long generator", "strange"])
def test_a_result_that_cannot_go_out_is_never_repeated(front, how):
    """
    E-29: the body has done its work; doing it again would double its effect and give the
    same result.
    """
    runs = []

    @tool(retry=Retry(on=(Exception,)), result_limit=10)
    def big() -> object:
        """Return too much."""
        runs.append(1)
        if how == "long generator":
            return ("x" * 9 for _ in range(9))
        return "x" * 99 if how == "long" else object()

    status = "unencodable" if how == "strange" else "too_large"

    assert (status, [1]) == (run(front, big).status, runs)


def test_waits_are_the_declared_ones(front):
    """
    RTY-07, E-12: they go through the client's clock and numbers, so a test can see them.
    """
    clock = FakeClock()
    retry = Retry(attempts=6, delay=1, factor=2, max_delay=5, jitter=0.5)
    flaky, _ = failing(9, ConnectionError(), retry=retry)
    result = run(front, flaky, clock=clock)

    assert ([1, 2, 4, 5, 5], 17) == (clock.sleeps, result.elapsed)


def test_retry_true_is_three_attempts_with_the_documented_waits(front):
    """
    RTY-06: the defaults are a promise as well.
    """
    clock = FakeClock()
    flaky, runs = failing(9, ConnectionError(), retry=True)
    run(front, flaky, clock=clock)

    assert ([0.2, 0.4], [1, 2, 3]) == (clock.sleeps, runs)


def test_the_whole_budget_stops_the_attempts_before_the_next_wait(front):
    """
    RTY-10, R32: 2.5 s for all: the second wait would end at 3 s, so it is not begun, and
    there is no side effect more.
    """
    clock = FakeClock()
    retry = Retry(attempts=9, delay=1, jitter=0, within=2.5)
    flaky, runs = failing(9, ConnectionError(), retry=retry)
    result = run(front, flaky, clock=clock)

    assert ([1], [1, 2], 2) == (clock.sleeps, runs, result.attempts)


def test_the_budget_counts_the_attempts_too(front):
    """
    RTY-10: an attempt of three seconds leaves nothing of a budget of two.
    """
    clock, runs = FakeClock(), []

    @tool(retry=Retry(delay=0, within=2))
    def slow() -> None:
        """Fail slowly."""
        runs.append(1)
        clock.advance(3)
        raise ConnectionError

    run(front, slow, clock=clock)

    assert [1] == runs


def test_no_wait_goes_past_the_end_of_the_batch(front):
    """
    A batch's limit holds for the waits between attempts as for everything else.
    """
    clock = FakeClock()
    retry = Retry(attempts=9, delay=1, factor=1, jitter=0)
    flaky, runs = failing(9, ConnectionError(), retry=retry)
    client = ToolClient([flaky], clock=clock)
    [result] = call_batch(front, client, [ToolCall("flaky")], within=2.5)

    assert ("tool_error", [1, 1], [1, 2, 3]) == (result.status, clock.sleeps, runs)


def test_a_predicate_that_raises_is_no_reason_to_repeat(front, caplog):
    """
    The failure of the body is the answer; that of the predicate is for the log.
    """

    def broken(error):
        raise KeyError("odd")

    flaky, runs = failing(9, ConnectionError("first"), retry=Retry(on=broken))
    result = run(front, flaky)

    assert ("tool_error", "transient", [1]) == (result.status, result.error_class, runs)
    assert ["Whether to repeat 'flaky' cannot be decided: KeyError."] == [
        r.getMessage() for r in caplog.records if "repeat" in r.getMessage()
    ]


@pytest.mark.parametrize("kind", [MemoryError, KeyboardInterrupt])
def test_a_predicate_can_be_interrupted(front, kind):
    """
    FAT-06: what means stop means it here too.
    """

    def broken(error):
        raise kind

    flaky, _ = failing(9, ConnectionError(), retry=Retry(on=broken))
    with pytest.raises(kind):
        run(front, flaky)


def test_an_authors_word_decides_whether_to_repeat(front):
    """
    CLS-01: ``error_class`` is how an author says that another try is worth it.
    """
    results = []
    for kind in ("transient", "semantic"):
        flaky, _ = failing(1, ToolError("Busy.", error_class=kind), retry=2)
        results.append(run(front, flaky).status)

    assert ["ok", "tool_error"] == results


def test_a_group_is_repeated_for_its_leaves(front):
    """
    R120: a task group's wrapper is no reason not to try again.
    """
    flaky, runs = failing(1, ExceptionGroup("", [TimeoutError()]), retry=2)

    assert ("ok", [1, 2]) == (run(front, flaky).status, runs)


def test_the_hooks_hear_of_every_failed_attempt_and_its_wait(front):
    """
    An operator sees a flaky service before it is down.
    """
    hook = RecordingHook()
    flaky, _ = failing(9, ConnectionError(), retry=Retry(delay=1, jitter=0))
    run(front, flaky, hooks=[hook])

    assert [(1, "transient", 1), (2, "transient", 2), (3, "transient", None)] == [
        (e.attempt, e.error_class, e.retry_in) for e in hook.of(AttemptFailed)
    ]


def test_the_log_has_every_failure_of_a_body(front, caplog):
    """
    R112, R119: what the model does not read is not lost to the author.
    """
    flaky, _ = failing(2, ConnectionError("no route to db"), retry=3)
    run(front, flaky)
    lines = [(r.levelno, r.getMessage(), r.exc_info[0]) for r in caplog.records]

    assert [
        (logging.WARNING, "Tool 'flaky' failed: ConnectionError.", ConnectionError)
    ] * 2 == lines
    assert 2 == caplog.text.count("no route to db\n")
