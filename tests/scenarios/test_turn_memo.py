"""
What a model wants to see again with its turn: kept by the loop, whatever it is.
"""

from __future__ import annotations

import copy
import functools
import json
import pickle

import pytest

from loops import resume, run
from tooldecl import Suspension, ToolCall, ToolClient, ToolLoop, Turn, tool
from tooldecl.filters import Approval, Approved, Suspend
from tooldecl.testing import ScriptedModel


MEMO = {"maker": [{"type": "thinking", "signature": "x=="}, None, 1.5]}


@tool(sensitive=True)
def note(word: str) -> str:
    """Note a word."""
    return word


def noting(**turn):
    """
    Make a turn with one call, and what else is said of it.
    """
    return Turn(calls=[ToolCall("note", {"word": "a"}, "a")], **turn)


def loop_of(decision, *turns):
    """
    Make a loop whose model has a script, and whose approver always says one thing.
    """
    client = ToolClient([note], filters=[Approval(lambda request: decision)])

    return ToolLoop(client, ScriptedModel(turns))


def test_a_memo_stands_in_the_message_of_its_turn(front):
    """
    A conversation that is kept and run again needs it as much as the next request.
    """
    loop = loop_of(Approved(), noting(memo=MEMO), Turn("Done."))
    result = run(front, loop)

    assert MEMO == result.messages[1]["memo"]
    assert "memo" not in result.messages[-1]


def test_a_model_reads_its_memo_and_cannot_change_it(front):
    """
    The model gets a copy of its own, as it does of all that was said.
    """
    seen = []

    class Thinking:
        def respond(self, request):
            seen.append(copy.deepcopy(request.messages))
            if len(seen) > 1:
                request.messages[1]["memo"].clear()
            return noting(memo=MEMO) if len(seen) < 3 else Turn("Done.")

        async def arespond(self, request):
            return self.respond(request)

    client = ToolClient([note], filters=[Approval(lambda request: Approved())])
    result = run(front, ToolLoop(client, Thinking()))

    assert [MEMO, MEMO] == [seen[1][1]["memo"], seen[2][1]["memo"]]
    assert MEMO == result.messages[1]["memo"]


def test_a_memo_survives_a_suspension_as_text(front):
    """
    Who resumes in another process has nothing but the text.
    """
    waiting = run(front, loop_of(Suspend(), noting(memo=MEMO)))
    text = waiting.suspension.to_json()
    other = loop_of(Suspend(), Turn("Done."))
    result = resume(front, other, Suspension.from_json(text), {"a": Approved()})

    assert MEMO == result.messages[1]["memo"]
    assert "Done." == result.text


def test_what_is_given_is_copied():
    """
    A model that goes on writing into it would rewrite what was said.
    """
    given = {"a": [1]}
    turn = Turn(memo=given)
    given["a"].append(2)

    assert {"a": [1]} == turn.memo
    assert turn == pickle.loads(pickle.dumps(turn))


def test_half_a_character_does_not_keep_a_run_from_being_sent():
    """
    A conversation is sent as UTF-8, which has no halves.
    """
    json.dumps(Turn(memo={"a": "\ud800"}).memo, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("memo", "text"),
    [
        ([1], "Turn(memo=...) takes a mapping, got list."),
        ("x", "Turn(memo=...) takes a mapping, got str."),
        (
            functools.reduce(lambda inner, _: {"a": inner}, range(400), {}),
            "Turn(memo=...) takes data of at most ",
        ),
        ({"a": {1}}, "Turn(memo=...) takes plain JSON data: "),
        ({"a": float("nan")}, "Turn(memo=...) takes plain JSON data: "),
    ],
    ids=["list", "text", "deep", "set", "nan"],
)
def test_what_is_no_plain_data_is_refused(memo, text):
    """
    It would break the suspension, much later and far away.
    """
    with pytest.raises(TypeError) as caught:
        Turn(memo=memo)

    assert str(caught.value).startswith(text)
