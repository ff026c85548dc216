"""
What providers send besides what they promise: read as far as it goes.
"""

from __future__ import annotations

import pytest

from tooldecl import ModelRequest, ToolCall
from tooldecl.models._chat import ChatPieces, ChatWire
from tooldecl.models._generate import GenerateWire
from tooldecl.models._messages import MessagesWire
from tooldecl.models._responses import ResponsePieces, ResponsesWire
from tooldecl.models._wire import Asked


GIVEN = {"provider_tools": (), "options": None}
CHAT = ChatWire("m", strict=False, **GIVEN)
RESPONSES = ResponsesWire("m", strict=False, **GIVEN)
MESSAGES = MessagesWire("m", max_tokens=1, **GIVEN)
GENERATE = GenerateWire("m", **GIVEN)
ASKED = Asked({"messages": []})


def streamed(*deltas, reason="stop"):
    """
    Put a streamed chat completion together and read it.
    """
    pieces = ChatPieces()
    for delta in deltas:
        pieces.add({"choices": [{"index": 0, "delta": delta}]})
    pieces.add({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})

    return CHAT.read(ASKED, pieces.answer())


def piece(**call):
    """
    Make a delta with one piece of one call.
    """
    function = {k: call.pop(k) for k in ("name", "arguments") if k in call}

    return {"tool_calls": [{**call, "function": function}]}


@pytest.mark.parametrize(
    ("deltas", "expected"),
    [
        (
            # The index is what tells calls apart, also where they are mixed.
            [
                piece(index=1, id="b", name="y", arguments=""),
                piece(index=0, id="a", name="x", arguments="{"),
                piece(index=1, arguments="[1"),
                piece(index=0, arguments="}"),
                piece(index=1, arguments="]"),
            ],
            [ToolCall("y", "[1]", "b"), ToolCall("x", "{}", "a")],
        ),
        (
            # Name and id in every piece.
            [
                piece(index=0, id="a", name="x", arguments="{"),
                piece(index=0, id="a", name="x", arguments="}"),
            ],
            [ToolCall("x", "{}", "a")],
        ),
        (
            # No index: whole calls, with ids and without.
            [
                piece(id="a", name="x", arguments="{}"),
                piece(id="b", name="x", arguments="{}"),
            ],
            [ToolCall("x", "{}", "a"), ToolCall("x", "{}", "b")],
        ),
        (
            [piece(name="x", arguments="{"), piece(arguments="}"), piece(name="y")],
            [ToolCall("x", "{}"), ToolCall("y")],
        ),
        (
            # Arguments as an object.
            [piece(index=0, id="a", name="x", arguments={"a": 1})],
            [ToolCall("x", {"a": 1}, "a")],
        ),
        ([{"tool_calls": None}, {"content": None}], []),
        ([piece(index=0)], [ToolCall("")]),
    ],
    ids=str,
)
def test_calls_come_in_pieces_of_any_kind(deltas, expected):
    """
    Whoever speaks as OpenAI does has an accent.
    """
    assert expected == list(streamed(*deltas).calls)


def test_reasoning_is_kept_beside_calls_alone():
    """
    Who wants it back wants it with the calls, and refuses it elsewhere.
    """
    said = {"reasoning_content": "Hm"}, {"reasoning_content": "."}
    turn = streamed(*said, piece(index=0, id="a", name="x", arguments="{}"))

    assert {"openai-chat": [{"reasoning_content": "Hm."}, {}]} == turn.memo
    assert streamed(*said).memo is None
    message = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "a", "name": "x", "arguments": "{}"}],
        "memo": turn.memo,
    }
    body = CHAT.body(ModelRequest(messages=[message], tools=[]))
    assert "Hm." == body["messages"][0]["reasoning_content"]


@pytest.mark.parametrize("memo", [None, 1, {}, {"openai-chat": 1}, {"gemini": [1]}])
def test_the_memo_of_somebody_else_is_left_alone(memo):
    """
    A conversation may go on with another model than it began with.
    """
    message = {"role": "assistant", "content": "So.", "memo": memo}
    request = ModelRequest(messages=[message], tools=[])

    assert [{"role": "assistant", "content": "So."}] == CHAT.body(request)["messages"]
    assert [{"role": "assistant", "content": "So."}] == RESPONSES.body(request)["input"]
    assert [
        {"role": "assistant", "content": [{"type": "text", "text": "So."}]}
    ] == MESSAGES.body(request)["messages"]
    if memo != {"gemini": [1]}:
        assert [{"role": "model", "parts": [{"text": "So."}]}] == (
            GENERATE.body(request)["contents"]
        )


