"""
What cannot be resumed: nothing is run, nothing is taken up, and it is said why.
"""

from __future__ import annotations

from datetime import date
from uuid import UUID

import pytest

from engine_stage import begin, outcome
from fronts import call_batch
from ordering import Gate
from suspending import (
    CALLS,
    RUNS,
    TOOLS,
    client_of,
    later,
    resume,
    statuses,
    travelled,
)
from tooldecl import ToolCall, ToolClient, ToolError, tool
from tooldecl.exceptions import EngineClosedError, ResumeError
from tooldecl.filters import Approval, Approved, Denied, approve_all


NOT_FITTING = [
    ({"z": Approved()}, {"z": "no call with this id waits"}),
    ({"a": Approved()}, {"a": "no call with this id waits"}),
    ({5: Approved()}, {"5": "no call with this id waits"}),
    (
        {"p": True},
        {"p": "it waits for a decision: Approved, Denied, Answer or Suspend, got bool"},
    ),
    (
        {"p": Approved},
        {"p": "it waits for a decision: Approved, Denied, Answer or Suspend, got type"},
    ),
    (
        {"c": Approved()},
        {"c": "it waits for its result and not for a decision, got Approved"},
    ),
    (
        {"c": ValueError("x")},
        {
            "c": "an error from elsewhere is given as a ToolError or a NotFound, got "
            "ValueError"
        },
    ),
    (
        {"c": "one"},
        {
            "c": "the result does not fit what the tool returns: Input should be a valid "
            "integer at $"
        },
    ),
    (
        {"c": object()},
        {
            "c": "Tool 'click' ran, but its result cannot be sent: a value of this type "
            "has no JSON form (type object)."
        },
    ),
]


@pytest.mark.parametrize(("given", "problems"), NOT_FITTING, ids=lambda x: str(x)[:20])
def test_what_does_not_fit_is_refused_as_a_whole(front, given, problems):
    """
    EXT-03, E-17: a wrong id or a wrong kind in one place, and nothing of it is taken up.
    """
    client = client_of()
    first = call_batch(front, client, CALLS)
    with pytest.raises(ResumeError) as caught:
        resume(front, client, first.suspension, {"q": Approved(), **given})
    lines = [f"{call_id!r}: {why}" for call_id, why in problems.items()]

    assert (problems, "\n".join(["Nothing was resumed.", *lines])) == (
        dict(caught.value.problems),
        str(caught.value),
    )
    assert ["add"] == RUNS
    batch = resume(front, client, first.suspension, {"q": Approved()})
    assert (["add", "pay 7"], "ok") == (RUNS, batch[2].status)


def test_edited_arguments_that_do_not_fit_are_refused(front):
    """
    APR-06: a slip of a person is the host's to mend: the call still waits.
    """
    client = client_of()
    first = call_batch(front, client, CALLS)
    slip = Approved(arguments={"amount": "5"})
    with pytest.raises(ResumeError) as caught:
        resume(front, client, first.suspension, {"p": slip})

    assert "$.amount: needs an integer, got text." in str(caught.value)
    again = resume(front, client, first.suspension, {"p": Approved()})
    assert "ok" == again[1].status


def test_a_result_from_elsewhere_keeps_to_its_limit(front):
    """
    RES-03, R115: ``external_limit`` holds for it, and not the one for results of tools.
    """

    @tool(external=True)
    def read(page: str) -> str:
        """Read a page in the browser."""
        return page

    client = ToolClient([read], external_limit=10, result_limit=5)
    first = call_batch(front, client, [ToolCall("read", {"page": "p"}, "r")])
    with pytest.raises(ResumeError) as caught:
        resume(front, client, first.suspension, {"r": "x" * 11})
    batch = resume(front, client, first.suspension, {"r": "x" * 10})

    assert "Tool 'read' ran, but its result has 11 characters and the limit is 10." in (
        str(caught.value)
    )
    assert "x" * 10 == batch[0].content


