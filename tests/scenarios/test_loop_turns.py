"""
What a turn of a loop is: who lets it run, how it is counted, and what it leaves behind.
"""

from __future__ import annotations

import asyncio
import json

import pytest

from loops import calls, check, outcomes, resume, run, scripted, stored
from scenarios.noting_tools import RUNS, note
from tooldecl import Budget, ToolClient, ToolContext, ToolLoop, Turn, tool
from tooldecl.engines import AsyncioEngine, ThreadEngine
from tooldecl.exceptions import DeclarationError
from tooldecl.filters import Approval, Approved, Suspend
from tooldecl.telemetry import ModelAsked
from tooldecl.testing import RecordingHook, ScriptedModel


@tool(return_direct=True)
def direct(word: str) -> str:
    """Answer directly."""
    RUNS.append(word)

    return word


def one(call_id, name="note"):
    """
    Make a turn with one call.
    """
    return calls((call_id, name, {"word": call_id}))


@pytest.mark.parametrize(("left", "ran"), [(0, []), (1, ["a"])])
def test_who_lets_a_turn_run_may_look_at_anything(front, left, ran):
    """
    LOOP-04, LOOP-05: what the host has of it, a budget of tokens say; with something left,
    and without a predicate at all, which are the controls, the turn runs.
    """
    tokens = {"left": left}
    model = scripted(Turn("I would.", one("a")), "Done.")
    loop = ToolLoop(
        ToolClient([note]), model, eligible=lambda turn: bool(tokens["left"])
    )
    run(front, loop)
    seen, RUNS[:] = list(RUNS), []
    run(front, ToolLoop(ToolClient([note]), scripted(one("a"), "Done.")))

    assert (ran, 2 if left else 1, ["a"]) == (seen, len(model.requests), RUNS)


def test_turns_are_counted_by_requests(front):
    """
    LOOP-06: three rounds of calls and an answer are four turns, numbered from 1.
    """
    hook = RecordingHook()
    loop = ToolLoop(
        ToolClient([note], hooks=[hook]),
        scripted(one("a"), one("b"), one("c"), "Done."),
        max_turns=4,
    )
    result = run(front, loop)

    assert ("answer", 4, [1, 2, 3, 4]) == (
        result.stop_reason,
        result.turns,
        [event.turn for event in hook.of(ModelAsked)],
    )


@pytest.mark.parametrize("cut", [True, False])
def test_an_answer_that_was_cut_off_says_so(front, cut):
    """
    Half an answer looks like a whole one; its message is what the model said.
    """
    turns = [Turn("So", calls=one("a"), truncated=True)]
    turns.append(Turn("The sum is 1", truncated=cut))
    result = run(front, ToolLoop(ToolClient([note]), ScriptedModel(turns)))

    assert (cut, "answer") == (result.truncated, result.stop_reason)
    assert {"role": "assistant", "content": "The sum is 1"} == result.messages[-1]
    assert [] == RUNS


def test_a_direct_answer_leaves_a_whole_transcript(front):
    """
    RD-02, RD-05: the call and its result are in it and in the records, so the next run
    goes on from there; nothing of the library's own stands in the messages.
    """
    loop = ToolLoop(ToolClient([direct]), scripted(one("a", "direct"), "Later."))
    first = run(front, loop)
    check(first.messages)
    second = run(front, loop, [*first.messages, {"role": "user", "content": "And?"}])
    check(second.messages)

    assert ("return_direct", "a", [("a", "ok")]) == (
        first.stop_reason,
        first.text,
        outcomes(first),
    )
    assert [
        {"role", "content"},
        {"role", "content", "tool_calls"},
        {"role", "tool_call_id", "name", "content", "status"},
    ] == [set(message) for message in first.messages]
    assert "Later." == second.text


@pytest.mark.parametrize("make", [ThreadEngine, AsyncioEngine])
def test_results_of_a_turn_are_in_its_order(front, gate, make):
    """
    R53: whichever ends first; here the last one does, and lets the others go.
    """

    @tool
    def held(word: str) -> str:
        """Wait at the gate."""
        gate.pass_through()
        return word

    @tool
    def opening(word: str) -> str:
        """Open the gate, once both wait at it."""
        gate.wait_for_arrivals(2)
        gate.open()
        return word

    turn = calls(
        ("a", "held", {"word": "x"}),
        ("b", "held", {"word": "y"}),
        ("c", "opening", {"word": "z"}),
    )
    client = ToolClient([held, opening], engine=make())
    result = run(front, ToolLoop(client, scripted(turn, "Done.")))
    check(result.messages)

    assert ["a", "b", "c"] == [r.call_id for r in result.results]
    assert ["x", "y", "z"] == [m["content"] for m in result.messages[2:5]]


def test_every_kind_of_outcome_has_its_answer(front):
    """
    R54: success, failure, refusal, timeout, unknown tool and bad arguments, and the model
    is asked again with all of them.
    """

    @tool
    def boom() -> None:
        """Fail."""
        raise ValueError

    @tool(timeout=0.05)
    async def slow(ctx: ToolContext) -> None:
        """Take too long."""
        await asyncio.get_running_loop().create_future()

    def refusing(request):
        if request.name == "note":
            raise PermissionError
        result = yield request
        return result

    turn = calls(
        ("ok", "direct", {"word": "x"}),
        ("failed", "boom"),
        ("blocked", "note", {"word": "x"}),
        ("late", "slow"),
        ("unknown", "nothing"),
        ("bad", "direct", {"word": 5}),
    )
    client = ToolClient([note, direct, boom, slow], filters=[refusing])
    model = scripted(turn, "Done.")
    result = run(front, ToolLoop(client, model))
    check(model.requests[1].messages)

    assert [
        ("ok", "ok"),
        ("failed", "tool_error"),
        ("blocked", "guard_failed"),
        ("late", "timeout"),
        ("unknown", "unknown_tool"),
        ("bad", "invalid"),
    ] == outcomes(result)


