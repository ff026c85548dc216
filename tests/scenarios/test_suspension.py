"""
A batch of which some calls wait: what is there at once, and how the rest goes on.
"""

from __future__ import annotations

import itertools

import pytest

from fronts import call, call_batch
from suspending import (
    CALLS,
    RUNS,
    client_of,
    resume,
    statuses,
)
from tooldecl import NotFound, ToolCall, ToolError
from tooldecl.exceptions import BatchFailedError, CallPendingError
from tooldecl.filters import Answer, Approved, Denied, Suspend


def test_what_can_run_runs_and_the_rest_waits(front):
    """
    APR-14, APR-22, EXT-01: the sibling has its result at once, exactly once; what waits
    has done nothing.
    """
    batch = call_batch(front, client_of(), CALLS)

    assert ["ok", "pending", "pending", "pending"] == statuses(batch)
    assert ["add"] == RUNS
    assert ["p", "q", "c"] == [c.call_id for c in batch.suspension.calls]
    assert ["approval", "approval", "external"] == [
        c.kind for c in batch.suspension.calls
    ]
    assert [("not_started", 0)] * 3 == [(r.fate, r.attempts) for r in batch[1:]]
    assert [
        "The call of 'pay' has no result yet: it waits for a decision.",
        "The call of 'click' has no result yet: it waits for its result from elsewhere.",
    ] == [batch[1].content, batch[3].content]


def test_a_batch_without_waiting_calls_has_no_suspension(front):
    """
    The control: nothing is pending.
    """
    batch = call_batch(front, client_of(), CALLS[:1])

    assert (None, True) == (batch.suspension, batch.ok)


def test_everything_is_decided_at_once(front, route):
    """
    APR-10, EXT-01, R53: one yes, one no and a result from elsewhere; the answers of the
    whole batch come in order, and the sibling is not run again.
    """
    client = client_of()
    first = call_batch(front, client, CALLS)
    decisions = {"c": 42, "q": Denied("no"), "p": Approved()}
    batch = resume(front, client, route(first.suspension), decisions)

    assert ["ok", "ok", "denied", "ok"] == statuses(batch)
    assert (["a", "p", "q", "c"], ["add", "pay 5"]) == (
        [r.call_id for r in batch],
        RUNS,
    )
    assert (3, 42, "completed", None) == (
        batch[0].value,
        batch[3].value,
        batch[3].fate,
        batch.suspension,
    )


@pytest.mark.parametrize("order", [*itertools.permutations("pqc")], ids="".join)
def test_one_after_the_other_in_any_order(front, route, order):
    """
    E-16: each decision is for one call; what is left still waits, with its own place.
    """
    client = client_of()
    batch = call_batch(front, client, CALLS)
    decisions = {"p": Approved(), "q": Denied("no"), "c": 42}
    left = list("pqc")
    for call_id in order:
        left.remove(call_id)
        batch = resume(
            front, client, route(batch.suspension), {call_id: decisions[call_id]}
        )
        waiting = batch.suspension.calls if batch.suspension else ()
        assert left == [c.call_id for c in waiting]

    assert (["ok", "ok", "denied", "ok"], ["add", "pay 5"]) == (statuses(batch), RUNS)


def test_no_decision_at_all_leaves_all_waiting(front, route):
    """
    Looking in is no decision.
    """
    client = client_of()
    first = call_batch(front, client, CALLS)
    batch = resume(front, client, route(first.suspension), {})

    assert statuses(first) == statuses(batch)
    assert (["p", "q", "c"], ["add"]) == (
        [c.call_id for c in batch.suspension.calls],
        RUNS,
    )


def test_a_decision_may_be_put_off_again(front, route):
    """
    A manager asks for time, twice; then it is decided, and the call runs once.
    """
    client = client_of()
    batch = call_batch(front, client, CALLS[1:2])
    rounds = []
    for _ in range(2):
        batch = resume(front, client, route(batch.suspension), {"p": Suspend()})
        rounds.append(batch.suspension.calls[0].round)
    batch = resume(front, client, route(batch.suspension), {"p": Approved()})

    assert ([1, 2], ["pay 5"], None) == (rounds, RUNS, batch.suspension)


