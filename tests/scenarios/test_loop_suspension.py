"""
A run of a loop that waits for decisions, and goes on here or in another process.
"""

from __future__ import annotations

import json
import threading

import pytest

from loops import calls, check, outcomes, resume, run, scripted, stored
from tooldecl import (
    BatchResult,
    Budget,
    Suspension,
    ToolClient,
    ToolContext,
    ToolError,
    ToolLoop,
    tool,
)
from tooldecl.engines import ThreadEngine
from tooldecl.exceptions import BatchFailedError, ResumeError
from tooldecl.filters import Again, Answer, Approval, Approved, Denied, Proceed, Suspend


RUNS = []


@tool
def look(word: str) -> str:
    """Look."""
    RUNS.append(f"look {word}")

    return word


@tool(sensitive=True)
def pay(amount: int, ctx: ToolContext) -> str:
    """Pay."""
    RUNS.append(f"pay {amount}")
    ctx.write("paid", ctx.state.get("paid", 0) + amount)

    return f"paid {amount}"


@tool(sensitive=True, return_direct=True)
def sign() -> str:
    """Sign."""
    RUNS.append("sign")

    return "signed"


@tool(external=True, timeout=60)
def phone(question: str) -> str:
    """Ask somebody on the phone."""


def client(**options):
    """
    Make a client whose approvals are all decided later.
    """
    later = Approval(lambda request: Suspend())

    return ToolClient([look, pay, sign, phone], filters=[later], **options)


def looping(*turns, **options):
    """
    Make a loop around a script.
    """
    return ToolLoop(client(), scripted(*turns), **options)


MIXED = calls(
    ("a", "look", {"word": "x"}),
    ("b", "pay", {"amount": 5}),
    ("c", "phone", {"question": "?"}),
    ("d", "look", {"word": "y"}),
)


def test_a_turn_with_calls_that_wait_ends_the_run(front):
    """
    EXT-01, APR-22: what can run has run, once; every call has an answer that a strict
    provider takes, a placeholder where it waits, and the suspension names those.
    """
    loop = looping("Hello.", MIXED, "Done.")
    first = run(front, loop)
    result = run(front, loop, [*first.messages, {"role": "user", "content": "Go."}])
    check(result.messages)

    assert ("suspended", "", 1, ["look x", "look y"], ["b", "c"]) == (
        result.stop_reason,
        result.text,
        result.turns,
        RUNS,
        [call.call_id for call in result.suspension.calls],
    )
    assert [("a", "ok"), ("b", "pending"), ("c", "pending"), ("d", "ok")] == outcomes(
        result
    )
    assert [
        (
            "pending",
            "The call of 'pay' has no result yet: it waits for a decision.",
        ),
        (
            "pending",
            "The call of 'phone' has no result yet: it waits for its result from "
            "elsewhere.",
        ),
    ] == [(m["status"], m["content"]) for m in result.messages[-3:-1]]
    assert result.suspension is result.results[1].error.suspension


@pytest.mark.parametrize("keep", [lambda s: s, stored], ids=["here", "stored"])
def test_a_run_goes_on_with_the_answers_in_their_places(front, keep):
    """
    APR-10, LOOP-08: the model sees each call answered once, in order; the turn that was
    suspended is not counted again.
    """
    loop = looping(calls(("z", "look", {"word": "w"})), MIXED, "Done.")
    first = run(front, loop)
    result = resume(
        front, loop, keep(first.suspension), {"b": Approved(), "c": "It is blue."}
    )
    check(result.messages)
    seen = loop._model.requests[-1].messages[-4:]

    assert ("answer", "Done.", 3) == (result.stop_reason, result.text, result.turns)
    assert [("a", "x"), ("b", "paid 5"), ("c", "It is blue."), ("d", "y")] == [
        (m["tool_call_id"], m["content"]) for m in seen
    ]
    assert ["w", "x", "paid 5", "It is blue.", "y"] == [
        r.content for r in result.results
    ]
    assert ["look w", "look x", "look y", "pay 5"] == RUNS
    assert 5 == loop._client.state["paid"]


def test_what_is_decided_in_part_waits_again(front):
    """
    E-16: a decision counts for its call alone; the rest waits on, with what was decided.
    """
    loop = looping(MIXED, "Done.")
    first = run(front, loop)
    second = resume(front, loop, stored(first.suspension), {"c": "It is blue."})
    check(second.messages)
    third = resume(front, loop, stored(second.suspension), {"b": Denied("too much")})
    check(third.messages)

    assert [("a", "ok"), ("b", "pending"), ("c", "ok"), ("d", "ok")] == outcomes(second)
    assert (["b"], 1, "answer") == (
        [call.call_id for call in second.suspension.calls],
        second.turns,
        third.stop_reason,
    )
    assert [("a", "ok"), ("b", "denied"), ("c", "ok"), ("d", "ok")] == outcomes(third)
    assert ["look x", "look y"] == RUNS


