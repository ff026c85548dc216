"""
What ends a run of a loop: its budget, the client's, and equal calls in a row.
"""

from __future__ import annotations

import pytest

from loops import calls, check, outcomes, resume, run, scripted, stored
from scenarios.noting_tools import RUNS, note, notes
from tooldecl import Budget, Suspension, ToolClient, ToolLoop, Turn, tool
from tooldecl.exceptions import DeclarationError
from tooldecl.filters import Approval, Approved, Suspend
from tooldecl.testing import FakeClock


@tool
def other(word: str) -> str:
    """Note another word."""
    RUNS.append(word)

    return word


@tool(sensitive=True)
def pay(word: str) -> str:
    """Pay."""
    RUNS.append(word)

    return word


class Endless:
    """
    A model that always asks for one call more.
    """

    def __init__(self, arguments=None):
        self.asked = 0
        self._arguments = arguments

    def respond(self, request):
        """
        Ask for another call.
        """
        self.asked += 1
        given = self._arguments or (lambda n: {"word": str(n)})

        return Turn(calls=calls((f"c{self.asked}", "note", given(self.asked))))

    async def arespond(self, request):
        """
        Ask for another call.
        """
        return self.respond(request)


def test_a_budget_of_calls_ends_the_run(front):
    """
    R126, BUD-01, BUD-05: five bodies run, the sixth call is answered, nobody asks the
    model again, and the calls that were made are in the result.
    """
    model = Endless()
    result = run(
        front,
        ToolLoop(ToolClient([note]), model, max_turns=50, budget=Budget(calls=5)),
    )
    check(result.messages)

    assert ("budget", "calls", 6, 6, 5) == (
        result.stop_reason,
        result.stopped_by,
        result.turns,
        model.asked,
        len(RUNS),
    )
    assert ["ok"] * 5 + ["budget"] == [r.status for r in result.results]


def test_the_budget_of_the_client_ends_the_run_too(front):
    """
    R126: a client that takes no more calls would be asked in vain until the last turn;
    whose limit it was stands in the error.
    """
    client = ToolClient([note], budget=Budget(calls=2))
    result = run(front, ToolLoop(client, Endless(), max_turns=50))

    assert ("budget", "calls", 3, 2) == (
        result.stop_reason,
        result.stopped_by,
        result.turns,
        len(RUNS),
    )
    assert "client" == result.results[-1].error.level


def test_an_answer_after_the_last_call_is_still_heard(front):
    """
    BUD-01: a budget that is used up to the last call has refused nothing, so the model
    may still say what came of it. It is the control of the test above.
    """
    loop = ToolLoop(
        ToolClient([note]), scripted(notes("a", "b"), "Done."), budget=Budget(calls=2)
    )
    result = run(front, loop)

    assert ("answer", "Done.", None) == (
        result.stop_reason,
        result.text,
        result.stopped_by,
    )


def test_every_call_of_a_turn_is_counted_in_order(front):
    """
    BUD-06, E-24: the budget is looked at per call, so a batch cannot pass it.
    """
    loop = ToolLoop(
        ToolClient([note]), scripted(notes(*"abcde")), budget=Budget(calls=3)
    )
    result = run(front, loop)
    check(result.messages)

    assert (["a", "b", "c"], ["ok"] * 3 + ["budget"] * 2) == (
        RUNS,
        [status for _, status in outcomes(result)],
    )


def test_without_a_budget_nothing_stops(front):
    """
    BUD-04: only the number of turns does.
    """
    result = run(front, ToolLoop(ToolClient([note]), Endless(), max_turns=30))

    assert ("max_turns", None, 30) == (
        result.stop_reason,
        result.stopped_by,
        len(RUNS),
    )


def test_a_limit_of_one_tool_leaves_the_others_their_calls(front):
    """
    R129: three of the four run, the third call of the tool is answered in its place, and
    the run goes on.
    """
    turn = [*notes("a", "b", "c"), *notes("d", name="other")]
    loop = ToolLoop(
        ToolClient([note, other]),
        scripted(turn, "Well."),
        budget=Budget(per_tool={"note": 2}),
    )
    result = run(front, loop)
    check(result.messages)

    assert ("answer", ["a", "b", "d"]) == (result.stop_reason, RUNS)
    assert [("a", "ok"), ("b", "ok"), ("c", "budget"), ("d", "ok")] == outcomes(result)


def test_the_surplus_of_a_turn_is_answered_as_not_run(front):
    """
    R56: a loop that allows one call in a turn, and a model that sends three; it can send
    the others again.
    """
    loop = ToolLoop(
        ToolClient([note]),
        scripted(notes(*"abc"), notes("b2"), "Well."),
        budget=Budget(per_turn=1),
    )
    result = run(front, loop)
    check(result.messages)

    assert ["ok", "not_run", "not_run", "ok"] == [s for _, s in outcomes(result)]
    assert ("answer", ["a", "b2"]) == (result.stop_reason, RUNS)


def test_the_time_of_a_run_begins_with_it(front):
    """
    BUD-03: a model that thinks for long uses it up as well; no call is run after that,
    and the model is not asked again.
    """
    clock = FakeClock()

    class Slow(Endless):
        def respond(self, request):
            clock.advance(6)
            return super().respond(request)

    model = Slow()
    loop = ToolLoop(
        ToolClient([note], clock=clock), model, budget=Budget(seconds=10), max_turns=9
    )
    result = run(front, loop)

    assert ("budget", "seconds", 2, ["1"], ["ok", "budget"]) == (
        result.stop_reason,
        result.stopped_by,
        model.asked,
        RUNS,
        [r.status for r in result.results],
    )