@pytest.mark.parametrize(
    ("decision", "status", "value", "runs"),
    [
        (Approved(arguments={"amount": 1}), "ok", "paid 1", ["pay 1"]),
        (Answer("I paid."), "ok", "I paid.", []),
        (Denied("no"), "denied", None, []),
    ],
)
def test_a_decision_later_is_as_good_as_one_at_once(
    front, route, decision, status, value, runs
):
    """
    APR-05, APR-06, APR-07: whatever could have been said at once.
    """
    client = client_of()
    first = call_batch(front, client, CALLS[1:2])
    [result] = resume(front, client, route(first.suspension), {"p": decision})

    assert (status, value, runs) == (
        result.status,
        result.value and result.value.partition(",")[0],
        RUNS,
    )


@pytest.mark.parametrize(
    ("given", "status", "content"),
    [
        (7, "ok", "7"),
        (ToolError("The page is gone."), "tool_error", "The page is gone."),
        (NotFound("No such button."), "not_found", "No such button."),
    ],
)
def test_what_comes_from_elsewhere_is_the_result(front, route, given, status, content):
    """
    EXT-01, EXT-02: a value, an error for the model to read, and a finding.
    """
    client = client_of()
    first = call_batch(front, client, CALLS[3:])
    [result] = resume(front, client, route(first.suspension), {"c": given})

    assert (status, content, "completed", []) == (
        result.status,
        result.content,
        result.fate,
        RUNS,
    )


def test_an_external_tool_is_approved_before_it_is_given_away(front, route):
    """
    EXT-04: the phone hears of it once somebody has agreed, and with what was agreed to.
    """
    client = client_of()
    calls = [ToolCall("sign", {"text": "all"}, "s")]
    first = call_batch(front, client, calls)
    edited = Approved(arguments={"text": "some"})
    second = resume(front, client, route(first.suspension), {"s": edited})
    [waiting] = second.suspension.calls
    third = resume(front, client, route(second.suspension), {"s": "signed"})

    assert ("approval", "external") == (first.suspension.calls[0].kind, waiting.kind)
    assert ({"text": "some"}, "signed", []) == (
        waiting.arguments,
        third[0].value,
        RUNS,
    )


def test_an_external_tool_that_is_refused_is_never_given_away(front):
    """
    EXT-04: the control: no call waits for a result.
    """
    client = client_of(approver=lambda _: Denied("no"))
    batch = call_batch(front, client, [ToolCall("sign", {"text": "all"})])

    assert (["denied"], None) == (statuses(batch), batch.suspension)


def test_one_call_alone_waits_too(front, route):
    """
    `invoke` has no batch: what it waits for is found at the error of its result.
    """
    client = client_of()
    result = call(front, client, "pay", {"amount": 5}, call_id="p")
    error = result.error
    batch = resume(front, client, route(error.suspension), {"p": Approved()})

    assert (CallPendingError, "approval", "pay") == (
        type(error),
        error.kind,
        error.tool,
    )
    assert (["ok"], ["pay 5"]) == (statuses(batch), RUNS)
    with pytest.raises(CallPendingError):
        result.unwrap()


def test_ids_that_were_replaced_stay_the_calls_ids(front, route):
    """
    R57, E-17: two calls with one id: each waits by itself, and shows what was sent.
    """
    client = client_of()
    first = call_batch(
        front, client, [ToolCall("pay", {"amount": n}, "x") for n in (1, 2)]
    )
    one, other = first.suspension.calls
    batch = resume(
        front,
        client,
        route(first.suspension),
        {other.call_id: Approved(), one.call_id: Denied()},
    )

    assert (["denied", "ok"], ["pay 2"]) == (statuses(batch), RUNS)
    assert ("x", None, "x") == (one.call_id, one.original_id, batch[1].original_id)


def test_pending_is_no_failure_of_a_batch(front):
    """
    ``failures="raise"`` is about what went wrong; what waits has not.
    """
    client = client_of()
    first = call_batch(front, client, CALLS, failures="raise")
    assert 3 == len(first.suspension.calls)
    with pytest.raises(BatchFailedError) as caught:
        resume(
            front,
            client,
            first.suspension,
            {"p": Denied("no"), "q": Approved()},
            failures="raise",
        )

    assert ["ok", "denied", "ok", "pending"] == statuses(caught.value.results)
    assert ["c"] == [c.call_id for c in caught.value.results.suspension.calls]
