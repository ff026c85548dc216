"""
Conversations that a run has left open, or that somebody else has kept, are healed.
"""

from __future__ import annotations

import copy

import pytest

from loops import calls, check, run, scripted
from tooldecl import ToolClient, ToolLoop, tool


close = ToolLoop.close_transcript

USER = {"role": "user", "content": "Hi"}


def asked(*ids, content=""):
    """
    Make a turn that calls ``f`` under each of *ids*.
    """
    made = [{"id": i, "name": "f", "arguments": {}} for i in ids]

    return {"role": "assistant", "content": content, "tool_calls": made}


def answered(call_id, content="1", **more):
    """
    Make the answer to one call.
    """
    return {
        "role": "tool",
        "tool_call_id": call_id,
        "name": "f",
        "content": content,
        **more,
    }


def given_up(call_id):
    """
    Make the answer to a call of which nobody knows what became of it.
    """
    text = "The run ended before this call of 'f' had its answer. It may have taken effect."

    return answered(call_id, text, status="cancelled")


def never_run(call_id):
    """
    Make the answer to a call that waited for somebody.
    """
    text = "This call of 'f' was not run: it waited for somebody, and the run was given up."

    return answered(call_id, text, status="cancelled")


VALID = [
    [],
    [USER],
    [{"role": "system", "content": "Be brief."}, USER],
    [USER, asked("a"), answered("a"), {"role": "assistant", "content": "1"}],
    [USER, asked("a", "b"), answered("b"), answered("a"), USER],
    [USER, asked("a"), answered("a"), asked("a"), answered("a", "2")],
    [USER, {"role": "assistant", "content": "x", "tool_calls": []}],
    [USER, {**asked("a"), "extra": [1]}, answered("a", status="ok", mine={"k": 1})],
]


@pytest.mark.parametrize("messages", VALID, ids=range(len(VALID)))
def test_what_is_valid_stays_as_it_is(messages):
    """
    R58: also where answers came in another order, and with whatever else the host keeps.
    """
    before = copy.deepcopy(messages)
    healed = close(messages)

    assert (before, before) == (messages, healed)


BROKEN = {
    "a call without an answer at the end": (
        [USER, asked("a", "b"), answered("a")],
        [USER, asked("a", "b"), answered("a"), given_up("b")],
    ),
    "a call without an answer in the middle": (
        [USER, asked("a"), USER, asked("b"), answered("b")],
        [USER, asked("a"), given_up("a"), USER, asked("b"), answered("b")],
    ),
    "no answer at all": (
        [asked("a", "b")],
        [asked("a", "b"), given_up("a"), given_up("b")],
    ),
    "a stray answer": (
        [USER, answered("x"), asked("a"), answered("a"), answered("y")],
        [USER, asked("a"), answered("a")],
    ),
    "an answer without an id": (
        [USER, asked("a"), {"role": "tool", "content": "1"}],
        [USER, asked("a"), given_up("a")],
    ),
    "a second answer": (
        [USER, asked("a"), answered("a"), answered("a", "2")],
        [USER, asked("a"), answered("a")],
    ),
    "an answer that came late": (
        [USER, asked("a"), USER, answered("a", "late")],
        [USER, asked("a"), answered("a", "late"), USER],
    ),
    "an answer before its call": (
        [answered("a"), asked("a")],
        [asked("a"), given_up("a")],
    ),
    "the answer of a later call of the same id": (
        [asked("a"), asked("a"), answered("a", "2")],
        [asked("a"), given_up("a"), asked("a"), answered("a", "2")],
    ),
    "a call that waits": (
        [USER, asked("a", "b"), answered("a"), answered("b", "?", status="pending")],
        [USER, asked("a", "b"), answered("a"), never_run("b")],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_not_is_healed(name):
    """
    R54, R58, CAN-06: with one answer for each call, right after its turn, and nothing else
    of what was said lost; healed once, it is valid.
    """
    messages, expected = BROKEN[name]
    before = copy.deepcopy(messages)
    healed = close(messages)
    check(healed)

    assert (expected, healed, before) == (healed, close(healed), messages)


def test_two_calls_of_one_id_get_ids_of_their_own():
    """
    R57: which of them an answer is for is told by their order; no answer is for both.
    """
    healed = close([asked("a", "a", "a"), answered("a", "1"), answered("a", "2")])
    check(healed)
    ids = [call["id"] for call in healed[0]["tool_calls"]]

    assert ("a", 3, ids) == (
        ids[0],
        len(set(ids)),
        [message["tool_call_id"] for message in healed[1:]],
    )
    assert ["1", "2", given_up("a")["content"]] == [m["content"] for m in healed[1:]]


@pytest.mark.parametrize(
    "messages",
    [
        ["Hi"],
        [USER, {"role": "robot", "content": ""}],
        [{"role": "assistant", "content": "", "tool_calls": [{"name": "f"}]}],
    ],
)
def test_what_is_no_message_is_not_guessed_at(messages):
    """
    R57: it is refused, as it would be by a run.
    """
    with pytest.raises(ValueError, match=r"^Message \d"):
        close(messages)


def test_nothing_is_shared_with_what_was_given():
    """
    R148: a host that keeps both may change one.
    """
    messages = [USER, asked("a")]
    close(messages)[1]["tool_calls"][0]["arguments"]["x"] = 1

    assert asked("a") == messages[1]


def test_a_healed_conversation_can_be_run(front):
    """
    R58: what a run refuses as it is, it takes when it is healed; ids are still unique.
    """

    @tool
    def f() -> str:
        """Be called."""
        return "1"

    loop = ToolLoop(ToolClient([f]), scripted(calls(("a", "f")), "Done."))
    messages = [USER, asked("a", "b"), answered("a")]
    with pytest.raises(ValueError, match="have no answer"):
        run(front, loop, messages)
    result = run(front, loop, close(messages))
    check(result.messages)

    assert ("answer", "a") == (result.stop_reason, result.results[0].original_id)


def test_a_transcript_that_was_suspended_may_go_on_as_it_is(front):
    """
    R54: its placeholders are answers to whoever reads it, so nothing has to be healed
    before it is shown or sent.
    """

    @tool(external=True)
    def f() -> str:
        """Be called elsewhere."""

    loop = ToolLoop(ToolClient([f]), scripted(calls(("a", "f")), "I wait."))
    first = run(front, loop)
    result = run(front, loop, [*first.messages, {"role": "user", "content": "Well?"}])
    check(result.messages)

    assert "I wait." == result.text
