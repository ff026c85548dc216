"""
The tool loop: model, calls, results, model, until an answer, and why it ends.
"""

from __future__ import annotations

import asyncio

import pytest

from scenarios.adding_loops import RUNS, add, adding, check, run
from tooldecl import (
    Retry,
    ToolCall,
    ToolClient,
    ToolContext,
    ToolLoop,
    Turn,
    tool,
)
from tooldecl.exceptions import (
    BatchFailedError,
    DeclarationError,
)
from tooldecl.testing import ScriptedModel


def saying(word):
    """
    Make a call of the direct tool.
    """
    return ToolCall("direct", {"word": word})


def test_a_run_from_a_question_to_an_answer(front):
    """
    SPEC 9: the model sees its calls and their results, and the tools; the result has the
    whole conversation.
    """
    script = [Turn(text="Let me see.", calls=[adding(1, 2, "c1")]), Turn(text="Three.")]
    result, model = run(front, script, "What is 1 + 2?")

    assert ("answer", "Three.", 2, [3]) == (
        result.stop_reason,
        result.text,
        result.turns,
        [r.value for r in result.results],
    )
    assert [
        {"role": "user", "content": "What is 1 + 2?"},
        {
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [{"id": "c1", "name": "add", "arguments": {"a": 1, "b": 2}}],
        },
        {
            "role": "tool",
            "tool_call_id": "c1",
            "name": "add",
            "content": "3",
            "status": "ok",
        },
        {"role": "assistant", "content": "Three."},
    ] == result.messages
    assert [result.messages[:1], result.messages[:3]] == [
        request.messages for request in model.requests
    ]
    assert [["add", "boom", "direct"]] * 2 == [
        [t["name"] for t in request.tools] for request in model.requests
    ]


def test_both_fronts_give_equal_runs():
    """
    SPEC 9: one generator drives both, so nothing can be forgotten in one of them.
    """
    script = [
        Turn(calls=[adding(1, 2, "a"), ToolCall("boom", None, "b")]),
        Turn(text="x"),
    ]
    runs = [run(front, script) for front in ("sync", "async")]

    assert runs[0][0].messages == runs[1][0].messages
    assert runs[0][1].requests == runs[1][1].requests


def test_it_ends_after_the_last_turn_allowed(front):
    """
    LOOP-01: a model that always asks for one more; every call that was asked for is run
    and answered, and the reason says why it ended.
    """
    script = [Turn(calls=[adding(n, n)]) for n in range(9)]
    result, model = run(front, script, max_turns=3)
    check(result.messages)

    assert ("max_turns", "", 3, 3, 3) == (
        result.stop_reason,
        result.text,
        result.turns,
        len(result.results),
        len(model.requests),
    )


@pytest.mark.parametrize("turns", [-1, 0, True, 1.5, "3", None])
def test_a_number_of_turns_that_is_none_is_refused(turns):
    """
    LOOP-02, VAL-07: at once, and no model is asked.
    """
    with pytest.raises(DeclarationError) as caught:
        ToolLoop(ToolClient([]), ScriptedModel([]), max_turns=turns)

    assert (
        f"ToolLoop(max_turns=...) takes a whole number from 1, got {turns!r}."
        == str(caught.value)
    )


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"client": 5}, "ToolLoop takes a ToolClient, got 5."),
        (
            {"eligible": 5},
            "ToolLoop(eligible=...) takes a predicate that waits for nothing, got 5.",
        ),
        ({"failures": "ignore"}, "failures takes 'return' or 'raise', got 'ignore'."),
    ],
)
def test_an_odd_option_is_refused(options, text):
    """
    VAL-07: a mistake of the program shows when the loop is made.
    """
    given = {"client": ToolClient([]), "model": ScriptedModel([])} | options
    with pytest.raises(DeclarationError) as caught:
        ToolLoop(given.pop("client"), given.pop("model"), **given)

    assert text == str(caught.value)


@pytest.mark.parametrize("option", ["max_steps", "max_retries"])
def test_an_option_of_a_later_version_is_pythons_own_error(option):
    """
    E-01: it is not accepted and then ignored.
    """
    with pytest.raises(TypeError):
        ToolLoop(ToolClient([]), ScriptedModel([]), **{option: None})


def test_a_turn_that_is_not_eligible_runs_nothing(front):
    """
    LOOP-03: the run is complete, the calls are answered as not run.
    """
    asked = []

    def eligible(turn):
        asked.append(turn.text)
        return False

    script = [Turn(text="I would.", calls=[adding(1, 2)])]
    result, _ = run(front, script, eligible=eligible)
    check(result.messages)

    assert ("answer", "I would.", ["I would."], []) == (
        result.stop_reason,
        result.text,
        asked,
        RUNS,
    )
    assert [("not_run", "not_started")] == [(r.status, r.fate) for r in result.results]
    assert (
        "Tool 'add' was not run: the host does not let this turn run tools."
        == (result.messages[-1]["content"])
    )