def test_a_run_may_be_suspended_in_every_turn(front):
    """
    APR-11: ids, places and results are those of one run, as if it had never stopped.
    """
    turns = [
        calls(("p", "pay", {"amount": n}), ("p", "look", {"word": "w"})) for n in (1, 2)
    ]
    loop = looping(*turns, "Done.")
    first = run(front, loop)
    [waiting] = first.suspension.calls
    second = resume(
        front, loop, stored(first.suspension), {waiting.call_id: Approved()}
    )
    [waiting] = second.suspension.calls
    third = resume(
        front, loop, stored(second.suspension), {waiting.call_id: Approved()}
    )
    check(third.messages)

    assert ("answer", 3, ["paid 1", "w", "paid 2", "w"]) == (
        third.stop_reason,
        third.turns,
        [r.content for r in third.results],
    )
    assert [None, "p", "p", "p"] == [r.original_id for r in third.results]
    assert [0, 2] == [s.suspension.calls[0].position for s in (first, second)]


def test_a_resumed_turn_is_a_turn_like_any_other(front):
    """
    E-16: results that are the answer are the answer, also where they had to wait.
    """
    loop = looping(calls(("s", "sign")), "Never said.")
    first = run(front, loop)
    result = resume(front, loop, stored(first.suspension), {"s": Approved()})

    assert ("return_direct", "signed", 1) == (
        result.stop_reason,
        result.text,
        len(loop._model.requests),
    )


def test_a_person_may_answer_in_place_of_the_tool(front):
    """
    APR-07: the body never runs, and the model reads what the person said.
    """
    loop = looping(calls(("b", "pay", {"amount": 5})), "Done.")
    first = run(front, loop)
    result = resume(front, loop, first.suspension, {"b": Answer("I paid cash.")})

    assert ("I paid cash.", []) == (result.results[0].content, RUNS)


def test_an_error_from_elsewhere_is_read_by_the_model(front):
    """
    EXT-02: as that call's failure, and the run goes on.
    """
    loop = looping(calls(("c", "phone", {"question": "?"})), "Done.")
    first = run(front, loop)
    result = resume(front, loop, first.suspension, {"c": ToolError("Nobody there.")})

    assert ("answer", "tool_error", "Nobody there.") == (
        result.stop_reason,
        result.results[0].status,
        result.results[0].content,
    )


@pytest.mark.parametrize(
    ("decisions", "problem"),
    [
        ({"x": Approved()}, "'x': no call with this id waits"),
        (
            {"b": "yes"},
            "'b': it waits for a decision: Approved, Denied, Answer or Suspend, got str",
        ),
        (
            {"b": Again()},
            "'b': it waits for a decision: Approved, Denied, Answer or Suspend, got Again",
        ),
        (
            {"c": Proceed()},
            "'c': it waits for its result and not for a decision, got Proceed",
        ),
    ],
)
def test_what_does_not_fit_changes_nothing(front, decisions, problem):
    """
    EXT-03, APR-09: the run is as suspended as before, nobody is told of an end, and the
    right decisions still count.
    """
    ends = []
    loop = looping(MIXED, "Done.")
    first = run(front, loop)
    with pytest.raises(ResumeError) as caught:
        resume(front, loop, first.suspension, decisions, on_end=ends.append)
    result = resume(front, loop, first.suspension, {"b": Approved(), "c": "blue"})

    assert f"Nothing was resumed.\n{problem}" == str(caught.value)
    assert ([], "answer") == (ends, result.stop_reason)


def test_a_suspension_is_resumed_once(front):
    """
    APR-17: a second time would run the same calls again.
    """
    loop = looping(calls(("b", "pay", {"amount": 5})), "Done.", "Never said.")
    first = run(front, loop)
    resume(front, loop, first.suspension, {"b": Approved()})
    with pytest.raises(ResumeError) as caught:
        resume(front, loop, stored(first.suspension), {"b": Approved()})

    assert {"b": "it has been taken up before"} == caught.value.problems
    assert ["pay 5"] == RUNS


def test_a_suspension_that_is_out_of_date_is_refused(front):
    """
    APR-17: two people decide about one call each, both from the text of the beginning;
    the second has to take what came of the first, or no run would ever have both.
    """
    loop = looping(MIXED, "Done.")
    first = run(front, loop)
    second = resume(front, loop, stored(first.suspension), {"b": Approved()})
    with pytest.raises(ResumeError) as caught:
        resume(front, loop, stored(first.suspension), {"c": "It is blue."})
    result = resume(front, loop, stored(second.suspension), {"c": "It is blue."})

    assert {
        "c": "another call of this suspension has been taken up before: go on with the "
        "suspension that came of that"
    } == caught.value.problems
    assert ("answer", 1) == (result.stop_reason, RUNS.count("pay 5"))


