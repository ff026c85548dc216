"""
A transcript: read with care, never shared, and each call in it has its answer.
"""

from __future__ import annotations

import json

from types import MappingProxyType

import pytest

from tooldecl import Status, StopReason, ToolCall, ToolResult, Turn
from tooldecl._loop._conversation import Conversation, not_run
from tooldecl._loop._runs import ModelAtWork
from tooldecl.exceptions import ModelFailedError, NotRunError


ASKED = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"id": "a", "name": "f", "arguments": {}}],
}
ANSWERED = {"role": "tool", "tool_call_id": "a", "name": "f", "content": "1"}


def answer_to(call, content="1"):
    """
    Make the answer to one call.
    """
    return ToolResult(
        call_id=call.id, name=call.name, status=Status.OK, content=content
    )


def test_a_text_is_the_first_message_of_a_user():
    """
    Most runs begin with one sentence.
    """
    assert [{"role": "user", "content": "Hi"}] == Conversation("Hi").messages


def test_messages_are_copied_at_every_depth():
    """
    R148: a run must not write into the list that its caller keeps for the next one.
    """
    given = [{"role": "user", "content": "Hi"}, ASKED, ANSWERED]
    state = Conversation(given)
    state.add_turn(Turn(text="x"))
    state.messages[1]["tool_calls"][0]["name"] = "changed"

    assert (3, "f") == (len(given), ASKED["tool_calls"][0]["name"])


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([], "A conversation has at least one message."),
        (
            ["Hi"],
            "Message 0 is no mapping with a role of system, user, assistant, tool.",
        ),
        (
            {"role": "user", "content": "Hi"},
            "A conversation is a text or a list of messages, got dict.",
        ),
        (None, "A conversation is a text or a list of messages, got NoneType."),
        *(
            (
                [message],
                "Message 0 has a content that is no text and no list of parts.",
            )
            for message in (
                {"role": "user"},
                {"role": "system", "content": None},
                {"role": "user", "content": 5},
                {"role": "assistant", "content": object()},
                {**ANSWERED, "content": None},
            )
        ),
        (
            [{"role": "user", "content": "Hi"}, {"role": "robot"}],
            "Message 1 is no mapping with a role of system, user, assistant, tool.",
        ),
        ([ASKED], "The calls 'a' have no answer."),
        ([ASKED, {"role": "user", "content": "?"}], "The calls 'a' have no answer."),
        ([ANSWERED], "Message 0 answers a call that is not open."),
        ([ASKED, ANSWERED, ANSWERED], "Message 2 answers a call that is not open."),
        *(
            (
                [{"role": "assistant", "content": "", "tool_calls": calls}],
                "Message 0 has tool_calls that are no list of mappings with an id and a "
                "name.",
            )
            for calls in ("ab", {"id": "a"}, ["a"], [{}], [{"id": 1, "name": "f"}])
        ),
    ],
)
def test_a_malformed_conversation_is_refused(messages, text):
    """
    A strict provider would refuse it one request later, and say less about it.
    """
    with pytest.raises(ValueError) as caught:
        Conversation(messages)

    assert text == str(caught.value)


def test_answers_may_come_in_any_order_but_before_the_next_word():
    """
    A conversation from elsewhere may have been answered by position of completion.
    """
    calls = [{"id": i, "name": "f", "arguments": ""} for i in ("a", "b")]
    answers = [{**ANSWERED, "tool_call_id": i} for i in ("b", "a")]
    state = Conversation([{**ASKED, "tool_calls": calls}, *answers])

    assert 3 == len(state.messages)


def test_ids_are_unique_in_the_whole_transcript():
    """
    R57: a model that counts its calls from zero in every turn would have two answers
    under one id, and a provider reads the first.
    """
    state = Conversation([ASKED, ANSWERED])
    used = []
    for _ in range(3):
        calls = state.add_turn(Turn(calls=[ToolCall("f", {}, "a")]))
        used += [call.id for call in calls]
        state.add_results([answer_to(call) for call in calls])

    assert 4 == len({"a", *used})
    assert ["a", "a", "a"] == [result.original_id for result in state.results]
    assert ["a", *used] == [
        call["id"] for m in state.messages for call in m.get("tool_calls", ())
    ]


def test_an_id_that_could_be_used_has_no_original():
    """
    ``original_id`` tells of a replacement, so it is empty where there was none.
    """
    state = Conversation("Hi")
    [call] = state.add_turn(Turn(calls=[ToolCall("f", {}, "a")]))
    state.add_results([answer_to(call)])

    assert ("a", None) == (call.id, state.results[0].original_id)


def test_a_turn_without_calls_is_only_words():
    """
    An empty list of calls is refused by some providers.
    """
    state = Conversation("Hi")
    state.add_turn(Turn(text="Hello"))

    assert {"role": "assistant", "content": "Hello"} == state.messages[-1]


