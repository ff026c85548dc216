"""
What waits has a limit of its own, and after that nothing counts any more.
"""

from __future__ import annotations

import time

import pytest

from engine_tools import VAIN
from fronts import call_batch
from suspending import RUNS, client_of, resume, statuses
from tooldecl import ToolCall, ToolClient, ToolError, tool
from tooldecl.engines import SequentialEngine
from tooldecl.exceptions import ApprovalExpiredError
from tooldecl.filters import Answer, Approved, Denied, Suspend


def pass_(suspension):
    """
    Let the real time pass that a call had to wait.
    """
    until = max(call.expires_at for call in suspension.calls)
    while time.time() <= until:
        time.sleep(0.01)


PAY = [ToolCall("pay", {"amount": 5}, "p")]


@pytest.mark.parametrize(
    "late", [Approved(), Denied("no"), Answer("I paid."), Suspend()]
)
def test_a_decision_that_comes_late_does_nothing(front, route, late):
    """
    R134, R135: nobody decided in time; that is no refusal, and a late yes runs nothing.
    """
    client = client_of(approver=lambda _: Suspend(expires=VAIN / 10))
    first = call_batch(front, client, PAY)
    pass_(first.suspension)
    batch = resume(front, client, route(first.suspension), {"p": late})
    [result] = batch

    assert ("approval_expired", "not_started", [], None) == (
        result.status,
        result.fate,
        RUNS,
        batch.suspension,
    )
    assert "Tool 'pay' was not run: nobody decided about the call within 0.05 s." == (
        result.content
    )


def test_a_decision_in_time_counts(front, route):
    """
    The control: the same with a limit that has not passed.
    """
    client = client_of(approver=lambda _: Suspend(expires=3600))
    first = call_batch(front, client, PAY)
    batch = resume(front, client, route(first.suspension), {"p": Approved()})

    assert ["ok"] == statuses(batch)


@tool(external=True, timeout=VAIN / 10)
def press(x: int) -> int:
    """Press."""
    return x


@tool(external=True)
def hover(x: int) -> int:
    """Hover."""
    return x


@tool(external=True, timeout=None)
def wait(x: int) -> int:
    """Wait."""
    return x


@pytest.mark.parametrize("late", [7, ToolError("gone")])
def test_a_result_from_elsewhere_that_comes_late_is_refused(front, route, late):
    """
    EXT-05: its tool's ``timeout`` is how long it may take, and the text does not say that
    nothing was done.
    """
    client = ToolClient([press])
    first = call_batch(front, client, [ToolCall("press", {"x": 1}, "c")])
    pass_(first.suspension)
    [result] = resume(front, client, route(first.suspension), {"c": late})

    assert (ApprovalExpiredError, "external", "approval_expired") == (
        type(result.error),
        result.error.kind,
        result.status,
    )
    assert (
        "Tool 'press' has no result: none came from elsewhere within 0.05 s. It may have "
        "taken effect there." == result.content
    )


def test_the_limit_of_a_result_is_declared_or_the_engines(front):
    """
    As for any body: declared, else the engine's, else none; ``None`` is unlimited.
    """
    client = ToolClient([press, hover, wait], engine=SequentialEngine(timeout=60))
    calls = [ToolCall(name, {"x": 1}) for name in ("press", "hover", "wait")]
    waiting = call_batch(front, client, calls).suspension.calls

    assert [VAIN / 10, 60.0, None] == [call.limit for call in waiting]
    assert [True, True, False] == [call.expires_at is not None for call in waiting]


def test_what_expired_leaves_the_others_waiting(front, route):
    """
    E-16: each call has its own limit.
    """
    limits = iter([VAIN / 10, 3600])
    client = client_of(approver=lambda _: Suspend(expires=next(limits)))
    calls = [ToolCall("pay", {"amount": n}, str(n)) for n in range(2)]
    first = call_batch(front, client, calls)
    time.sleep(VAIN / 5)
    batch = resume(
        front, client, route(first.suspension), {"0": Approved(), "1": Approved()}
    )

    assert (["approval_expired", "ok"], ["pay 1"]) == (statuses(batch), RUNS)


def test_putting_it_off_again_gives_time_again(front, route):
    """
    The limit is that of the last time somebody asked for time.
    """
    client = client_of(approver=lambda _: Suspend(expires=3600))
    first = call_batch(front, client, PAY)
    longer = resume(
        front, client, route(first.suspension), {"p": Suspend(expires=7200)}
    )
    ever = resume(front, client, route(longer.suspension), {"p": Suspend()})

    assert [3600.0, 7200.0, None] == [
        batch.suspension.calls[0].limit for batch in (first, longer, ever)
    ]