def test_a_callback_may_interrupt_a_run(front):
    """
    OBS-02: an approver that decides later is the way to do it; the run is suspended, and
    goes on.
    """

    @tool(sensitive=True)
    def pay() -> str:
        """Pay."""
        return "paid"

    client = ToolClient([pay], filters=[Approval(lambda request: Suspend())])
    loop = ToolLoop(client, scripted(calls(("p", "pay")), "Done."))
    first = run(front, loop)

    assert "suspended" == first.stop_reason
    assert "Done." == resume(front, loop, first.suspension, {"p": Approved()}).text


def test_what_has_run_may_be_no_tool_any_more(front):
    """
    EXT-07: a client of a later version goes on with a turn in which a tool ran that it
    does not have.
    """

    @tool(sensitive=True, return_direct=True)
    def sign() -> str:
        """Sign."""
        return "signed"

    later = Approval(lambda request: Suspend())
    turn = [*one("a", "direct"), *calls(("s", "sign"))]
    old = ToolLoop(ToolClient([direct, sign], filters=[later]), scripted(turn))
    new = ToolLoop(ToolClient([sign], filters=[later]), scripted("Done."))
    first = run(front, old)
    result = resume(front, new, stored(first.suspension), {"s": Approved()})

    assert ("answer", ["a", "signed"]) == (
        result.stop_reason,
        [r.content for r in result.results],
    )


def test_a_loop_with_smaller_limits_goes_on_with_those(front):
    """
    LOOP-08: the limits are those of the loop that resumes, what was spent that of the run;
    the turn is completed first.
    """

    @tool(sensitive=True)
    def pay() -> str:
        """Pay."""
        RUNS.append("pay")
        return "paid"

    client = ToolClient([note, pay], filters=[Approval(lambda request: Suspend())])
    turn = [*one("a"), *calls(("p", "pay"))]
    loops = [
        ToolLoop(client, scripted(turn, "Never said."), budget=Budget(calls=9)),
        ToolLoop(client, scripted("Never said."), budget=Budget(calls=1)),
        ToolLoop(client, scripted("Never said."), max_turns=1),
    ]
    first = run(front, loops[0])
    by_budget = resume(front, loops[1], stored(first.suspension), {"p": Approved()})
    again = run(front, ToolLoop(client, scripted(turn)))
    by_turns = resume(front, loops[2], stored(again.suspension), {"p": Approved()})

    assert ("budget", ["ok", "budget"]) == (
        by_budget.stop_reason,
        [r.status for r in by_budget.results],
    )
    assert ("max_turns", ["ok", "ok"]) == (
        by_turns.stop_reason,
        [r.status for r in by_turns.results],
    )


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"stop": True}, "stop takes something with is_set(), got True."),
        ({"on_end": 5}, "on_end takes a callable that waits for nothing, got 5."),
    ],
)
def test_what_cannot_be_asked_or_told_is_refused(front, options, text):
    """
    VAL-07: before the model is asked, or the run would be lost at its end.
    """
    model = scripted("Done.")
    with pytest.raises(TypeError) as caught:
        run(front, ToolLoop(ToolClient([note]), model), **options)

    assert (text, []) == (str(caught.value), model.requests)


def test_what_waits_is_neither_asked_nor_told(front):
    """
    E-01: a coroutine is true, and nobody would await it.
    """

    async def later(given):
        return False

    with pytest.raises(DeclarationError, match="takes a predicate that waits for"):
        ToolLoop(ToolClient([note]), scripted(), eligible=later)
    with pytest.raises(TypeError, match="takes a callable that waits for nothing"):
        run(front, ToolLoop(ToolClient([note]), scripted("Done.")), on_end=later)


def test_a_suspension_is_plain_data(front):
    """
    APR-10: whatever a model has sent and a tool has made of it, the text is strict JSON.
    """

    @tool
    def odd() -> object:
        """Return something odd."""
        return {"nested": (1, 2.5, None, {"x"})}

    @tool(external=True)
    def far() -> str:
        """Be called elsewhere."""

    turns = [
        calls(("a", "odd"), ("b", "nothing", {"x": float("nan")}), ("c", "odd", b"{")),
        calls(("a", "far"), ("d", "odd", "\ud800")),
    ]
    loop = ToolLoop(ToolClient([odd, far]), scripted(*turns, "Done."))
    first = run(front, loop)
    text = first.suspension.to_json()
    [waiting] = first.suspension.calls
    result = resume(front, loop, stored(first.suspension), {waiting.call_id: "x"})
    check(result.messages)

    assert json.loads(text)["loop"]["turns"] == 2
    assert ("answer", "a") == (result.stop_reason, result.results[3].original_id)
    assert [r.content for r in first.results[:3]] == [
        r.content for r in result.results[:3]
    ]