def nested(depth):
    """
    Make a dict of some depth.
    """
    made = {}
    for _ in range(depth - 1):
        made = {"a": made}

    return made


def circle():
    """
    Make a dict that contains itself.
    """
    made = {}
    made["self"] = made

    return made


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"a": [1]}, {"a": [1]}),
        ('{"a":', '{"a":'),
        ("", ""),
        (None, ""),
        (b'{"a": 1}', '{"a": 1}'),
        (b"\xff", "\ufffd"),
        (MappingProxyType({"a": MappingProxyType({})}), {"a": {}}),
        ({"a": float("nan")}, "(a dict that is no JSON)"),
        ({"a": {1}}, "(a dict that is no JSON)"),
        (circle(), "(a dict that is no JSON)"),
        ([1], [1]),
        (5, 5),
        (object(), "(a object that is no JSON)"),
        (nested(200), nested(200)),
        (nested(202), json.dumps(nested(202))),
        (nested(100_000), "(a dict that is no JSON)"),
    ],
    ids=range(16),
)
def test_whatever_a_model_sent_the_transcript_is_json(given, shown):
    """
    R68, R111: the gate refuses nonsense, and the conversation can still be sent.
    """
    state = Conversation("Hi")
    state.add_turn(Turn(calls=[ToolCall("f", given, "a")]))
    [call] = state.messages[-1]["tool_calls"]
    json.dumps(state.messages, allow_nan=False)

    assert shown == call["arguments"]


def test_the_transcript_does_not_share_the_models_arguments():
    """
    A body gets them too; what it changes must not rewrite what the model said.
    """
    given = {"a": [1]}
    state = Conversation("Hi")
    state.add_turn(Turn(calls=[ToolCall("f", given, "a")]))
    given["a"].append(2)

    assert {"a": [1]} == state.messages[-1]["tool_calls"][0]["arguments"]


def test_a_name_that_is_no_text_is_shown_by_its_type():
    """
    What stands in a transcript has to be sendable, whatever a model took for a name.
    """
    state = Conversation("Hi")
    [call] = state.add_turn(Turn(calls=[ToolCall(None, {}, "a")]))

    assert ("<NoneType>", "<NoneType>") == (
        call.name,
        state.messages[-1]["tool_calls"][0]["name"],
    )


def test_batches_of_a_run_have_places_one_after_the_other():
    """
    Idempotency keys differ between equal calls of one run, and are equal in no other.
    """
    state = Conversation("Hi")
    first, second = state.place(3), state.place(1)

    assert (0, 3, True, False) == (
        first.position,
        second.position,
        first.run_id == second.run_id,
        first.run_id == Conversation("Hi").place(1).run_id,
    )


def test_calls_that_are_not_run_are_answered_with_the_reason():
    """
    R56: every call id gets an answer, the one that nobody ran too.
    """
    [result] = not_run([ToolCall("f", {}, "a")], "the turn was cut off")

    assert ("a", "not_run", "not_started", 0, NotRunError) == (
        result.call_id,
        result.status,
        result.fate,
        result.attempts,
        type(result.error),
    )
    assert "Tool 'f' was not run: the turn was cut off." == result.content


def test_what_a_model_raises_comes_with_the_conversation_so_far():
    """
    R30: whoever retries goes on from there, and nothing that has run is run again.
    """
    state = Conversation("Hi")
    with pytest.raises(ModelFailedError) as caught, ModelAtWork(state):
        raise ConnectionError("no route")

    assert ("The model failed: no route", ConnectionError, state.messages) == (
        str(caught.value),
        type(caught.value.__cause__),
        caught.value.messages,
    )
    caught.value.messages.clear()
    assert 1 == len(state.messages)


def test_a_model_error_without_words_is_named_by_its_type():
    """
    "The model failed: " would be a sentence without an end.
    """
    with pytest.raises(ModelFailedError) as caught, ModelAtWork(Conversation("Hi")):
        raise KeyError

    assert "The model failed: KeyError" == str(caught.value)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError, SystemExit])
def test_what_means_stop_is_not_the_models_failure(kind):
    """
    A program that is being ended must not go on with a retry.
    """
    with pytest.raises(kind), ModelAtWork(Conversation("Hi")):
        raise kind


def test_a_result_has_the_whole_run():
    """
    What a host gets is the transcript, all results and why it ended.
    """
    state = Conversation("Hi")
    state.add_turn(Turn(text="Hello"))
    result = state.result(StopReason.ANSWER, "Hello")

    assert ("answer", "Hello", 2, (), 1) == (
        result.stop_reason,
        result.text,
        len(result.messages),
        result.results,
        result.turns,
    )
