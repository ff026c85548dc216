"""
Stand-ins with a script: who approves, and an engine.
"""

from __future__ import annotations

import asyncio
import threading

import pytest

from fronts import call, call_batch
from tooldecl import ModelRequest, ToolCall, ToolClient, Turn, tool
from tooldecl.filters import Answer, Approval, Approved, Denied
from tooldecl.testing import (
    FakeClock,
    FakeEngine,
    Gate,
    ScriptedApprover,
    ScriptedModel,
)


@tool(sensitive=True)
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


def test_an_approver_decides_by_its_script_and_keeps_the_questions(front):
    """
    A test says what a person would have, and sees what that person was shown.
    """
    approver = ScriptedApprover(
        [
            Approved(),
            Denied("too much"),
            Approved(arguments={"amount": 1}),
            Answer("no"),
        ]
    )
    client = ToolClient([pay], filters=[Approval(approver)])
    results = [call(front, client, "pay", {"amount": n}) for n in (5, 50, 500, 5000)]
    approver.assert_complete()

    assert ["paid 5", "paid 1", "no"] == [r.content for r in results if r.ok]
    assert ("denied", True) == (results[1].status, "too much" in results[1].content)
    assert [5, 50, 500, 5000] == [r.arguments["amount"] for r in approver.requests]


def test_an_approver_whose_script_is_over_lets_nothing_through(caplog):
    """
    The call fails closed, and the log has the reason.
    """
    client = ToolClient([pay], filters=[Approval(ScriptedApprover([]))])
    result = client.invoke("pay", {"amount": 5})

    assert ("guard_failed", "not_started") == (result.status, result.fate)
    assert "AssertionError" in caplog.text


def test_an_error_in_a_script_is_raised_in_its_place():
    """
    An approver that cannot be reached is a case to test.
    """
    approver = ScriptedApprover([ConnectionError("nobody there"), Approved()])
    client = ToolClient([pay], filters=[Approval(approver)])
    statuses = [client.invoke("pay", {"amount": 5}).status for _ in range(2)]

    assert ["guard_failed", "ok"] == statuses


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (
            ScriptedModel([Turn(text="a"), Turn(text="b")]),
            "The script of this model has 2 turns and it was asked for 0: 2 are left.",
        ),
        (
            ScriptedApprover([Approved()]),
            "The script of this approver has 1 decisions and it was asked for 0: "
            "1 are left.",
        ),
    ],
)
def test_what_is_left_of_a_script_fails_a_test(made, text):
    """
    A run that ends too early passes every other assertion.
    """
    with pytest.raises(AssertionError) as caught:
        made.assert_complete()

    assert text == str(caught.value)


def test_a_script_that_was_said_is_complete():
    """
    Asking once more than there is counts as a failure at that time, not here.
    """
    model = ScriptedModel([Turn(text="a")])
    model.respond(ModelRequest(messages=[], tools=[]))

    model.assert_complete()


@tool
def say(word: str) -> str:
    """Say a word."""
    SAID.append(word)
    return word


SAID: list[str] = []

CALLS = [ToolCall("say", {"word": word}, word) for word in "abcd"]


@pytest.mark.parametrize(
    ("order", "said"),
    [("given", "abcd"), ("reversed", "dcba"), ([2, 0], "cabd"), ([3, 1], "dbac")],
)
def test_an_engine_runs_calls_in_the_order_that_a_test_says(front, order, said):
    """
    Results are in request order whichever call is first: that is to be relied on.
    """
    SAID.clear()
    engine = FakeEngine(order=order)
    results = call_batch(front, ToolClient([say], engine=engine), CALLS)

    assert (list(said), list("abcd")) == (SAID, [r.value for r in results])
    assert list(said) == engine.ran


def test_calls_that_an_engine_loses_are_answered(front):
    """
    ENG: every call has one answer, whatever an engine does.
    """
    engine = FakeEngine(lost=[1, 3])
    results = call_batch(front, ToolClient([say], engine=engine), CALLS)

    assert ["ok", "not_run", "ok", "not_run"] == [r.status for r in results]


def test_time_passes_on_the_clock_that_a_test_has(front):
    """
    A batch whose time is over is tested without waiting for it.
    """
    clock = FakeClock()
    engine = FakeEngine(delays={2: 100}, clock=clock)
    client = ToolClient([say], engine=engine, clock=clock)
    results = call_batch(front, client, CALLS, within=60)

    assert ["ok", "ok", "not_run", "not_run"] == [r.status for r in results]
    assert 100 == clock.monotonic()


def test_an_engine_that_fails_leaves_the_batch(front):
    """
    What a host does about a broken engine can be tried.
    """
    engine = FakeEngine(fails_after=2)
    with pytest.raises(RuntimeError) as caught:
        call_batch(front, ToolClient([say], engine=engine), CALLS)

    assert "This engine fails after 2 calls." == str(caught.value)
    assert ["a", "b"] == engine.ran


def test_delays_need_a_clock():
    """
    They never take real time.
    """
    with pytest.raises(ValueError, match="needs the clock that they pass on"):
        FakeEngine(delays={0: 1})


def test_the_timeout_of_an_engine_holds():
    """
    As for every engine, it is for tools that declare none.
    """
    gate = Gate()

    @tool
    def hold() -> None:
        """Hold on."""
        gate.pass_through()

    client = ToolClient([hold], engine=FakeEngine(timeout=0.05))
    result = client.invoke("hold")
    gate.open()

    assert "timeout" == result.status


async def test_a_gate_holds_async_bodies_and_lets_them_through():
    """
    The loop goes on meanwhile; whoever comes later does not wait.
    """
    gate, passed = Gate(), []

    @tool
    async def wait(number: int) -> None:
        """Wait."""
        await gate.apass_through()
        passed.append(number)

    client = ToolClient([wait])
    tasks = [
        asyncio.create_task(client.ainvoke("wait", {"number": n})) for n in range(3)
    ]
    await asyncio.to_thread(gate.wait_for_arrivals, 3)
    assert [] == passed
    threading.Thread(target=gate.open).start()
    await asyncio.gather(*tasks)
    await client.ainvoke("wait", {"number": 3})

    assert [0, 1, 2, 3] == sorted(passed)


@pytest.mark.parametrize("waits", ["pass_through", "wait_for_arrivals"])
def test_a_gate_that_nobody_opens_fails_the_test(waits):
    """
    A test that hangs says nothing.
    """
    gate = Gate(hangs_after=0.01)
    with pytest.raises(AssertionError) as caught:
        getattr(gate, waits)()

    texts = {
        "pass_through": "The gate was never opened.",
        "wait_for_arrivals": "0 of 1 bodies arrived.",
    }
    assert texts[waits] == str(caught.value)


async def test_a_gate_that_nobody_opens_fails_an_async_body_too():
    """
    In both colours.
    """
    with pytest.raises(AssertionError) as caught:
        await Gate(hangs_after=0.01).apass_through()

    assert "The gate was never opened." == str(caught.value)