@pytest.mark.parametrize(
    ("hint", "value", "content"),
    [
        (date, date(2026, 1, 1), '"2026-01-01"'),
        (UUID, UUID(int=1), f'"{UUID(int=1)}"'),
        (set[int], {1}, "[1]"),
        (bytes, b"x", '"x"'),
        (str, "x", "x"),
    ],
)
def test_a_result_from_elsewhere_may_be_any_value_with_a_json_form(
    front, hint, value, content
):
    """
    EXT-01: it is checked in the form in which it is sent; what does not fit is refused.
    """

    def read(page: str):
        """Read a page in the browser."""

    read.__annotations__["return"] = hint
    client = ToolClient([tool(external=True)(read)])
    first = call_batch(front, client, [ToolCall("read", {"page": "p"}, "r")])
    with pytest.raises(ResumeError):
        resume(front, client, first.suspension, {"r": [["no"]]})
    [result] = resume(front, client, first.suspension, {"r": value})

    assert (content, value) == (result.content, result.value)


def test_a_long_result_from_elsewhere_is_cut_where_that_is_allowed(front):
    """
    R116: one visible mark, and the host has all of it.
    """

    @tool(external=True, on_overflow="truncate")
    def read(page: str) -> str:
        """Read a page in the browser."""
        return page

    client = ToolClient([read], external_limit=60)
    first = call_batch(front, client, [ToolCall("read", {"page": "p"}, "r")])
    [result] = resume(front, client, first.suspension, {"r": "x" * 100})

    assert (60, True, 100, 100) == (
        len(result.content),
        result.truncated,
        result.original_size,
        len(result.value),
    )


def test_a_result_from_elsewhere_that_cannot_be_cut_so_short_was_completed(front):
    """
    RES-03: somebody did run it, whatever of it can be sent.
    """

    @tool(external=True, on_overflow="truncate")
    def read(page: str) -> str:
        """Read a page in the browser."""
        return page

    client = ToolClient([read], external_limit=5)
    first = call_batch(front, client, [ToolCall("read", {"page": "p"}, "r")])
    [result] = resume(front, client, first.suspension, {"r": "x" * 100})

    assert ("too_large", "completed") == (result.status, result.fate)


def test_an_error_from_elsewhere_that_is_cut_stays_an_error(front):
    """
    RES-04: the limit is about the text and never about what happened.
    """

    @tool(external=True, on_overflow="truncate")
    def read(page: str) -> str:
        """Read a page in the browser."""
        return page

    client = ToolClient([read], external_limit=60)
    first = call_batch(front, client, [ToolCall("read", {"page": "p"}, "r")])
    error = ToolError("x" * 100)
    [result] = resume(front, client, first.suspension, {"r": error})

    assert ("tool_error", True) == (result.status, len(result.content) <= 60)
    assert error is result.error.__cause__


def test_what_the_model_no_longer_sees_runs_once(front):
    """
    EXT-06: the tool is left out of what is offered to the model, and the call that waits
    for it is still good, once.
    """
    client = client_of()
    first = call_batch(front, client, CALLS[:2])
    offered = client.without("pay").definitions("openai-responses")
    batch = resume(front, client, first.suspension, {"p": Approved()})
    with pytest.raises(ResumeError):
        resume(front, client, first.suspension, {"p": Approved()})

    assert "pay" not in {definition["name"] for definition in offered}
    assert (["add", "pay 5"], "ok") == (RUNS, batch[1].status)


def test_a_call_is_taken_up_once(front):
    """
    APR-17, EXT-07: a button that is pressed twice pays once, whichever copy of the
    suspension is used, and by whichever client that comes of this one.
    """
    client = client_of()
    first = call_batch(front, client, CALLS)
    resume(front, client, first.suspension, {"p": Approved()})
    for where in (client, client.without("click")):
        for suspension in (first.suspension, travelled(first.suspension)):
            with pytest.raises(ResumeError) as caught:
                resume(front, where, suspension, {"p": Approved()})
            assert {"p": "it has been taken up before"} == caught.value.problems

    assert ["add", "pay 5"] == RUNS


def test_one_that_was_taken_up_keeps_none_of_the_others(front):
    """
    The refusal of one call costs the other ones nothing: they can still be taken up.
    """
    client = client_of()
    first = call_batch(front, client, CALLS)
    resume(front, client, first.suspension, {"q": Approved()})
    with pytest.raises(ResumeError):
        resume(front, client, first.suspension, {"p": Approved(), "q": Approved()})
    batch = resume(front, client, first.suspension, {"p": Approved()})

    assert (["add", "pay 7", "pay 5"], "ok") == (RUNS, batch[1].status)


