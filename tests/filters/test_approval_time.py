"""
A person's time is its own: outside of the tool's, within the batch's, and then over.
"""

from __future__ import annotations

import asyncio
import threading

import pytest

from approving import RUNS, client_with
from engine_stage import begin, outcome
from engine_tools import VAIN
from fronts import Listener, call, call_batch
from ordering import HANGS_AFTER, Gate
from tooldecl import ToolCall, tool
from tooldecl.engines import AsyncioEngine, ThreadEngine
from tooldecl.filters import Approval, Approved
from tooldecl.telemetry import ApprovalDecided, CallFinished, LateFinish


class Slow:
    """
    An approver that says yes once the test lets it.
    """

    def __init__(self):
        self.gate = Gate()
        self.said = threading.Event()

    def sync(self, request):
        """
        Wait on a thread.
        """
        self.gate.pass_through()
        self.said.set()
        return Approved()

    async def unstoppable(self, request):
        """
        Wait on a loop, whatever is cancelled.
        """
        while True:
            try:
                await asyncio.to_thread(self.sync, request)
            except asyncio.CancelledError:
                continue
            return Approved()

    async def stoppable(self, request):
        """
        Wait on a loop.
        """
        try:
            self.gate.arrive()
            await asyncio.Event().wait()
        finally:
            self.said.set()


KINDS = ("sync", "stoppable")


@pytest.fixture(params=KINDS)
def slow(request):
    """
    An approver that takes its time, and its form.
    """
    slow = Slow()
    slow.form = getattr(slow, request.param)
    yield slow
    slow.gate.open()


def test_a_person_may_take_longer_than_the_tool(front):
    """
    R134: the tool has 0.05 s and the person takes longer; the body runs, with all of its
    time.
    """
    left = []

    @tool(sensitive=True, timeout=VAIN)
    def pay_soon(amount: int) -> str:
        """Pay soon."""
        left.append(amount)
        return "paid"

    gate = Gate()

    def decide(request):
        threading.Timer(2 * VAIN, gate.open).start()
        gate.pass_through()
        return Approved()

    client = client_with(Approval(decide), tools=[pay_soon])

    assert "paid" == call(front, client, "pay_soon", {"amount": 1}).value


def test_a_late_yes_does_nothing(front):
    """
    R134: the call was answered; the yes comes, and the body does not run.
    """
    slow, listener = Slow(), Listener()
    client = client_with(Approval(slow.sync, expires=VAIN / 5), hooks=[listener])
    result = call(front, client, "pay", {"amount": 1})
    slow.gate.open()
    assert slow.said.wait(HANGS_AFTER)

    assert ("approval_expired", "not_started", []) == (result.status, result.fate, RUNS)
    assert "Tool 'pay' was not run: nobody decided about the call within 0.1 s." == (
        result.content
    )
    assert ["expired"] == [e.decision for e in listener.of(ApprovalDecided)]
    assert ([], ()) == (listener.of(LateFinish), client.abandoned)


def test_an_approver_in_time_is_heard(front):
    """
    The control: with the same limit, a yes that comes at once counts.
    """
    slow = Slow()
    slow.gate.open()
    client = client_with(Approval(slow.sync, expires=HANGS_AFTER))

    assert "paid 1" == call(front, client, "pay", {"amount": 1}).value


def test_an_approver_that_is_asked_late_is_cancelled(front):
    """
    What waits for a decision on a loop is told that nobody wants it any more.
    """
    slow = Slow()
    client = client_with(Approval(slow.stoppable, expires=VAIN / 5))
    result = call(front, client, "pay", {"amount": 1})

    assert "approval_expired" == result.status
    assert slow.said.wait(HANGS_AFTER)


@pytest.mark.parametrize("engine", [None, ThreadEngine, AsyncioEngine])
def test_the_batchs_time_holds_for_approvers(front, slow, engine):
    """
    ``within`` is a bound for the whole batch: nobody has decided, so nothing was run.
    """
    client = client_with(
        Approval(slow.form, expires=HANGS_AFTER),
        engine=None if engine is None else engine(),
    )
    calls = [ToolCall("look", {"at": "sky"}), ToolCall("pay", {"amount": 1})]
    looked, paid = call_batch(front, client, calls, within=VAIN)

    assert ("ok", "not_run", "not_started", []) == (
        looked.status,
        paid.status,
        paid.fate,
        RUNS,
    )
    assert (
        "Tool 'pay' was not run: the batch's time was over before somebody decided "
        "about it." == paid.content
    )


async def test_a_cancelled_caller_is_not_asked_for_any_more(slow):
    """
    CAN: the caller goes on at once, and a yes after that runs nothing.
    """
    listener = Listener()
    client = client_with(Approval(slow.form), hooks=[listener])
    task = asyncio.create_task(client.ainvoke("pay", {"amount": 1}))
    await asyncio.to_thread(slow.gate.wait_for_arrivals)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    slow.gate.open()
    assert await asyncio.to_thread(slow.said.wait, HANGS_AFTER)
    [event] = listener.of(CallFinished)

    assert ("cancelled", "not_started", []) == (
        event.result.status,
        event.result.fate,
        RUNS,
    )


@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError])
def test_what_means_stop_leaves_an_approver_unchanged(front, kind):
    """
    FAT-06: Ctrl-C at the question ends the program and is no answer to it.
    """
    error = kind()

    async def ask(request):
        raise error

    def decide(request):
        raise error

    for approve in (ask, decide):
        with pytest.raises(kind) as caught:
            call(front, client_with(Approval(approve)), "pay", {"amount": 1})
        assert (error, []) == (caught.value, RUNS)


def test_closing_the_client_ends_a_question():
    """
    Nobody will come back for the decision: the call is answered, and nothing was run.
    """
    slow = Slow()
    client = client_with(Approval(slow.stoppable))
    future = begin(client.invoke, "pay", {"amount": 1})
    slow.gate.wait_for_arrivals()
    client.close()

    assert ("cancelled", []) == (outcome(future).status, RUNS)


def test_an_approver_that_refuses_to_be_cancelled_holds_nobody():
    """
    R134: it may never come back; its call is answered in time, and so is the next one.
    """
    slow = Slow()
    client = client_with(Approval(slow.unstoppable, expires=VAIN / 5))
    statuses = [
        client.invoke("pay", {"amount": 1}).status,
        client.invoke("look", {"at": "sky"}).status,
    ]
    slow.gate.open()
    assert slow.said.wait(HANGS_AFTER)

    assert (["approval_expired", "ok"], []) == (statuses, RUNS)
