"""
Whatever a filter makes of a result, the answer is true about this very call.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import weakref

from dataclasses import dataclass

import pytest

from filters.slots import count, write
from fronts import call
from tooldecl import Status, ToolClient, ToolContext, ToolResult, tool
from tooldecl.exceptions import CallError


@tool
def fail() -> None:
    """Fail."""
    raise ValueError("no")


def changing(**changes):
    """
    Make a filter that changes fields of the result.
    """

    def change(request):
        return (yield request).replace(**changes)

    return change


def test_a_rewritten_result_keeps_what_the_body_wrote(front):
    """
    A filter that words the answer anew does not undo the call.
    """

    def word(request):
        return f"number {(yield request).value}"

    client = ToolClient([count], filters=[word])
    result = call(front, client, "count", {"slot": "n"})

    assert ("number 1", {"n": 1}, {"n": 1}) == (
        result.content,
        result.writes,
        client.state,
    )


def test_the_writes_are_those_of_the_run_that_gave_the_answer(front):
    """
    A filter that runs the body twice and takes the first answer takes what that run wrote.
    """
    runs = []

    @tool
    def note(ctx: ToolContext) -> int:
        """Write, and fail the second time."""
        runs.append(1)
        ctx.write("run", len(runs))
        if len(runs) == 2:
            raise ValueError
        return len(runs)

    def twice(request):
        first = yield request
        second = yield request
        return (second if second.ok else first).replace(content="done")

    client = ToolClient([note], filters=[twice])
    result = call(front, client, "note")

    assert ("ok", 1, {"run": 1}, {"run": 1}, 2) == (
        result.status,
        result.value,
        result.writes,
        client.state,
        result.attempts,
    )


def test_a_filter_cannot_write_for_a_tool(front):
    """
    The writes in a result are the body's, so that a reader knows who wrote.
    """
    client = ToolClient([write], filters=[changing(writes={"x": 1})])
    result = call(front, client, "write", {"slot": "a"})

    assert ({}, {}) == (result.writes, client.state)


def test_a_filter_cannot_change_what_became_of_the_body(front):
    """
    Hosts decide by the fate whether a call may be repeated.
    """
    client = ToolClient(
        [write],
        filters=[
            changing(fate="not_started", attempts=9, call_id="x", name="y", elapsed=-1)
        ],
    )
    result = call(front, client, "write", {"slot": "a"}, call_id="c1")

    assert ("completed", 1, "c1", "write", True) == (
        result.fate,
        result.attempts,
        result.call_id,
        result.name,
        result.elapsed >= 0,
    )


def test_a_new_value_has_a_new_text(front):
    """
    A filter that changes the value alone means the model to read the new one.
    """
    client = ToolClient([write], filters=[changing(value={"slot": "***"})])
    result = call(front, client, "write", {"slot": "secret"})

    assert ('{"slot":"***"}', {"slot": "***"}) == (result.content, result.value)


def test_a_new_text_leaves_the_value(front):
    """
    RES-08: a filter may word an answer for the model; the host still has the value.
    """
    client = ToolClient([write], filters=[changing(content="Written.")])
    result = call(front, client, "write", {"slot": "a"})

    assert ("Written.", {"slot": "a"}) == (result.content, result.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"value": object()},
        {"content": 5},
        {"content": None},
        {"content": "half \ud800"},
        {"status": "fine"},
        {"status": None},
        {"error": "no"},
    ],
    ids=str,
)
def test_a_result_with_something_else_in_it_is_the_filters_failure(front, changes):
    """
    R111: nonsense is caught where it arises, not one request later.
    """
    client = ToolClient([write], filters=[changing(**changes)])
    result = call(front, client, "write", {"slot": "a"})

    assert ("guard_failed", "completed", True) == (
        result.status,
        result.fate,
        result.error.ran,
    )


def test_a_filter_may_name_a_status_by_its_word(front):
    """
    Hosts compare with the plain words, so filters may write them.
    """
    client = ToolClient([write], filters=[changing(status="not_found", content="No.")])
    result = call(front, client, "write", {"slot": "a"})

    assert (Status.NOT_FOUND, True, None) == (
        result.status,
        isinstance(result.status, Status),
        result.value,
    )


@pytest.mark.parametrize("content", ["", " \n"])
def test_a_filter_cannot_empty_the_text_of_a_failure(front, content):
    """
    A provider refuses an empty message.
    """
    client = ToolClient([fail], filters=[changing(content=content)])

    assert "The call of 'fail' did not succeed." == call(front, client, "fail").content


def test_a_filter_cannot_empty_the_text_of_a_success(front):
    """
    As for failures: at least two quotes are sent.
    """
    client = ToolClient([write], filters=[changing(content="")])

    assert '""' == call(front, client, "write", {"slot": "a"}).content


def test_the_limit_holds_for_what_a_filter_wrote(front):
    """
    R115: one limit at the one place that all calls pass, after the filters.
    """
    options = {"result_limit": 50, "on_overflow": "truncate"}
    client = ToolClient([write], filters=[changing(content="x" * 200)], **options)
    result = call(front, client, "write", {"slot": "a"})

    assert (50, True, 200) == (
        len(result.content),
        result.truncated,
        result.original_size,
    )


@pytest.mark.parametrize(
    "status", [s for s in Status if s not in (Status.OK, Status.PENDING)]
)
def test_a_failure_of_a_filters_own_making_has_an_error_and_no_value(front, status):
    """
    ``unwrap`` has something to raise, and a value that was refused does not leak.
    """

    def refuse(request):
        return ToolResult(
            call_id="?", name="?", status=status, content="No.", value="secret"
        )
        yield request

    client = ToolClient([write], filters=[refuse])
    # Not by `call`, which takes such a timeout for that of a busy machine.
    if front == "sync":
        result = client.invoke("write", {"slot": "a"})
    else:
        result = asyncio.run(client.ainvoke("write", {"slot": "a"}))
    with pytest.raises(CallError) as caught:
        result.unwrap()

    assert (status, "No.", None, "No.") == (
        result.status,
        result.content,
        result.value,
        str(caught.value),
    )


def test_a_success_of_a_filters_own_making_has_no_error(front):
    """
    A result is one of the two.
    """

    def accept(request):
        result = yield request
        return result.replace(status=Status.OK, value=1, content="1")

    result = call(front, ToolClient([fail], filters=[accept]), "fail")

    assert ("ok", 1, None, None, "completed") == (
        result.status,
        result.unwrap(),
        result.error,
        result.error_class,
        result.fate,
    )


@dataclass
class Big:
    """
    A value whose end can be seen.
    """

    size: int


GONE = []


@tool
def make() -> Big:
    """Make something big."""
    made = Big(5)
    GONE[:] = [weakref.ref(made)]

    return made


def refusing(request):
    """
    Fail after the body, with the result in hand.
    """
    result = yield request
    raise ValueError(result.status)


def unending(request):
    """
    Answer with what cannot be sent.
    """
    yield request

    return object()


@pytest.mark.parametrize("outside", [[], [changing()]], ids=["alone", "inside"])
@pytest.mark.parametrize("layer", [refusing, unending, changing(content=5)])
def test_what_a_filter_failed_on_is_freed_without_the_garbage_collector(
    layer, outside, caplog
):
    """
    A traceback that leads through our own frames would keep the call, and all that it
    was given, until the collector comes by.
    """
    caplog.set_level(logging.CRITICAL)  # a record would keep the error
    client = ToolClient([make], filters=[*outside, layer])
    gc.collect()
    gc.disable()
    try:
        result = client.invoke("make")
        assert "guard_failed" == result.status
        del result

        assert GONE[0]() is None
    finally:
        gc.enable()
