"""
The fakes that users test their own tools with.
"""

from __future__ import annotations

import asyncio

import pytest

from ordering import Gate
from tooldecl import ModelRequest, Retry, ToolCall, ToolClient, Turn, tool
from tooldecl.telemetry import (
    BatchFinished,
    BatchStarted,
    CallFinished,
    CallStarted,
)
from tooldecl.testing import (
    FakeClock,
    RecordingHook,
    ScriptedModel,
    assert_no_abandoned,
)


REQUEST = ModelRequest(messages=[], tools=[])


def test_a_fake_clock_moves_only_when_it_is_moved():
    """
    A test of an hour of waits takes no time, and sees each wait.
    """
    clock = FakeClock(10)
    clock.sleep(5)
    asyncio.run(clock.asleep(2.5))
    clock.advance(100)

    assert (117.5, [5, 2.5]) == (clock.monotonic(), clock.sleeps)


def test_a_client_waits_on_the_clock_it_was_given():
    """
    A minute of backoff is over at once, in both colours.
    """

    @tool(retry=Retry(attempts=3, delay=60, max_delay=60, jitter=0))
    def flaky() -> str:
        """Fail."""
        raise ConnectionError

    clock = FakeClock()
    client = ToolClient([flaky], clock=clock)
    first = client.invoke("flaky")
    asyncio.run(client.ainvoke("flaky"))

    assert ([60, 60, 60, 60], 120) == (clock.sleeps, first.elapsed)


def test_a_recording_hook_keeps_all_events_in_order():
    """
    What a client tells is what a test asks about.
    """
    hook = RecordingHook()
    ToolClient([], hooks=[hook]).invoke_batch([ToolCall("f")])

    kinds = [type(event) for event in hook.events]

    assert [BatchStarted, CallStarted, CallFinished, BatchFinished] == kinds
    assert hook.events[2:3] == hook.of(CallFinished)


def test_a_scripted_model_says_its_turns_in_order_and_keeps_the_requests():
    """
    A loop is tested by what the model was shown, not only by what came out.
    """
    model = ScriptedModel([Turn(text="a"), Turn(text="b")])
    turns = [model.respond(REQUEST), asyncio.run(model.arespond(REQUEST))]

    assert (["a", "b"], [REQUEST, REQUEST]) == (
        [turn.text for turn in turns],
        model.requests,
    )


def test_a_script_that_is_over_says_so():
    """
    A loop that asks once more than expected is the mistake, not an IndexError.
    """
    model = ScriptedModel([Turn(text="a")])
    model.respond(REQUEST)
    with pytest.raises(AssertionError) as caught:
        model.respond(REQUEST)

    assert "The script of this model has 1 turns and it was asked for turn 2." == str(
        caught.value
    )


def test_an_exception_in_a_script_is_raised_in_its_place():
    """
    Failing models are what retries are for.
    """
    model = ScriptedModel([ConnectionError("no route"), Turn(text="b")])
    with pytest.raises(ConnectionError):
        model.respond(REQUEST)

    assert "b" == model.respond(REQUEST).text


def test_abandoned_bodies_fail_a_test_by_name():
    """
    A test that leaves a thread behind makes the next one flaky.
    """
    gate = Gate()

    @tool(timeout=0.2)
    def stuck() -> None:
        """Wait."""
        gate.pass_through()

    client = ToolClient([stuck])
    assert_no_abandoned(client)
    client.invoke("stuck")
    try:
        with pytest.raises(AssertionError) as caught:
            assert_no_abandoned(client)
    finally:
        gate.open()

    assert "Abandoned calls are still running: stuck (0." == str(caught.value)[:44]
