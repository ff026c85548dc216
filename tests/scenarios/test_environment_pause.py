"""
A loop that pauses for what it cannot mend itself: permissions, modules, a full disk.
"""

from __future__ import annotations

import asyncio

import pytest

from loops import calls, check, outcomes, resume, run, scripted, stored
from tooldecl import (
    Budget,
    NotFound,
    ToolClient,
    ToolContext,
    ToolError,
    ToolLoop,
    tool,
)
from tooldecl.exceptions import DeclarationError, ResumeError
from tooldecl.filters import Again, Answer, Approval, Approved, Proceed, Suspend


RUNS = []
BROKEN = set()
KEYS = []


@pytest.fixture(autouse=True)
def _a_broken_world():
    RUNS.clear()
    KEYS.clear()
    BROKEN.clear()
    BROKEN.update({"disk", "net"})


@tool
def look(word: str) -> str:
    """Look."""
    RUNS.append(f"look {word}")

    return word


@tool
def write(where: str, ctx: ToolContext) -> str:
    """Write something down."""
    RUNS.append(f"write {where}")
    KEYS.append(ctx.idempotency_key)
    if where in BROKEN:
        raise PermissionError(where)
    ctx.write("written", [*ctx.state.get("written", ()), where])

    return f"wrote to {where}"


@tool(sensitive=True)
def pay(where: str) -> str:
    """Pay."""
    RUNS.append(f"pay {where}")
    if where in BROKEN:
        raise PermissionError(where)

    return "paid"


TURN = calls(
    ("a", "look", {"word": "x"}),
    ("b", "write", {"where": "disk"}),
    ("c", "write", {"where": "net"}),
)


def pausing(*turns, **options):
    """
    Make a loop that pauses, around a script.
    """
    later = Approval(lambda request: Suspend())
    client = ToolClient([look, write, pay], filters=[later])

    return ToolLoop(client, scripted(*turns), on_environment_error="pause", **options)


def test_a_turn_that_its_environment_failed_pauses_the_run(front):
    """
    ENV-01: after the whole turn; the sibling keeps its result, what failed is named with
    its arguments, and a strict provider takes the messages.
    """
    result = run(front, pausing(TURN, "Never said."))
    check(result.messages)

    assert ("suspended", [("a", "ok"), ("b", "tool_error"), ("c", "tool_error")]) == (
        result.stop_reason,
        outcomes(result),
    )
    assert [
        ("b", "write", "environment", {"where": "disk"}),
        ("c", "write", "environment", {"where": "net"}),
    ] == [(c.call_id, c.name, c.kind, c.arguments) for c in result.suspension.calls]
    assert "Tool 'write' failed: PermissionError." == result.messages[-1]["content"]


@pytest.mark.parametrize("keep", [lambda s: s, stored], ids=["here", "stored"])
def test_what_is_mended_runs_again_in_its_place(front, keep):
    """
    ENV-02, E-25: the result is replaced by its id, there is one of it in the history, what
    it wrote counts, and its key is that of the same call.
    """
    loop = pausing(TURN, "Done.")
    first = run(front, loop)
    BROKEN.clear()
    result = resume(front, loop, keep(first.suspension), {"b": Again(), "c": Again()})
    check(result.messages)

    assert ("answer", ["x", "wrote to disk", "wrote to net"], 6, 2) == (
        result.stop_reason,
        [r.content for r in result.results],
        len(result.messages),
        result.turns,
    )
    assert ["look x", *["write disk", "write net"] * 2] == RUNS
    assert [KEYS[0], KEYS[1]] == KEYS[2:]
    assert ["net"] == list(loop._client.state["written"])


def test_what_is_not_mended_is_told_to_the_model(front):
    """
    ENV-03: nothing runs again, and the run goes on with the failure as it is.
    """
    loop = pausing(TURN, "Sorry.")
    first = run(front, loop)
    result = resume(
        front, loop, stored(first.suspension), {"b": Proceed(), "c": Proceed()}
    )
    check(result.messages)

    assert ("answer", ["ok", "tool_error", "tool_error"]) == (
        result.stop_reason,
        [r.status for r in result.results],
    )
    assert ["look x", "write disk", "write net"] == RUNS
    assert (
        "Tool 'write' failed: PermissionError."
        == (loop._model.requests[-1].messages[-1]["content"])
    )


def test_without_the_option_nothing_pauses(front):
    """
    ENV-04: it is the control of the tests above.
    """
    loop = ToolLoop(ToolClient([look, write]), scripted(TURN, "Sorry."))

    assert "answer" == run(front, loop).stop_reason


@pytest.mark.parametrize("kind", [ValueError, ConnectionError, NotFound])
def test_other_failures_pause_nothing(front, kind):
    """
    ENV-01: a mistake is the model's to mend, and what passes by itself can be tried again.
    """

    @tool
    def failing() -> None:
        """Fail."""
        raise kind

    loop = ToolLoop(
        ToolClient([failing]),
        scripted(calls(("a", "failing")), "Sorry."),
        on_environment_error="pause",
    )

    assert "answer" == run(front, loop).stop_reason


def test_the_author_may_say_that_it_is_the_environment(front):
    """
    ENV-01: in his own words, where no exception of Python's says so.
    """

    @tool
    def failing() -> None:
        """Fail."""
        raise ToolError("The printer is out of paper.", error_class="environment")

    loop = ToolLoop(
        ToolClient([failing]),
        scripted(calls(("a", "failing"))),
        on_environment_error="pause",
    )

    assert "suspended" == run(front, loop).stop_reason


