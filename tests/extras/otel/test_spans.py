"""
What the spans and the metric of calls say, read from a real SDK.
"""

from __future__ import annotations

import json

import pytest

from opentelemetry.trace import SpanKind, StatusCode

from fronts import call
from tooldecl import (
    Budget,
    NotFound,
    Retry,
    ToolCall,
    ToolClient,
    ToolError,
    tool,
)
from tooldecl.filters import Approval, approve_all, deny_all
from tooldecl.testing import FakeClock


SECRET = "4111-1111"


@tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@tool(sensitive=True)
def pay(card: str) -> str:
    """Pay."""
    if card == "broken":
        raise ValueError(SECRET)
    return f"paid with {card}"


@tool
def fail(kind: str) -> str:
    """Fail in one of several ways."""
    kinds = {
        "value": ValueError(SECRET),
        "author": ToolError("No."),
        "none": NotFound(),
    }
    raise kinds[kind]


def attributes(span):
    """
    Return the attributes of a span as plain data.
    """
    return dict(span.attributes)


def test_a_call_is_a_span_by_the_conventions(front, telemetry):
    """
    A backend that knows the conventions shows a tool for what it is.
    """
    client = ToolClient([add], hooks=[telemetry.hook()])
    result = call(front, client, "add", {"a": 1, "b": 2}, call_id="c1")
    [span] = telemetry.spans

    assert ("execute_tool add", SpanKind.INTERNAL, None) == (
        span.name,
        span.kind,
        span.parent,
    )
    assert (StatusCode.UNSET, "tooldecl") == (
        span.status.status_code,
        span.instrumentation_scope.name,
    )
    assert {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "add",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.description": "Add two integers.",
        "tooldecl.status": "ok",
        "tooldecl.fate": "completed",
        "tooldecl.attempts": 1,
        "tooldecl.queue_wait": result.queue_wait,
        "tooldecl.truncated": False,
    } == attributes(span)


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "status"),
    [
        ("add", {"a": 1, "b": 2}, None, "ok"),
        ("fail", {"kind": "none"}, None, "not_found"),
        ("fail", {"kind": "value"}, "ValueError", "tool_error"),
        ("fail", {"kind": "author"}, "ToolError", "tool_error"),
        ("add", {"a": "x"}, "invalid_arguments", "invalid"),
        ("add", '{"a": 1, "a": 2}', "invalid_arguments", "invalid"),
        ("pay", {"card": "x"}, "denied", "denied"),
        ("nothing", {}, "unknown_tool", "unknown_tool"),
    ],
)
def test_failures_have_one_of_few_words(
    front, telemetry, name, arguments, kind, status
):
    """
    Whoever counts failures groups by this; a text of an error would make endless groups.
    """
    tools, filters = [add, fail, pay], [Approval(deny_all)]
    client = ToolClient(tools, hooks=[telemetry.hook()], filters=filters)
    result = call(front, client, name, arguments)
    [span] = telemetry.spans

    assert (status, kind) == (result.status, span.attributes.get("error.type"))
    failed = StatusCode.ERROR if kind else StatusCode.UNSET
    assert (failed, status if kind else None) == (
        span.status.status_code,
        span.status.description,
    )
    assert SECRET not in span.to_json()


def test_a_limit_that_is_reached_is_named(telemetry):
    """
    A refused call has a span as well, though no body and no filter saw it.
    """
    client = ToolClient([add], hooks=[telemetry.hook()], budget=Budget(calls=0))
    client.invoke("add", {"a": 1, "b": 2})
    [span] = telemetry.spans

    assert ("budget", "not_started", ()) == (
        span.attributes["error.type"],
        span.attributes["tooldecl.fate"],
        span.events,
    )


def test_names_that_a_model_makes_up_make_no_groups(telemetry):
    """
    A hundred names would be a hundred time series.
    """
    client = ToolClient([add], hooks=[telemetry.hook()])
    for number in range(5):
        client.invoke(f"add_{number}", {})
    _, points = telemetry.points()["gen_ai.execute_tool.duration"]

    assert {"execute_tool"} == {span.name for span in telemetry.spans}
    assert [("_OTHER", 5)] == [
        (point.attributes["gen_ai.tool.name"], point.count) for point in points
    ]


def test_the_attempts_of_a_call_are_events_of_its_span(front, telemetry):
    """
    One span covers the call with all its attempts, as the conventions have it.
    """
    seen = []

    @tool(retry=Retry(attempts=3, delay=2, factor=1, jitter=0))
    def flaky() -> str:
        """Fail twice."""
        seen.append(1)
        if len(seen) < 3:
            raise ConnectionError("no route")
        return "done"

    client = ToolClient([flaky], hooks=[telemetry.hook()], clock=FakeClock())
    call(front, client, "flaky")
    [span] = telemetry.spans
    failed = {
        "fate": "completed",
        "error_class": "transient",
        "error.type": "ConnectionError",
        "retry_in": 2,
    }

    assert ["tooldecl.attempt"] * 3 == [event.name for event in span.events]
    assert [
        {"number": 1, **failed},
        {"number": 2, **failed},
        {"number": 3, "fate": "completed", "queue_wait": 0},
    ] == [dict(event.attributes) for event in span.events]