def test_eligibility_is_asked_about_turns_with_calls_only(front):
    """
    LOOP-03: an answer needs no permission, and a turn that is eligible is run.
    """
    asked = []

    def eligible(turn):
        asked.append(len(turn.calls))
        return True

    run(front, [Turn(calls=[adding(1, 2)]), Turn(text="3")], eligible=eligible)

    assert ([1], [(1, 2)]) == (asked, RUNS)


@pytest.mark.parametrize(
    ("calls", "reason", "text"),
    [
        ([saying("a")], "return_direct", "a"),
        ([saying("a"), saying("b")], "return_direct", "a\nb"),
        ([saying("a"), adding(1, 2)], "answer", "The model."),
        ([saying("fail")], "answer", "The model."),
        ([saying("a"), saying("fail")], "answer", "The model."),
        ([saying("a"), ToolCall("nothing")], "answer", "The model."),
        ([saying("a"), ToolCall("direct", {})], "answer", "The model."),
    ],
)
def test_results_are_the_answer_where_all_declare_it_and_all_succeed(
    front, calls, reason, text
):
    """
    RD-01, RD-03, RD-04, RD-06, RD-07, RD-08, E-19: else the model has the last word.
    """
    result, model = run(front, [Turn(calls=calls), Turn(text="The model.")])
    check(result.messages)

    assert (reason, text, 1 if reason == "return_direct" else 2) == (
        result.stop_reason,
        result.text,
        len(model.requests),
    )


def test_a_loop_may_be_run_many_times(front):
    """
    SPEC 9: a run keeps nothing for the next one.
    """
    model = ScriptedModel([Turn(text="a"), Turn(text="b")])
    loop = ToolLoop(ToolClient([add]), model)
    first = loop.run("Hi") if front == "sync" else asyncio.run(loop.arun("Hi"))
    second = loop.run(first.messages)

    assert (["Hi", "a"], ["Hi", "a", "b"]) == (
        [m["content"] for m in first.messages],
        [m["content"] for m in second.messages],
    )


def test_failures_can_end_the_run(front):
    """
    SPEC 9: with every result of the turn, once all of it has finished.
    """
    script = [Turn(calls=[ToolCall("boom"), adding(1, 2)])]
    with pytest.raises(BatchFailedError) as caught:
        run(front, script, failures="raise")

    assert (["tool_error", "ok"], ["boom", (1, 2)]) == (
        [r.status for r in caught.value.results],
        RUNS,
    )


def test_a_filter_that_fails_does_not_end_the_run(front):
    """
    FLT-11: the model reads that the call was not run, and says so.
    """

    def failing(request):
        raise ValueError("no database")
        yield request

    client = ToolClient([add], filters=[failing])
    script = [Turn(calls=[adding(1, 2)]), Turn(text="It was not run.")]
    result, model = run(front, script, client=client)

    assert ("answer", "A check around tool 'add' failed. It was not run.", []) == (
        result.stop_reason,
        model.requests[1].messages[-1]["content"],
        RUNS,
    )


def test_equal_calls_of_a_run_have_keys_of_their_own(front):
    """
    SPEC 4: a key tells two equal calls apart, and is the same in every attempt.
    """
    keys = []

    @tool(retry=Retry(attempts=2, delay=0))
    def order(ctx: ToolContext) -> str:
        """Order."""
        keys.append(ctx.idempotency_key)
        if ctx.attempt == 1:
            raise ConnectionError
        return "ordered"

    script = [Turn(calls=[ToolCall("order", None, "same")]) for _ in range(2)]
    run(front, [*script, Turn(text="x")], client=ToolClient([order]))

    assert (True, True, 2) == (keys[0] == keys[1], keys[2] == keys[3], len(set(keys)))


def test_state_is_carried_from_turn_to_turn(front):
    """
    SPEC 9: each turn is a batch, and reads what the one before has written.
    """

    @tool
    def count(ctx: ToolContext) -> int:
        """Count."""
        number = ctx.state.get("n", 0) + 1
        ctx.write("n", number)
        return number

    script = [Turn(calls=[ToolCall("count")] * 2), Turn(calls=[ToolCall("count")])]
    result, _ = run(front, [*script, Turn(text="x")], client=ToolClient([count]))

    assert [1, 1, 2] == [r.value for r in result.results]
