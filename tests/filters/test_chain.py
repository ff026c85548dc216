"""
The onion: the order of its layers, what they see, and what they can do to a call.
"""

from __future__ import annotations

import functools

import pytest

from fronts import call
from tooldecl import Retry, ToolClient, ToolContext, tool
from tooldecl.exceptions import DeclarationError
from tooldecl.telemetry import CallFinished, CallStarted
from tooldecl.testing import FakeClock


@tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@tool
def show(numbers: list[int]) -> str:
    """Show numbers."""
    numbers.append(0)

    return str(numbers)


def noting(log, name):
    """
    Make a filter that notes when it is passed, inwards and outwards.
    """

    def note(request):
        log.append(f"pre {name}")
        result = yield request
        log.append(f"post {name}")
        return result

    return note


def test_the_first_filter_is_the_outermost(front):
    """
    FLT-01: whoever stands first in the list sees the request first and the result last.
    """
    log = []
    client = ToolClient([add], filters=[noting(log, "a"), noting(log, "b")])
    call(front, client, "add", {"a": 1, "b": 2})

    assert ["pre a", "pre b", "post b", "post a"] == log


def test_arguments_and_results_are_rewritten_on_the_way(front):
    """
    FLT-02, FLT-08: a adds 1, b multiplies by 10, so the body sees 20; b's tag is inside.
    """

    def a(request):
        number = request.arguments["a"] + 1
        result = yield request.replace(arguments={"a": number, "b": 0})
        return f"{result.value} a"

    def b(request):
        number = request.arguments["a"] * 10
        result = yield request.replace(arguments={"a": number, "b": 0})
        return f"{result.value} b"

    result = call(front, ToolClient([add], filters=[a, b]), "add", {"a": 1, "b": 0})

    assert ("ok", "20 b a", "20 b a") == (result.status, result.value, result.content)


@pytest.mark.parametrize("answer", ["cached", 5, {"a": [1]}, ""])
def test_an_answer_before_the_yield_is_the_result(front, answer):
    """
    FLT-03, FLT-09, FLT-10: the body and the inner filters are not reached, and the result
    says that nothing was started.
    """
    log = []

    def block(request):
        return answer
        yield request

    client = ToolClient([add], filters=[block, noting(log, "inner")])
    result = call(front, client, "add", {"a": 1, "b": 2})

    assert ("ok", answer, "not_started", 0, []) == (
        result.status,
        result.value,
        result.fate,
        result.attempts,
        log,
    )


def test_a_cache_runs_the_body_once(front):
    """
    FLT-04: the commonest filter of all.
    """
    runs, cache = [], {}

    @tool
    def count(key: str) -> int:
        """Count."""
        runs.append(key)
        return len(runs)

    def caching(request):
        key = request.arguments["key"]
        if key not in cache:
            cache[key] = (yield request).value
        return cache[key]

    client = ToolClient([count], filters=[caching])
    values = [call(front, client, "count", {"key": k}).value for k in ("a", "a", "b")]

    assert ([1, 1, 2], ["a", "b"]) == (values, runs)


def test_a_filter_that_does_nothing_changes_nothing(front):
    """
    FLT-05: with or without an idle layer the result is the same.
    """

    def idle(request):
        return (yield request)

    results = [
        call(front, client, "add", {"a": 1, "b": 2}, call_id="c")
        for client in (
            ToolClient([add], clock=FakeClock()),
            ToolClient([add], clock=FakeClock(), filters=[idle, idle]),
        )
    ]

    assert results[0] == results[1]


def test_hooks_are_no_layers(front):
    """
    FLT-06: a watcher stands outside of the onion and is told before and after it.
    """
    log = []

    def hook(event):
        log.append(type(event))

    client = ToolClient([add], filters=[noting(log, "a")], hooks=[hook])
    call(front, client, "add", {"a": 1, "b": 2})

    assert [CallStarted, "pre a", "post a", CallFinished] == log


def test_derived_clients_have_the_same_layers_and_no_others(front):
    """
    FLT-07: the layers belong to the client; a list that is changed later changes nothing.
    """
    log = []
    filters = [noting(log, "a")]
    client = ToolClient([add], filters=filters)
    filters.append(noting(log, "b"))
    derived = client.adding(show)
    call(front, derived, "show", {"numbers": []})
    call(front, client, "add", {"a": 1, "b": 2})

    assert ["pre a", "post a"] * 2 == log


def test_filters_run_once_per_call_and_not_per_attempt(front):
    """
    E-13: an approval would be asked again, and a log would be doubled.
    """
    log, numbers = [], []

    @tool(retry=Retry(attempts=3, delay=0))
    def flaky(ctx: ToolContext) -> str:
        """Fail twice."""
        numbers.append(ctx.attempt)
        if ctx.attempt < 3:
            raise ConnectionError
        return "done"

    client = ToolClient([flaky], filters=[noting(log, "a")])
    result = call(front, client, "flaky")

    assert (["pre a", "post a"], [1, 2, 3], 3) == (log, numbers, result.attempts)


def test_filters_are_not_asked_about_calls_that_the_gate_refused(front):
    """
    A filter may rely on what it is shown: a known tool and valid arguments.
    """
    log = []
    client = ToolClient([add], filters=[noting(log, "a")])
    statuses = [
        call(front, client, *args).status
        for args in (("add", {}), ("add", "{"), ("nothing", {}))
    ]

    assert (["invalid", "invalid", "unknown_tool"], []) == (statuses, log)


class Layers:
    """
    Filters that belong to an object.
    """

    def __init__(self):
        self.seen = []

    def watch(self, request, word="seen"):
        """
        Note the call.
        """
        self.seen.append(word)
        return (yield request)


def test_bound_methods_and_partials_are_filters_too(front):
    """
    Filters have state and settings, and these are the usual ways to give them some.
    """
    layers = Layers()
    filters = [layers.watch, functools.partial(layers.watch, word="again")]
    call(front, ToolClient([add], filters=filters), "add", {"a": 1, "b": 2})

    assert ["seen", "again"] == layers.seen


@pytest.mark.parametrize(
    "candidate", [len, lambda request: request, "f", None, Layers(), Layers]
)
def test_what_is_no_generator_function_is_refused(candidate):
    """
    A plain function would be called and its answer taken for the result of every call.
    """
    with pytest.raises(DeclarationError) as caught:
        ToolClient([], filters=[candidate])

    assert str(caught.value).startswith(
        "A filter is a generator function that takes the request, or an object with "
    )
