"""
Whoever is asked decides about exactly one call, and everything but a yes runs nothing.
"""

from __future__ import annotations

import copy
import dataclasses

import pytest

from approving import COLOURS, RUNS, approver, client_with
from fronts import call, call_batch
from tooldecl import ToolCall, tool
from tooldecl.exceptions import (
    ApprovalDeniedError,
)
from tooldecl.filters import (
    Answer,
    Approval,
    Approved,
    Denied,
)


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


def test_a_sensitive_call_that_is_approved_runs(front, colour):
    """
    APR-01: the approver gets the name, the arguments and the id; the body runs once.
    """
    seen = []
    result = asked(front, colour, lambda r: seen.append(r) or Approved())
    [request] = seen

    assert ("ok", "paid 5", [5]) == (result.status, result.value, RUNS)
    assert ("pay", {"amount": 5}, result.call_id, True) == (
        request.name,
        request.arguments,
        request.call_id,
        request.meta.sensitive,
    )


def test_a_call_that_is_denied_does_not_run(front, colour):
    """
    APR-02, APR-05, APR-12: the refusal is data: a status, a class and the reason.
    """
    result = asked(front, colour, lambda _: Denied("too much"))

    assert ("denied", "not_started", 0, [], "semantic") == (
        result.status,
        result.fate,
        result.attempts,
        RUNS,
        result.error_class,
    )
    assert (ApprovalDeniedError, "pay", "too much") == (
        type(result.error),
        result.error.tool,
        result.error.reason,
    )
    assert isinstance(result.error, PermissionError)


def test_nobody_is_asked_about_other_tools(front, colour):
    """
    APR-03: a question about every harmless call teaches people to say yes.
    """
    seen = []
    result = asked(front, colour, seen.append, name="look", arguments={"at": "sky"})

    assert ("looked at sky", []) == (result.value, seen)


def test_a_refusal_says_that_nothing_was_run_and_why(front):
    """
    R137: a bare "no" is read as a report that it was done; the reason is that of the call.
    """

    def decide(request):
        return Denied("too much" if request.arguments["amount"] > 5 else "")

    client = client_with(Approval(decide))
    texts = [
        call(front, client, "pay", {"amount": amount}).content for amount in (9, 1)
    ]

    assert [
        "Tool 'pay' was not run: the call was refused. That is a decision and not a "
        "failure. The reason given: too much",
        "Tool 'pay' was not run: the call was refused. That is a decision and not a "
        "failure. No reason was given.",
    ] == texts


def test_edited_arguments_are_what_runs(front, colour):
    """
    APR-06: the person's amount, and nothing of the model's.
    """
    result = asked(front, colour, lambda _: Approved(arguments={"amount": 3}))

    assert ("paid 3", [3]) == (result.value, RUNS)


@pytest.mark.parametrize("edited", [{}, {"amount": "3"}, {"amount": 3, "now": True}])
def test_edited_arguments_pass_the_gate(front, colour, edited):
    """
    APR-06: a person's slip is no way around the check.
    """
    result = asked(front, colour, lambda _: Approved(arguments=edited))

    assert ("invalid", "not_started", []) == (result.status, result.fate, RUNS)


def test_a_persons_answer_that_is_too_long_is_no_failed_check(front, colour):
    """
    R115: the limit is said, and the host still has all of it.
    """
    text = "x" * 500
    approval = Approval(approver(colour, lambda _: Answer(text)))
    client = client_with(approval, result_limit=100)
    result = call(front, client, "pay", {"amount": 5})

    assert ("too_large", "not_started", text, 500, []) == (
        result.status,
        result.fate,
        result.value,
        result.original_size,
        RUNS,
    )
    assert (
        "Tool 'pay' was not run: the answer given for it has 500 characters and the "
        "limit is 100. Ask for less." == result.content
    )


def test_a_persons_answer_can_always_be_sent(front, colour):
    """
    R111: half of a character has no UTF-8, and would poison the conversation.
    """
    result = asked(front, colour, lambda _: Answer("half \ud83d"))

    assert ("ok", "half \ufffd", "half \ufffd") == (
        result.status,
        result.value,
        result.content,
    )


def test_a_persons_answer_is_the_result(front, colour):
    """
    APR-07: what a person says comes out as it is; the body never runs.
    """
    result = asked(front, colour, lambda _: Answer("I paid it myself."))

    assert ("ok", "I paid it myself.", "I paid it myself.", "not_started", 0, []) == (
        result.status,
        result.value,
        result.content,
        result.fate,
        result.attempts,
        RUNS,
    )


def rewriting(amount):
    """
    Make a filter that rewrites the amount.
    """

    def rewrite(request):
        return (yield request.replace(arguments={"amount": amount}))

    return rewrite


@pytest.mark.parametrize("first", [True, False])
def test_the_approver_sees_what_the_body_gets_whatever_the_order(front, colour, first):
    """
    R132, APR-19: a filter rewrites 1 to 900, and 900 is what is asked about.
    """
    seen = []
    approval = Approval(
        approver(colour, lambda r: seen.append(r.arguments["amount"]) or Approved())
    )
    filters = [approval, rewriting(900)] if first else [rewriting(900), approval]
    result = call(front, client_with(*filters), "pay", {"amount": 1})

    assert ([900], [900], "paid 900") == (seen, RUNS, result.value)


def test_the_snapshot_cannot_be_changed(front):
    """
    APR-21: what was decided about is what runs; nobody can slip something in between.
    """
    errors = []

    @tool(sensitive=True)
    def order(lines: list[dict[str, int]]) -> str:
        """Order."""
        return str(lines)

    def attempts(request):
        arguments = request.arguments
        yield lambda: arguments.__setitem__("lines", [])
        yield lambda: arguments["lines"].append({})
        yield lambda: arguments["lines"][0].__setitem__("n", 9)
        yield lambda: arguments["lines"][0].update(n=9)
        yield lambda: dict.__setitem__(arguments, "lines", [])
        yield lambda: list.append(arguments["lines"], {"n": 9})
        yield lambda: setattr(request, "arguments", {})
        yield lambda: setattr(request.meta, "sensitive", False)
        yield lambda: object.__setattr__(request, "arguments", {"lines": []})

    def decide(request):
        for attempt in attempts(request):
            try:
                attempt()
            except (
                TypeError,
                AttributeError,
                dataclasses.FrozenInstanceError,
            ) as error:
                errors.append(type(error))
        return Approved()

    client = client_with(Approval(decide), tools=[order])
    given = {"lines": [{"n": 1}]}
    result = call(front, client, "order", copy.deepcopy(given))

    assert ("[{'n': 1}]", given) == (result.value, {"lines": [{"n": 1}]})
    assert len(errors) >= 5


def test_one_refusal_in_a_batch_is_for_one_call(front):
    """
    R136, APR-04, E-16: counters are 1, 0, 1; all are answered, in order.
    """

    def decide(request):
        return Denied("no") if request.arguments["amount"] == 2 else Approved()

    batch = call_batch(
        front,
        client_with(Approval(decide)),
        [ToolCall("pay", {"amount": n}, str(n)) for n in (1, 2, 3)],
    )

    assert ([1, 3], ["1", "2", "3"], ["ok", "denied", "ok"]) == (
        RUNS,
        [r.call_id for r in batch],
        [r.status for r in batch],
    )