def test_a_memo_with_other_calls_is_not_used():
    """
    Calls that a host took out of a turn must not come back.
    """
    message = {
        "role": "assistant",
        "content": "",
        "tool_calls": [],
        "memo": {
            "anthropic": [{"type": "thinking"}, {"type": "tool_use"}],
            "openai-responses": [{"type": "reasoning"}, {"type": "function_call"}],
            "gemini": [{"functionCall": {}}],
            "openai-chat": [{}, {"x": 1}],
        },
    }
    request = ModelRequest(messages=[message], tools=[])

    assert (
        [] == MESSAGES.body(request)["messages"] == GENERATE.body(request)["contents"]
    )
    assert [{"role": "assistant", "content": ""}] == RESPONSES.body(request)["input"]
    assert [{"role": "assistant", "content": ""}] == CHAT.body(request)["messages"]


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"choices": []},
        {"choices": None},
    ],
)
def test_a_response_without_a_choice_is_an_error(answer):
    """
    It is no answer of nothing.
    """
    with pytest.raises(RuntimeError) as caught:
        CHAT.read(ASKED, answer)

    assert "The provider sent a response without a choice." == str(caught.value)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("So.", "So."),
        ([{"type": "text", "text": "So"}, "."], "So."),
        ([{"type": "image"}, 1], ""),
    ],
    ids=str,
)
def test_a_text_may_come_in_parts(content, text):
    """
    Some send their answer as a list.
    """
    answer = {"choices": [{"message": {"content": content}}]}

    assert text == CHAT.read(ASKED, answer).text


def test_items_of_a_response_are_taken_where_its_end_has_none():
    """
    Some end a stream without saying all of it again.
    """
    pieces = ResponsePieces()
    item = {"type": "function_call", "name": "x", "arguments": "{}", "call_id": "c"}
    for index in (1, 0):
        done = {**item, "call_id": f"c{index}"}
        event = {"type": "response.output_item.done", "output_index": index}
        pieces.add({**event, "item": done})
    pieces.add({"type": "response.completed", "response": {"status": "completed"}})
    turn = RESPONSES.read(ASKED, pieces.answer())

    assert ["c0", "c1"] == [call.id for call in turn.calls]


def test_a_response_that_is_not_done_is_no_turn():
    """
    One that runs in the background has said nothing yet.
    """
    with pytest.raises(RuntimeError) as caught:
        RESPONSES.read(ASKED, {"status": "queued"})

    assert "The provider gave no whole response: It is queued." == str(caught.value)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (
            {"promptFeedback": {"blockReason": "SAFETY"}},
            "(The provider ended this turn: SAFETY.)",
        ),
        ({}, "(The provider ended this turn: no candidates.)"),
        ({"candidates": [{"finishReason": "STOP"}]}, ""),
    ],
    ids=str,
)
def test_gemini_may_answer_nothing(answer, text):
    """
    A question that was blocked has no candidate.
    """
    pieces = GENERATE.pieces()
    pieces.add(answer)

    assert text == GENERATE.read(ASKED, answer).text
    if answer:
        assert text == GENERATE.read(ASKED, pieces.answer()).text


def test_arguments_in_parts_are_not_taken_for_whole():
    """
    A call of which half has come would run with half of its arguments.
    """
    call = {"functionCall": {"name": "x", "args": {}, "willContinue": True}}
    answer = {"candidates": [{"content": {"parts": [call]}, "finishReason": "STOP"}]}
    with pytest.raises(RuntimeError, match="stream_function_call_arguments"):
        GENERATE.read(ASKED, answer)


def test_pieces_of_text_that_are_signed_stay_apart():
    """
    A signature is for the part that it came with.
    """
    pieces = GENERATE.pieces()
    for parts in (
        [{"text": "a", "thought": True}],
        [{"text": "b", "thought": True, "thoughtSignature": "x"}],
        [{"text": "c", "thought": True}],
        [{"text": "d"}],
        [{"text": "e"}],
    ):
        pieces.add({"candidates": [{"content": {"parts": parts}}]})
    pieces.add({"candidates": [{"finishReason": "STOP"}]})
    [candidate] = pieces.answer()["candidates"]

    assert [
        {"text": "ab", "thought": True, "thoughtSignature": "x"},
        {"text": "c", "thought": True},
        {"text": "de"},
    ] == candidate["content"]["parts"]


def test_words_put_into_the_models_mouth_are_not_its_answer():
    """
    A conversation may end with the beginning of an answer; the turn is what follows.
    """
    messages = [
        {"role": "user", "content": "Count."},
        {"role": "assistant", "content": "One,"},
    ]
    body = MESSAGES.body(ModelRequest(messages=messages, tools=[]))
    blocks = [{"type": "text", "text": " two."}]
    answer = {"content": blocks, "stop_reason": "end_turn"}
    paused = MESSAGES.read(Asked(body), {**answer, "stop_reason": "pause_turn"})

    assert " two." == MESSAGES.read(Asked(body), answer).text
    assert " two. two." == MESSAGES.read(paused, answer).text


def test_a_result_without_a_name_has_that_of_its_call():
    """
    Conversations from elsewhere name the call alone, and Gemini wants the tool.
    """
    messages = [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "name": "add", "arguments": "{}"}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "3"},
    ]
    body = GENERATE.body(ModelRequest(messages=messages, tools=[]))
    [result] = body["contents"][-1]["parts"]

    assert {"name": "add", "response": {"output": "3"}} == result["functionResponse"]
