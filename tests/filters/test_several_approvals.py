"""
Several approvals all have to agree about the same call, and none is asked too often.
"""

from __future__ import annotations

import pytest

from approving import COLOURS, RUNS, approver, client_with
from fronts import call, call_batch
from tooldecl import Retry, ToolCall, tool
from tooldecl.filters import Answer, Approval, Approved, Denied
from waiting import COLOURS as LAYERS
from waiting import layer


@pytest.fixture(params=COLOURS)
def colour(request):
    """
    Ask sync, async, and by something that gives a coroutine.
    """
    return request.param


class Panel:
    """
    Approvers by name, and a log of who was asked about which amount.
    """

    def __init__(self, colour, **decisions):
        self.log = []
        self.approvals = [
            Approval(approver(colour, self._member(name, decide)))
            for name, decide in decisions.items()
        ]

    def _member(self, name, decide):
        def member(request):
            amount = request.arguments["amount"]
            self.log.append((name, amount))
            return decide(amount)

        return member


def yes(amount):
    """
    Approve.
    """
    return Approved()


def test_all_of_them_are_asked_in_the_order_of_the_list(front, colour):
    """
    APR-15: one yes does not stand for another one.
    """
    panel = Panel(colour, policy=yes, person=yes)
    result = call(front, client_with(*panel.approvals), "pay", {"amount": 1})

    assert ([("policy", 1), ("person", 1)], "ok", [1]) == (
        panel.log,
        result.status,
        RUNS,
    )


@pytest.mark.parametrize("answer", [Denied("no"), Answer("done"), None])
def test_whoever_does_not_approve_ends_it(front, colour, answer):
    """
    APR-16: nobody is asked after that, and nothing runs.
    """
    panel = Panel(colour, policy=yes, person=lambda _: answer, late=yes)
    result = call(front, client_with(*panel.approvals), "pay", {"amount": 1})

    assert ([("policy", 1), ("person", 1)], "not_started", []) == (
        panel.log,
        result.fate,
        RUNS,
    )


def test_what_one_edits_the_others_are_asked_about_again(front, colour):
    """
    APR-18, R132: the policy agreed to 1 and not to 900; whoever edited it is not asked
    about the own edit.
    """

    def policy(amount):
        return Denied("over 100") if amount > 100 else Approved()

    def person(amount):
        return Approved(arguments={"amount": 900})

    panel = Panel(colour, policy=policy, person=person)
    result = call(front, client_with(*panel.approvals), "pay", {"amount": 1})

    assert ([("policy", 1), ("person", 1), ("policy", 900)], "denied", []) == (
        panel.log,
        result.status,
        RUNS,
    )


def test_an_edit_that_all_agree_to_runs(front, colour):
    """
    APR-06: the edited call is the one that was approved by everybody.
    """

    def person(amount):
        return Approved(arguments={"amount": 50})

    panel = Panel(colour, policy=yes, person=person, second=yes)
    result = call(front, client_with(*panel.approvals), "pay", {"amount": 1})

    assert (
        [("policy", 1), ("person", 1), ("policy", 50), ("second", 50)],
        "paid 50",
    ) == (panel.log, result.value)


def test_an_edit_that_changes_nothing_is_a_plain_yes(front, colour):
    """
    Who sends the arguments back as they were has asked nobody for anything.
    """

    def person(amount):
        return Approved(arguments={"amount": amount})

    panel = Panel(colour, policy=yes, person=person)
    call(front, client_with(*panel.approvals), "pay", {"amount": 1})

    assert [("policy", 1), ("person", 1)] == panel.log


def test_edits_without_end_block_the_call(front, colour):
    """
    Two who undo each other's edits for ever would never come to a call.
    """

    def up(amount):
        return Approved(arguments={"amount": amount + 1})

    panel = Panel(colour, one=up, other=up)
    result = call(front, client_with(*panel.approvals), "pay", {"amount": 1})

    assert ("guard_failed", []) == (result.status, RUNS)
    assert 11 == len(panel.log)


def test_a_decision_is_never_shared_between_calls(front, colour):
    """
    E-16, E-17: the same tool, arguments and even id, sent twice, is asked about twice.
    """
    panel = Panel(colour, person=yes)
    client = client_with(*panel.approvals)
    call_batch(front, client, [ToolCall("pay", {"amount": 1}, "x")] * 2)
    call(front, client, "pay", {"amount": 1}, call_id="x")

    assert [("person", 1)] * 3 == panel.log


def test_attempts_are_not_asked_about_one_by_one(front, colour):
    """
    E-13: an approved call may be tried as often as was declared.
    """
    tries = []

    @tool(sensitive=True, retry=Retry(attempts=3, delay=0))
    def flaky(amount: int) -> str:
        """Fail twice."""
        tries.append(amount)
        if len(tries) < 3:
            raise ConnectionError
        return "done"

    panel = Panel(colour, person=yes)
    client = client_with(*panel.approvals, tools=[flaky])
    result = call(front, client, "flaky", {"amount": 1})

    assert ([("person", 1)], 3, "done") == (panel.log, len(tries), result.value)


@pytest.mark.parametrize("kind", [*LAYERS, "flow"])
@pytest.mark.parametrize("answer", [Approved(), Denied(), Answer("I did.")])
def test_a_filter_that_goes_on_again_asks_nobody_again(front, colour, kind, answer):
    """
    APR-17, E-33: it is the same call; a no stays a no, however often it is tried.
    """
    panel = Panel(colour, person=lambda _: answer)

    def again(request):
        yield request
        return (yield request)

    client = client_with(layer(kind, again), *panel.approvals)
    call(front, client, "pay", {"amount": 1})

    assert [("person", 1)] == panel.log
    assert ([1, 1] if answer == Approved() else []) == RUNS


@pytest.mark.parametrize("kind", [*LAYERS, "flow"])
def test_a_filter_that_goes_on_with_something_else_asks_about_that(front, colour, kind):
    """
    APR-18: a yes for 1 is none for 2.
    """
    panel = Panel(
        colour, person=lambda amount: Approved() if amount == 1 else Denied("no")
    )

    def more(request):
        yield request
        return (yield request.replace(arguments={"amount": 2}))

    client = client_with(layer(kind, more), *panel.approvals)
    result = call(front, client, "pay", {"amount": 1})

    assert ([("person", 1), ("person", 2)], [1], "denied") == (
        panel.log,
        RUNS,
        result.status,
    )


@pytest.mark.parametrize("kind", [*LAYERS, "flow"])
def test_a_filter_around_sees_the_refusal_and_cannot_undo_it(front, colour, kind):
    """
    R136, APR-20: it may say something else to the model; the body still does not run.
    """
    seen = []

    def soften(request):
        result = yield request
        seen.append(result.status)
        return result.replace(content="Ask your manager.")

    panel = Panel(colour, person=lambda _: Denied("no"))
    client = client_with(layer(kind, soften), *panel.approvals)
    result = call(front, client, "pay", {"amount": 1})

    assert (["denied"], "denied", "Ask your manager.", []) == (
        seen,
        result.status,
        result.content,
        RUNS,
    )
