"""
What a filter can make of a request, and of the call around it.
"""

from __future__ import annotations

import contextvars

import pytest

from fronts import call
from tooldecl import JSONLimits, Status, ToolClient, ToolContext, tool
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


def with_arguments(**changes):
    """
    Make a filter that changes some arguments.
    """

    def change(request):
        return (yield request.replace(arguments={**request.arguments, **changes}))

    return change


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
