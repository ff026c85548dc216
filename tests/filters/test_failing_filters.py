"""
A filter that fails, in whatever way, lets nothing through and breaks nothing else.
"""

from __future__ import annotations

import asyncio
import logging

import pytest

from filters.paying import RUNS, raising, run
from fronts import call, call_batch
from tooldecl import ToolCall, ToolClient, ToolContext, tool
from tooldecl.exceptions import GuardFailedError


ERRORS = [
    (RecursionError, "semantic"),
    (ValueError("x"), "semantic"),
    (ConnectionError("x"), "transient"),
    (PermissionError("x"), "environment"),
    (SystemExit(3), "semantic"),
    (asyncio.CancelledError(), "semantic"),
    (StopIteration("an answer?"), "semantic"),
    (ExceptionGroup("", [TimeoutError()]), "transient"),
]


@pytest.mark.parametrize(("error", "error_class"), ERRORS)
def test_a_filter_that_raises_before_the_body_blocks_the_call(
    front, error, error_class
):
    """
    FAT-05, E-14, E-18: a check that could not be made is not a check that was passed. Its
    class is read from what it raised.
    """
    result = run(front, raising(error, after=False))

    assert ("guard_failed", "not_started", 0, error_class, []) == (
        result.status,
        result.fate,
        result.attempts,
        result.error_class,
        RUNS,
    )
    assert "A check around tool 'pay' failed. It was not run." == result.content


@pytest.mark.parametrize(("error", "error_class"), ERRORS)
def test_a_filter_that_raises_after_the_body_loses_the_result(
    front, error, error_class
):
    """
    FAT-05: the result may be what the filter was there to hold back; what the body did is
    done, and the text says so.
    """
    result = run(front, raising(error, after=True))

    assert ("guard_failed", "completed", 1, error_class, [5], None) == (
        result.status,
        result.fate,
        result.attempts,
        result.error_class,
        RUNS,
        result.value,
    )
    assert (
        "A check around tool 'pay' failed. The tool had run; its result was lost."
        == (result.content)
    )


def test_the_host_finds_the_filter_and_what_it_raised(front, caplog):
    """
    E-35: the model reads a general sentence; the error and the log have the rest.
    """
    error = ValueError("no such database")
    result = run(front, raising(error, after=False))
    [record] = caplog.records

    assert (GuardFailedError, "raising.<locals>.fail", error) == (
        type(result.error),
        result.error.filter_name,
        result.error.__cause__,
    )
    assert (logging.WARNING, True) == (
        record.levelno,
        "no such database" in caplog.text,
    )
    assert "fail" == error.__traceback__.tb_frame.f_code.co_name


def forgetful(request):
    """
    Forget to return the result.
    """
    yield request


def silent(request):
    """
    Answer with nothing at all.
    """
    return
    yield request


def nonsense(request):
    """
    Yield what is no request.
    """
    return (yield "go on")


def nothing(request):
    """
    Yield nothing.
    """
    return (yield)


def two_arguments(request, call_next):
    """
    Take more than a filter is given.
    """
    return (yield request)


@pytest.mark.parametrize(
    ("layer", "runs"),
    [
        (forgetful, [5]),
        (silent, []),
        (nonsense, []),
        (nothing, []),
        (two_arguments, []),
    ],
)
def test_a_filter_that_is_no_filter_blocks_the_call(front, layer, runs):
    """
    A forgotten ``return`` gives None, and None for a result would be an invented answer.
    """
    result = run(front, layer)

    assert ("guard_failed", runs, bool(runs)) == (
        result.status,
        RUNS,
        "had run" in result.content,
    )


@pytest.mark.parametrize("answer", [object(), float("nan"), "\ud800", {1, object()}])
def test_an_answer_that_cannot_be_sent_is_the_filters_failure(front, answer):
    """
    R111: the tool did not run, so its result cannot be what is unencodable.
    """

    def answering(request):
        return answer
        yield request

    result = run(front, answering)

    assert ("guard_failed", "not_started", []) == (result.status, result.fate, RUNS)


def test_an_answer_that_is_too_long_is_the_filters_failure(front):
    """
    "The tool ran, but its result has too many characters" would be untrue.
    """

    def answering(request):
        return "x" * 50
        yield request

    result = run(front, answering, result_limit=49)

    assert ("guard_failed", "answering", False) == (
        result.status,
        result.error.filter_name.rpartition(".")[2],
        result.error.ran,
    )


def test_the_outer_filters_see_the_failure_of_an_inner_one(front):
    """
    An outer layer that counts failures counts those of the layers inside of it too.
    """
    seen = []

    def outer(request):
        result = yield request
        seen.append(result.status)
        return result

    run(front, outer, raising(ValueError(), after=False))

    assert ["guard_failed"] == seen


def test_an_outer_filter_may_answer_in_place_of_a_failure(front):
    """
    A fallback is a filter's right: the failure is a result like any other for it.
    """

    def fallback(request):
        result = yield request
        return result if result.ok else "try the other shop"

    results = [run(front, fallback, name=name) for name in ("pay", "broken")]

    assert ["paid", "try the other shop"] == [r.content for r in results]
    assert [("ok", "completed", None, None)] * 2 == [
        (r.status, r.fate, r.error, r.error_class) for r in results
    ]


def test_a_body_that_raises_is_no_exception_in_a_filter(front):
    """
    A body's failure is a result inside of the onion, so that no filter can swallow it by
    a broad except, or mistake it for its own.
    """
    caught = []

    def swallowing(request):
        try:
            result = yield request
        except BaseException as error:
            caught.append(error)
            return "all is well"
        return result

    result = run(front, swallowing, name="broken")

    assert ("tool_error", []) == (result.status, caught)


def test_writes_are_lost_with_the_result(front):
    """
    A call that ends as a failure has written nothing, whoever made it one.
    """

    @tool
    def write(ctx: ToolContext) -> str:
        """Write."""
        ctx.write("x", 1)
        return "done"

    client = ToolClient([write], filters=[raising(ValueError(), after=True)])
    result = call(front, client, "write")

    assert ({}, {}) == (result.writes, client.state)


def test_a_filter_that_breaks_every_call_of_a_batch_leaves_the_state(front):
    """
    BAT-04: each call has its own answer, and nothing is written.
    """

    @tool
    def note(line: str, ctx: ToolContext) -> str:
        """Note a line."""
        RUNS.append(line)
        ctx.write("line", line)

        return line

    client = ToolClient(
        [note], filters=[raising(ValueError("x"), after=True)], state={"line": "old"}
    )
    calls = [ToolCall("note", {"line": line}, line) for line in "abc"]
    batch = call_batch(front, client, calls)

    assert [(i, "guard_failed") for i in "abc"] == [
        (r.call_id, r.status) for r in batch
    ]
    assert (["a", "b", "c"], {"line": "old"}) == (sorted(RUNS), dict(client.state))
