"""
What a test says of the calls there were.
"""

from __future__ import annotations

import pytest

from ordering import Gate
from tooldecl import ToolCall, ToolClient, tool
from tooldecl.engines import abandoned_calls
from tooldecl.filters import Approval, approve_all
from tooldecl.testing import (
    RecordingHook,
    assert_called,
    assert_no_abandoned,
    assert_not_called,
)


@tool
def add(a: int, b: int = 1) -> int:
    """Add two integers."""
    return a + b


@tool(sensitive=True)
def pay(card: str) -> str:
    """Pay."""
    return card


@pytest.fixture
def hook():
    """
    Record a few calls.
    """
    made = RecordingHook()
    client = ToolClient([add, pay], hooks=[made], filters=[Approval(approve_all)])
    client.invoke("add", {"a": 1, "b": 2})
    client.invoke("add", '{"a": 1}')
    client.invoke("add", "no JSON")
    client.invoke("pay", {"card": "4111"})

    return made


@pytest.mark.parametrize(
    ("arguments", "contents"),
    [({"a": 1, "b": 2}, ["3"]), ({"a": 1}, ["3", "2"]), ({"b": 2}, ["3"])],
)
def test_calls_are_found_by_some_of_their_arguments(hook, arguments, contents):
    """
    A test names what it is about; text and mapping are the same call.
    """
    found = assert_called(hook, "add", **arguments)

    assert contents == [result.content for result in found]


def test_without_arguments_every_call_counts(hook):
    """
    Also one whose arguments could not be read.
    """
    found = assert_called(hook, "add")

    assert ["ok", "ok", "invalid"] == [result.status for result in found]
    assert ["ok"] == [result.status for result in assert_called(hook, "pay")]


def test_what_was_not_called_is_said_beside_what_was(hook):
    """
    The wrong argument is seen without running anything again.
    """
    with pytest.raises(AssertionError) as caught:
        assert_called(hook, "add", a="1")

    assert (
        "add(a='1') was not called. The calls were:\n"
        "  add(a=1, b=2)\n"
        "  add(a=1)\n"
        "  add()\n"
        "  pay()"
    ) == str(caught.value)


def test_no_call_at_all_is_said():
    """
    Most often the hook was not given to the client.
    """
    with pytest.raises(AssertionError) as caught:
        assert_called(RecordingHook(), "add")

    assert "add() was not called. Nothing was called." == str(caught.value)


def test_what_must_not_be_called_fails_when_it_was(hook):
    """
    The other way round, with the same list.
    """
    assert_not_called(hook, "add", a=3)
    assert_not_called(hook, "sub")
    with pytest.raises(AssertionError) as caught:
        assert_not_called(hook, "add", b=2)

    assert str(caught.value).startswith("add(b=2) was called. The calls were:\n")


@pytest.mark.parametrize("assertion", [assert_called, assert_not_called])
def test_arguments_that_nobody_is_told_prove_nothing(hook, assertion):
    """
    An assertion about what is hidden would fail, or pass, for the wrong reason.
    """
    with pytest.raises(AssertionError) as caught:
        assertion(hook, "pay", card="4111")

    assert (
        "The tool 'pay' is declared sensitive: hooks are not told its arguments. Assert "
        "on its effect, or on what its approver was asked."
    ) == str(caught.value)


def test_calls_of_one_id_have_their_own_results():
    """
    Ids come from models, which repeat them.
    """
    hook = RecordingHook()
    client = ToolClient([add], hooks=[hook])
    for number in range(3):
        client.invoke("add", {"a": number}, call_id="call_1")

    assert [1, 2, 3] == [result.value for result in assert_called(hook, "add")]
    assert [2] == [result.value for result in assert_called(hook, "add", a=1)]


def test_a_call_that_is_under_way_has_no_result():
    """
    A hook may be asked at any time.
    """
    hook, seen = RecordingHook(), []

    @tool
    def look() -> None:
        """Look at what is known by now."""
        seen.append(assert_called(hook, "look"))

    ToolClient([look], hooks=[hook]).invoke_batch([ToolCall("look")])

    assert [[]] == seen


def test_bodies_of_clients_that_are_no_more_count_too():
    """
    A client that a test has forgotten is what it forgets to look at.
    """
    gate = Gate()

    @tool(timeout=0.5)
    def stuck() -> None:
        """Wait."""
        gate.pass_through()

    before = len(abandoned_calls())
    ToolClient([stuck]).invoke("stuck", call_id="forgotten")
    gate.wait_for_arrivals()
    try:
        left = [call for call in abandoned_calls() if call.call_id == "forgotten"]
        with pytest.raises(AssertionError) as caught:
            assert_no_abandoned()
    finally:
        gate.open()

    assert (before + 1, ["stuck"]) == (before + len(left), [c.name for c in left])
    assert "stuck (" in str(caught.value)


def test_calls_of_one_id_at_once_have_their_own_results():
    """
    No result is counted for two calls.
    """
    hook, events = RecordingHook(), []
    client = ToolClient([add], hooks=[events.append])
    for number in range(2):
        client.invoke("add", {"a": number}, call_id="call_1")
    hook.events += [events[0], events[2], events[1], events[3]]

    assert [1, 2] == [result.value for result in assert_called(hook, "add")]
