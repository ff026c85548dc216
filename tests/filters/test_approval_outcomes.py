"""
What comes of a call about which nothing sensible is said, and what hooks are told.
"""

from __future__ import annotations

import asyncio
import logging

import pytest

from approving import COLOURS, RUNS, approver, client_with, pay
from fronts import Listener, call
from tooldecl import ToolClient
from tooldecl.exceptions import (
    ApprovalDeniedError,
    ApprovalExpiredError,
    DeclarationError,
    GuardFailedError,
)
from tooldecl.filters import (
    Answer,
    Approval,
    Approved,
    Denied,
    approve_all,
    deny_all,
)
from tooldecl.telemetry import ApprovalAsked, ApprovalDecided


@pytest.fixture(params=COLOURS)
def colour(request):
    """
    Ask sync, async, and by something that gives a coroutine.
    """
    return request.param


def asked(front, colour, decide, *, name="pay", arguments=None, filters=(), **options):
    """
    Run one call about which somebody decides.
    """
    approval = Approval(approver(colour, decide), **options)
    client = client_with(*filters, approval)

    return call(front, client, name, {"amount": 5} if arguments is None else arguments)


NONSENSE = [None, True, "yes", Approved, {"approved": True}, object()]


@pytest.mark.parametrize("answer", NONSENSE, ids=lambda a: repr(a)[:12])
def test_an_answer_that_is_no_decision_blocks_the_call(front, colour, answer, caplog):
    """
    R130: what nobody can read as a yes is none; ``True`` could be a slip.
    """
    result = asked(front, colour, lambda _: answer)

    assert ("guard_failed", [], False) == (result.status, RUNS, result.error.ran)
    assert (logging.WARNING, "it gave no decision") == (
        caplog.records[0].levelno,
        caplog.records[0].args[2],
    )


ERRORS = [
    (RuntimeError("x"), "semantic"),
    (ConnectionError("x"), "transient"),
    (PermissionError("x"), "environment"),
    (SystemExit(0), "semantic"),
    (AssertionError(), "semantic"),
]


@pytest.mark.parametrize(("error", "error_class"), ERRORS)
def test_an_approver_that_raises_blocks_the_call(front, colour, error, error_class):
    """
    APR-13, E-18, R130: whoever could not be asked has not agreed.
    """

    def decide(request):
        raise error

    result = asked(front, colour, decide)

    assert (
        "guard_failed",
        error_class,
        [],
        "A check around tool 'pay' failed. It was not run.",
    ) == (
        result.status,
        result.error_class,
        RUNS,
        result.content,
    )
    assert error is result.error.__cause__


def test_refused_expired_and_failed_are_three_outcomes(front):
    """
    R135, R130: who reads a record later can tell a no from nobody and from a broken check.
    """

    async def never(request):
        await asyncio.Event().wait()

    def broken(request):
        raise ValueError

    results = [
        call(front, client_with(Approval(a, expires=0.05)), "pay", {"amount": 1})
        for a in (deny_all, never, broken)
    ]

    assert ["denied", "approval_expired", "guard_failed"] == [r.status for r in results]
    assert [ApprovalDeniedError, ApprovalExpiredError, GuardFailedError] == [
        type(r.error) for r in results
    ]
    assert 3 == len({r.content for r in results})
    assert [] == RUNS


def test_hooks_are_told_who_was_asked_and_what_was_decided(front):
    """
    A record of decisions is the point of asking: every question has its outcome.
    """
    listener = Listener()
    decisions = iter([Approved(), Denied(), Answer("I did."), None])
    client = client_with(
        Approval(lambda _: next(decisions), expires=60), hooks=[listener]
    )
    results = [call(front, client, "pay", {"amount": 1}) for _ in range(4)]
    told = listener.of(ApprovalDecided)

    assert ["approved", "denied", "answered", "failed"] == [e.decision for e in told]
    assert [(r.call_id, "pay") for r in results] == [(e.call_id, e.name) for e in told]
    assert [60.0] * 4 == [event.expires for event in listener.of(ApprovalAsked)]


def test_a_client_with_a_sensitive_tool_needs_somebody_to_ask():
    """
    FLT: whoever wants it to run unasked says so.
    """
    with pytest.raises(DeclarationError) as caught:
        ToolClient([pay])

    assert str(caught.value).endswith(
        "is sensitive, and nobody is asked before it runs. Give the client an Approval "
        "filter; to run it unasked, say so with Approval(approve_all)."
    )
    assert (
        "paid 1"
        == ToolClient([pay], filters=[Approval(approve_all)])
        .invoke("pay", {"amount": 1})
        .unwrap()
    )


@pytest.mark.parametrize(
    ("make", "start"),
    [
        (lambda: Approval(None), "Approval takes a callable of one request, got None."),
        (lambda: Approval(int), "Approval takes a callable of one request, got "),
        (lambda: Approval(deny_all, expires=0), "Approval(expires=...) "),
        (lambda: Approval(deny_all, expires=float("nan")), "Approval(expires"),
        (lambda: Approved(arguments="{}"), "Approved(arguments=...) takes a mapping"),
        (lambda: Denied(None), "Denied(reason) takes a text, got None."),
        (lambda: Answer(""), "Answer(text) takes a text that is not empty."),
        (lambda: Answer(5), "Answer(text) takes a text, got 5."),
    ],
)
def test_what_does_not_fit_is_refused_where_it_is_made(make, start):
    """
    APR-08: a slip is found when it is written and not when somebody waits for it.
    """
    with pytest.raises(DeclarationError) as caught:
        make()

    assert str(caught.value).startswith(start)
