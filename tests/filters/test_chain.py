"""
The onion: the order of its layers, what they see, and what they can do to a call.
"""

from __future__ import annotations

import contextvars
import functools

import pytest

from fronts import call
from tooldecl import JSONLimits, Retry, Status, ToolClient, ToolContext, tool
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


def with_arguments(**changes):
    """
    Make a filter that changes some arguments.
    """

    def change(request):
        return (yield request.replace(arguments={**request.arguments, **changes}))

    return change


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


def test_a_filter_sees_the_request_and_the_result(front):
    """
    The id, the name, the arguments in JSON form and what was declared; then the answer,
    with how long the inside took.
    """
    seen = []
    clock = FakeClock()

    @tool(tags=["slow"])
    def wait(seconds: float) -> None:
        """Wait."""
        clock.advance(seconds)

    def look(request):
        result = yield request
        seen.extend([request, result])
        return result

    client = ToolClient([wait], filters=[look], clock=clock)
    call(front, client, "wait", {"seconds": 2.5}, call_id="c1")
    request, result = seen

    assert ("c1", "wait", {"seconds": 2.5}, ("slow",)) == (
        request.call_id,
        request.name,
        request.arguments,
        request.meta.tags,
    )
    assert ("ok", 2.5, "completed") == (result.status, result.elapsed, result.fate)


@pytest.mark.parametrize(
    ("changes", "status"),
    [({"b": "2"}, "invalid"), ({"c": 3}, "invalid"), ({"b": 20}, "ok")],
)
def test_changed_arguments_pass_the_gate_again(front, changes, status):
    """
    A filter must not get past the check that the model could not get past.
    """
    client = ToolClient([add], filters=[with_arguments(**changes)])
    result = call(front, client, "add", {"a": 1, "b": 2})

    assert (status, "completed" if status == "ok" else "not_started") == (
        result.status,
        result.fate,
    )


def test_a_changed_name_does_not_change_what_is_run(front):
    """
    A request was judged for one tool; another one under its name would be a way around.
    """

    def rename(request):
        return (yield request.replace(name="show", call_id="other"))

    for filters in ([rename], [rename, with_arguments(a=1)]):
        client = ToolClient([add, show], filters=filters)
        result = call(front, client, "add", {"a": 1, "b": 2}, call_id="c1")

        assert ("add", "c1", 3) == (result.name, result.call_id, result.value)


def test_a_filter_that_yields_again_runs_the_body_again_with_fresh_values(front):
    """
    Re-entry is a filter's own retry; the first run may have changed what it was given.
    """
    results = []

    def twice(request):
        results.append((yield request))
        results.append((yield request))
        return results[-1]

    client = ToolClient([show], filters=[twice])
    result = call(front, client, "show", {"numbers": [7]})

    assert ["[7, 0]", "[7, 0]"] == [r.value for r in results]
    assert ([1, 2], 2) == ([r.attempts for r in results], result.attempts)


def test_the_key_of_a_call_follows_what_a_filter_makes_of_it(front):
    """
    The key stands for the action: asked again it is the same, with other arguments it is
    another one.
    """
    keys = []

    @tool
    def order(item: str, ctx: ToolContext) -> None:
        """Order."""
        keys.append(ctx.idempotency_key)

    def insisting(request):
        yield request
        yield request
        return (yield request.replace(arguments={"item": "coffee"}))

    call(front, ToolClient([order], filters=[insisting]), "order", {"item": "tea"})

    assert (True, True) == (keys[0] == keys[1], keys[1] != keys[2])


def test_arguments_that_fill_the_limit_pass_the_filters_and_a_second_run(front):
    """
    Text that the gate has taken must not become too long by being written again.
    """
    text = '{"numbers":[' + ",".join(["1"] * 500) + "]}"

    def twice(request):
        yield request
        return (yield request)

    limits = JSONLimits(max_chars=len(text))
    client = ToolClient([show], filters=[twice], json_limits=limits)

    assert "ok" == call(front, client, "show", text).status


def test_a_context_variable_that_a_filter_sets_is_seen_in_the_body(front):
    """
    A filter is the place for a request's identity, which the tools then read.
    """
    user = contextvars.ContextVar("user", default="nobody")

    @tool
    def whoami() -> str:
        """Say who asks."""
        return user.get()

    def as_ann(request):
        token = user.set("ann")
        try:
            return (yield request)
        finally:
            user.reset(token)

    result = call(front, ToolClient([whoami], filters=[as_ann]), "whoami")

    assert ("ann", "nobody") == (result.value, user.get())


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
        "A filter is a generator function that takes the request, got "
    )


def test_a_status_that_a_filter_sets_is_kept(front):
    """
    A filter may judge a result: what it takes back gives no value and writes nothing.
    """

    @tool
    def write(ctx: ToolContext) -> str:
        """Write."""
        ctx.write("x", 1)
        return "secret"

    def judge(request):
        result = yield request
        return result.replace(status=Status.TOOL_ERROR, content="Not for you.")

    client = ToolClient([write], filters=[judge])
    result = call(front, client, "write")

    assert ("tool_error", "Not for you.", None, {}, {}) == (
        result.status,
        result.content,
        result.value,
        result.writes,
        client.state,
    )
    assert "Not for you." == str(result.error)