def test_one_of_two_that_resume_at_once_has_it():
    """
    APR-17: two threads with the same decision; the body runs once. With two suspensions,
    which is the control, it runs twice.
    """

    def together(loop, suspensions):
        barrier, errors = threading.Barrier(2), []

        def go(suspension):
            barrier.wait(10)
            try:
                loop.resume(suspension, {"b": Approved()})
            except ResumeError as error:
                errors.append(error)

        threads = [threading.Thread(target=go, args=(s,)) for s in suspensions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)

        return len(errors)

    turn = calls(("b", "pay", {"amount": 5}))
    one = looping(turn, "Done.", "Done.")
    two = looping(turn, turn, "Done.", "Done.")
    suspension = one.run("Hi").suspension
    raced = together(one, [suspension, stored(suspension)])
    ran, RUNS[:] = list(RUNS), []
    control = together(two, [two.run("Hi").suspension for _ in range(2)])

    assert (1, ["pay 5"], 0, ["pay 5"] * 2) == (raced, ran, control, RUNS)


def test_what_is_of_no_loop_is_refused(front):
    """
    EXT-03: a batch has no messages to go on with; what is no suspension is no suspension.
    """
    loop = looping("Never said.")
    batch = loop._client.invoke_batch(calls(("b", "pay", {"amount": 5})))
    with pytest.raises(ResumeError) as caught:
        resume(front, loop, batch.suspension, {"b": Approved()})
    with pytest.raises(TypeError, match=r"resume\(\) takes a Suspension, got dict\."):
        resume(front, loop, {}, {})

    assert {
        batch.suspension.id: "it is of no run of a loop: resume it with its client"
    } == (caught.value.problems)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("messages", []),
        ("messages", [{"role": "user", "content": "Hi"}, {}]),
        ("turns", None),
        ("results", [{}]),
        ("rounds", 7),
        ("meter", {"calls": -1}),
        ("meter", 7),
    ],
)
def test_a_run_that_was_damaged_is_no_run(front, part, value):
    """
    APR-10: a store that lost half of it is found before anything runs.
    """
    loop = looping(calls(("b", "pay", {"amount": 5})), budget=Budget(calls=5))
    plain = json.loads(run(front, loop).suspension.to_json())
    plain["loop"][part] = value
    with pytest.raises(ValueError, match=r"^This is n"):
        resume(front, loop, Suspension.from_json(json.dumps(plain)), {"b": Approved()})

    assert [] == RUNS


def test_failures_can_end_a_resumed_run(front):
    """
    SPEC 9: with ``failures="raise"`` a refusal leaves the loop, and the host is told of
    the whole transcript.
    """
    ends = []
    loop = looping(MIXED, failures="raise")
    first = run(front, loop)
    with pytest.raises(BatchFailedError) as caught:
        resume(
            front, loop, first.suspension, {"b": Denied(), "c": "x"}, on_end=ends.append
        )
    [end] = ends
    check(end.messages)

    assert isinstance(caught.value.results, BatchResult)
    assert ("cancelled", [("a", "ok"), ("b", "denied"), ("c", "ok"), ("d", "ok")]) == (
        end.stop_reason,
        outcomes(end),
    )


def test_a_host_that_gives_up_heals_the_messages(front):
    """
    R58: calls that nobody decides about are answered, and the conversation goes on.
    """
    loop = looping(MIXED, "Then not.")
    first = run(front, loop)
    healed = ToolLoop.close_transcript(first.messages)
    result = run(front, loop, [*healed, {"role": "user", "content": "Forget it."}])
    check(result.messages)

    assert (["ok", "cancelled", "cancelled", "ok"], "answer") == (
        [m["status"] for m in healed[-4:]],
        result.stop_reason,
    )


def test_deps_go_with_the_run_and_never_into_the_json(front):
    """
    SPEC 4: the host's own object is given again to whoever goes on.
    """
    seen = []

    @tool(sensitive=True)
    def ask(ctx: ToolContext) -> str:
        """Ask."""
        seen.append(ctx.deps)
        return "x"

    later = Approval(lambda request: Suspend())
    loop = ToolLoop(
        ToolClient([ask], filters=[later], engine=ThreadEngine()),
        scripted(calls(("a", "ask")), "Done."),
    )
    first = run(front, loop, deps=object())
    resume(front, loop, stored(first.suspension), {"a": Approved()}, deps="mine")

    assert ["mine"] == seen