def test_the_time_of_the_client_ends_a_run_too(front):
    """
    BUD-03: it began with the client's first call, and nobody is asked in vain.
    """
    clock, model = FakeClock(), Endless()
    client = ToolClient([note], clock=clock, budget=Budget(seconds=10))
    client.invoke("note", {"word": "x"})
    clock.advance(10)
    result = run(front, ToolLoop(client, model))

    assert ("budget", "seconds", 0, ["x"]) == (
        result.stop_reason,
        result.stopped_by,
        model.asked,
        RUNS,
    )


def test_a_run_without_time_asks_nobody(front):
    """
    BUD-03: zero works, and costs not one request.
    """
    model = Endless()
    result = run(front, ToolLoop(ToolClient([note]), model, budget=Budget(seconds=0)))

    assert ("budget", "seconds", 0, 0) == (
        result.stop_reason,
        result.stopped_by,
        model.asked,
        result.turns,
    )


def turning(number):
    """
    Make equal arguments with their keys in changing order.
    """
    pairs = [("word", "a"), ("again", [1, {"x": 1, "y": 2}])]
    inner = dict(reversed(pairs[1][1][1].items()))
    turned = [("again", [1, inner]), ("word", "a")]

    return dict(pairs if number % 2 else turned)


def test_equal_calls_in_a_row_end_the_run(front):
    """
    R128: after the third, whatever the order of the keys, also where they are refused,
    with a reason of its own and without another request.
    """
    model = Endless(turning)
    loop = ToolLoop(ToolClient([note]), model, budget=Budget(repeats=3), max_turns=50)
    result = run(front, loop)
    check(result.messages)

    assert ("repeats", "repeats", 3, ["invalid"] * 3) == (
        result.stop_reason,
        result.stopped_by,
        model.asked,
        [r.status for r in result.results],
    )


def test_calls_that_differ_are_no_row(front):
    """
    R128: the same call again after another one is progress, not a loop.
    """
    turns = [notes("a"), notes("b"), notes("a"), notes("b"), "Well."]
    loop = ToolLoop(ToolClient([note]), scripted(*turns), budget=Budget(repeats=2))

    assert "answer" == run(front, loop).stop_reason


def test_a_call_that_waits_is_counted_when_it_runs(front):
    """
    BUD-07: nothing while it waits, one in the end, and what was spent before is not
    forgotten by the JSON.
    """

    def client():
        return ToolClient([note, pay], filters=[Approval(lambda request: Suspend())])

    budget = Budget(calls=2)
    turn = [*notes("a"), *notes("p", name="pay")]
    first = run(front, ToolLoop(client(), scripted(turn), budget=budget))
    spent = first.suspension.loop["meter"]["calls"]
    loop = ToolLoop(client(), scripted(notes("b")), budget=budget)
    result = resume(front, loop, stored(first.suspension), {"p": Approved()})

    assert ("suspended", 1, "budget", ["a", "p"]) == (
        first.stop_reason,
        spent,
        result.stop_reason,
        RUNS,
    )
    assert ["ok", "ok", "budget"] == [r.status for r in result.results]


def test_what_ended_a_run_is_remembered_while_it_waits(front):
    """
    E-20: one call of the turn was over the budget, another waits; when that has run, the
    run ends, also where nothing but JSON is left of the refusal.
    """
    client = ToolClient([note, pay], filters=[Approval(lambda request: Suspend())])
    turn = [*notes("p", name="pay"), *notes("a", "b")]
    loop = ToolLoop(client, scripted(turn), budget=Budget(calls=1))
    first = run(front, loop)
    assert isinstance(first.suspension, Suspension)
    result = resume(front, loop, stored(first.suspension), {"p": Approved()})

    assert [("p", "pending"), ("a", "ok"), ("b", "budget")] == outcomes(first)
    assert ("budget", "calls", [("p", "budget"), ("a", "ok"), ("b", "budget")]) == (
        result.stop_reason,
        result.stopped_by,
        outcomes(result),
    )


def test_an_answer_without_calls_costs_nothing(front):
    """
    BUD-02: a turn that the host does not let through has no effect and no cost.
    """
    loop = ToolLoop(
        ToolClient([note]),
        scripted(Turn("I would.", notes("a"))),
        budget=Budget(calls=0),
        eligible=lambda turn: len(turn.text) > 100,
    )
    result = run(front, loop)

    assert ("answer", [], ["not_run"]) == (
        result.stop_reason,
        RUNS,
        [r.status for r in result.results],
    )


@pytest.mark.parametrize(
    ("budget", "text"),
    [
        (5, "ToolLoop(budget=...) takes a Budget, got 5."),
        (
            Budget(per_tool={"node": 1}),
            "ToolLoop(budget=...) limits 'node' in per_tool, and the client has no tool of "
            "that name.",
        ),
    ],
)
def test_a_budget_that_limits_nothing_is_refused(budget, text):
    """
    VAL-07: a limit that is misspelt shows when the loop is made.
    """
    with pytest.raises(DeclarationError) as caught:
        ToolLoop(ToolClient([note]), Endless(), budget=budget)

    assert text == str(caught.value)