def test_two_threads_that_resume_at_once_run_it_once():
    """
    EXT-07: both come at the same moment; the body is inside when the other one is refused.
    """
    gate, runs = Gate(), []

    @tool(sensitive=True)
    def pay_once() -> str:
        """Pay once."""
        runs.append(1)
        gate.pass_through()
        return "paid"

    client = ToolClient([pay_once], filters=[Approval(later)])
    first = client.invoke_batch([ToolCall("pay_once", {}, "p")])
    futures = [
        begin(client.resume, travelled(first.suspension), {"p": Approved()})
        for _ in range(8)
    ]
    gate.wait_for_arrivals()
    gate.open()
    ends = []
    for future in futures:
        try:
            ends.append(outcome(future)[0].status.value)
        except ResumeError:
            ends.append("refused")

    assert (["ok", *["refused"] * 7], [1]) == (sorted(ends), runs)


def test_who_gives_no_suspension_or_no_decisions_is_told(front):
    """
    A slip of the host, and none of the model.
    """
    client = client_of()
    first = call_batch(front, client, CALLS)
    for suspension, decisions, text in [
        (first, {}, "resume() takes a Suspension, got BatchResult."),
        (None, {}, "resume() takes a Suspension, got NoneType."),
        (first.suspension, ["p"], "resume() takes decisions by call id, got list."),
        (first.suspension, Approved(), "resume() takes decisions by call id, got "),
    ]:
        with pytest.raises(TypeError) as caught:
            resume(front, client, suspension, decisions)
        assert str(caught.value).startswith(text)


def test_a_closed_client_resumes_nothing(front):
    """
    EngineClosedError, as for any other call; nothing was taken up.
    """
    client = client_of()
    first = call_batch(front, client, CALLS)
    client.close()
    with pytest.raises(EngineClosedError):
        resume(front, client, first.suspension, {"p": Approved()})

    assert (
        "ok"
        == resume(front, client_of(), first.suspension, {"p": Approved()})[1].status
    )


@tool
def pay(amount: int) -> str:
    """Pay."""
    RUNS.append("unasked")

    return "paid"


@tool
def click(x: int) -> int:
    """Click here."""
    RUNS.append("clicked here")

    return x


@pytest.mark.parametrize(
    ("decisions", "why"),
    [
        ({"p": Denied("no")}, "this client does not ask about it"),
        ({"p": Approved()}, "this client does not ask about it"),
        ({"c": 42}, "this client runs it itself, and takes no result from elsewhere"),
    ],
)
def test_a_client_that_would_heed_no_decision_refuses_it(front, decisions, why):
    """
    E-16: a "no" must not run because the tool is declared otherwise by now.
    """
    first = call_batch(front, client_of(), CALLS)
    RUNS.clear()
    other = ToolClient([TOOLS[0], pay, click])
    with pytest.raises(ResumeError) as caught:
        resume(front, other, travelled(first.suspension), decisions)

    assert (True, []) == (str(caught.value).partition(": ")[2].startswith(why), RUNS)


def test_a_client_that_asks_fewer_refuses_the_decision_of_one_it_lacks(front):
    """
    E-16: the second of two said no; a client that has the first one only would run it.
    """
    two = ToolClient(TOOLS, filters=[Approval(approve_all), Approval(later)])
    first = call_batch(front, two, CALLS[1:2])
    with pytest.raises(ResumeError):
        resume(front, client_of(), travelled(first.suspension), {"p": Denied("no")})

    assert [] == RUNS


def test_a_tool_that_is_gone_is_an_answer(front):
    """
    R54: the model asked for it then, and hears that there is no such tool now.
    """
    first = call_batch(front, client_of(), CALLS)
    gone = client_of().without("pay").without("click")
    batch = resume(front, gone, travelled(first.suspension), {"p": Approved(), "c": 1})

    assert ["ok", "unknown_tool", "pending", "unknown_tool"] == statuses(batch)