def test_what_fails_again_pauses_again(front):
    """
    ENV-02: as often as the host tries; what he gave up on does not come back.
    """
    loop = pausing(TURN, "Done.")
    first = run(front, loop)
    second = resume(
        front, loop, stored(first.suspension), {"b": Again(), "c": Proceed()}
    )
    third = resume(front, loop, stored(second.suspension), {"b": Again()})
    BROKEN.clear()
    result = resume(front, loop, stored(third.suspension), {"b": Again()})

    assert [["b"], ["b"]] == [
        [c.call_id for c in r.suspension.calls] for r in (second, third)
    ]
    assert ("answer", ["ok", "ok", "tool_error"]) == (
        result.stop_reason,
        [r.status for r in result.results],
    )
    assert (4, 1) == (RUNS.count("write disk"), RUNS.count("write net"))


def test_what_nobody_decided_about_waits_on(front):
    """
    E-16: one of two is mended; the other one is still there.
    """
    loop = pausing(TURN, "Done.")
    first = run(front, loop)
    BROKEN.discard("disk")
    second = resume(front, loop, stored(first.suspension), {"b": Again()})
    third = resume(front, loop, stored(second.suspension), {"c": Proceed()})

    assert ("suspended", ["c"], "answer") == (
        second.stop_reason,
        [c.call_id for c in second.suspension.calls],
        third.stop_reason,
    )
    assert ["ok", "ok", "tool_error"] == [r.status for r in third.results]


@pytest.mark.parametrize("decision", [Answer("done"), Approved(), "done", None])
def test_nothing_else_is_a_decision_here(front, decision):
    """
    APR-09: the call has run; nobody is asked whether it may, nor what came of it.
    """
    loop = pausing(TURN, "Done.")
    first = run(front, loop)
    with pytest.raises(ResumeError) as caught:
        resume(front, loop, first.suspension, {"b": decision})

    kind = type(decision).__name__
    assert {"b": f"its environment has failed it: Again or Proceed, got {kind}"} == (
        caught.value.problems
    )


def test_a_pause_is_resumed_once(front):
    """
    APR-17: a body that runs again runs again once.
    """
    loop = pausing(TURN, "Done.")
    first = run(front, loop)
    BROKEN.clear()
    resume(front, loop, first.suspension, {"b": Again(), "c": Again()})
    with pytest.raises(ResumeError):
        resume(front, loop, stored(first.suspension), {"b": Again()})

    assert 2 == RUNS.count("write disk")


def test_a_call_is_charged_once(front):
    """
    E-36: a body that runs again for its environment's sake costs no second call.
    """
    loop = pausing(TURN, calls(("d", "look", {"word": "y"})), budget=Budget(calls=3))
    first = run(front, loop)
    BROKEN.clear()
    result = resume(front, loop, stored(first.suspension), {"b": Again(), "c": Again()})

    assert ("budget", ["ok", "ok", "ok", "budget"]) == (
        result.stop_reason,
        [r.status for r in result.results],
    )


def test_a_decision_comes_before_a_pause(front):
    """
    E-16: a turn with a call that waits and one that failed waits for both, one after the
    other; what was approved and fails is paused for too.
    """
    turn = calls(("p", "pay", {"where": "net"}), ("b", "write", {"where": "disk"}))
    loop = pausing(turn, "Done.")
    first = run(front, loop)
    second = resume(front, loop, stored(first.suspension), {"p": Approved()})
    BROKEN.clear()
    third = resume(front, loop, stored(second.suspension), {"p": Again(), "b": Again()})
    result = resume(front, loop, stored(third.suspension), {"p": Approved()})
    check(result.messages)

    assert [[("p", "approval")], [("p", "environment"), ("b", "environment")]] == [
        [(c.call_id, c.kind) for c in r.suspension.calls] for r in (first, second)
    ]
    # What was decided, was decided about one run of the body.
    assert [("p", "approval")] == [(c.call_id, c.kind) for c in third.suspension.calls]
    assert ("answer", ["paid", "wrote to disk"]) == (
        result.stop_reason,
        [r.content for r in result.results],
    )


def test_a_client_resumes_its_part_of_a_pause(front):
    """
    E-16: whoever has no loop any more gets the batch, by the same rules.
    """
    loop = pausing(TURN)
    first = run(front, loop)
    BROKEN.clear()
    client, decisions = loop._client, {"b": Again(), "c": Proceed()}
    if front == "sync":
        batch = client.resume(first.suspension, decisions)
    else:
        batch = asyncio.run(client.aresume(first.suspension, decisions))

    assert (["ok", "ok", "tool_error"], None) == (
        [r.status for r in batch],
        batch.suspension,
    )


@pytest.mark.parametrize("given", ["stop", None, True])
def test_a_way_to_go_on_that_is_none_is_refused(given):
    """
    VAL-07: when the loop is made.
    """
    with pytest.raises(DeclarationError) as caught:
        ToolLoop(ToolClient([]), scripted(), on_environment_error=given)

    assert (
        "ToolLoop(on_environment_error=...) takes 'proceed' or 'pause', got "
        f"{given!r}." == str(caught.value)
    )