def test_the_metric_has_the_time_the_tool_and_the_error(telemetry):
    """
    How long a tool takes is seen without looking at single calls.
    """
    client = ToolClient([add, fail], hooks=[telemetry.hook()])
    for _ in range(3):
        client.invoke("add", {"a": 1, "b": 2})
    client.invoke("fail", {"kind": "value"})
    unit, points = telemetry.points()["gen_ai.execute_tool.duration"]
    by_tool = {point.attributes["gen_ai.tool.name"]: point for point in points}

    assert ("s", {"add", "fail"}) == (unit, set(by_tool))
    assert [3, 1] == [by_tool[name].count for name in ("add", "fail")]
    assert 0 < by_tool["add"].sum < 30
    assert 0.001 == by_tool["add"].explicit_bounds[0]
    assert {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "fail",
        "gen_ai.tool.type": "function",
        "error.type": "ValueError",
    } == dict(by_tool["fail"].attributes)


CONTENT = ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result")


def content(span):
    """
    Return the arguments and the result of a span.
    """
    return tuple(span.attributes.get(name) for name in CONTENT)


@pytest.mark.parametrize(
    ("option", "variable", "shown"),
    [
        (None, None, False),
        (None, "false", False),
        (None, "event_only", False),
        (None, "true", True),
        (None, "True", True),
        (None, "span_only", True),
        (None, "span_and_event", True),
        (True, None, True),
        (True, "false", True),
        (False, "true", False),
    ],
)
def test_content_is_shown_when_it_is_asked_for(
    telemetry, monkeypatch, option, variable, shown
):
    """
    Arguments hold whatever users say: nothing of it leaves the process unasked.
    """
    if variable is not None:
        name = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
        monkeypatch.setenv(name, variable)
    client = ToolClient([add], hooks=[telemetry.hook(capture_content=option)])
    client.invoke("add", {"a": 1, "b": 2})
    client.invoke("add", '{"a": 1, "b": 2}')
    first, second = telemetry.spans

    expected = ('{"a": 1, "b": 2}', "3") if shown else (None, None)
    assert [expected] * 2 == [content(first), content(second)]


@pytest.mark.parametrize("given", ["no", "yes", 1])
def test_to_show_content_is_a_yes_or_a_no(telemetry, given):
    """
    The word "no" would show it.
    """
    with pytest.raises(TypeError) as caught:
        telemetry.hook(capture_content=given)

    assert f"capture_content takes True, False or None, got {given!r}." == str(
        caught.value
    )


def test_what_a_body_raised_is_content(telemetry):
    """
    The text of an exception holds values as often as the arguments do.
    """
    for shows in (False, True):
        hook = telemetry.hook(capture_content=shows)
        ToolClient([fail], hooks=[hook]).invoke("fail", {"kind": "value"})
    hidden, shown = telemetry.spans

    assert (False, True) == (SECRET in hidden.to_json(), SECRET in shown.to_json())
    assert "exception" in [event.name for event in shown.events]


@pytest.mark.parametrize("card", [SECRET, "broken"])
@pytest.mark.parametrize("form", ["mapping", "text"])
def test_nothing_of_a_sensitive_tool_is_shown(front, telemetry, card, form):
    """
    Also when content is asked for: who declared it decided for all who watch.
    """
    hook = telemetry.hook(capture_content=True)
    client = ToolClient([pay], hooks=[hook], filters=[Approval(approve_all)])
    given = {"card": card, "more": SECRET} if card == SECRET else {"card": card}
    sent = json.dumps(given) if form == "text" else given
    call(front, client, "pay", {"card": SECRET})
    call(front, client, "pay", sent)
    call(front, client, "pya", sent)  # a misspelt name is not known to be sensitive

    assert 3 == len(telemetry.spans)
    assert [(None, None)] * 3 == [content(span) for span in telemetry.spans]
    assert [] == [s for s in telemetry.spans if SECRET in s.to_json()]


def test_arguments_that_are_no_json_are_not_shown(telemetry):
    """
    What the gate refuses may be anything, and must not fail the hook either.
    """
    client = ToolClient([add], hooks=[telemetry.hook(capture_content=True)])
    for given in ({"a": object()}, {"a": {1}}, b"\xff", "not JSON", None):
        client.invoke("add", given)

    assert [None, None, "\ufffd", "not JSON", None] == [
        content(span)[0] for span in telemetry.spans
    ]


def test_a_decision_is_an_event_of_the_span(front, telemetry):
    """
    Where a call waited for a person is what a long span is asked about.
    """
    client = ToolClient(
        [pay], hooks=[telemetry.hook()], filters=[Approval(approve_all)]
    )
    call(front, client, "pay", {"card": "x"})
    [span] = telemetry.spans

    assert ["tooldecl.approval", "tooldecl.attempt"] == [e.name for e in span.events]
    assert {"decision": "approved"} == dict(span.events[0].attributes)


def test_a_call_that_waits_has_a_span_that_is_no_failure(telemetry):
    """
    It is taken up again in a span of its own.
    """

    @tool(external=True)
    def click() -> str:
        """Click."""

    client = ToolClient([click], hooks=[telemetry.hook()])
    batch = client.invoke_batch([ToolCall("click", {}, "c1")])
    client.resume(batch.suspension, {"c1": "clicked"})

    assert [("pending", None), ("ok", None)] == [
        (s.attributes["tooldecl.status"], s.attributes.get("error.type"))
        for s in telemetry.spans
    ]
