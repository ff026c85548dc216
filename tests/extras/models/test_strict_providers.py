"""
What a model has said badly is sent on in a form that strict providers take.
"""

from __future__ import annotations

import re

import pytest

from tooldecl import ToolCall, ToolClient, Turn, tool
from tooldecl.testing import FakeLLM, FakeReply
from wires import ask, model_for, run, said


@tool
def price(item: str) -> int:
    """Look up a price."""
    return len(item)


@tool
def price_it(item: str) -> int:
    """Look up a price."""
    return len(item)


CLIENT = ToolClient([price, price_it])


def calls_sent(wire, sent):
    """
    Return the name and the id of each call in a request.
    """
    match wire:
        case "chat":
            calls = [call for m in sent for call in m.get("tool_calls", [])]
            return [(call["function"]["name"], call["id"]) for call in calls]
        case "responses":
            return [
                (item["name"], item["call_id"])
                for item in sent
                if item.get("type") == "function_call"
            ]
        case "anthropic":
            blocks = [block for m in sent for block in m["content"]]
            return [(b["name"], b["id"]) for b in blocks if b["type"] == "tool_use"]
        case _:
            parts = [part for m in sent for part in m["parts"]]
            calls = [p["functionCall"] for p in parts if "functionCall" in p]
            return [(call["name"], call.get("id")) for call in calls]


def answers_sent(wire, sent):
    """
    Return what each answer in a request is for: an id, or a name with an id.
    """
    match wire:
        case "chat":
            return [m["tool_call_id"] for m in sent if m["role"] == "tool"]
        case "responses":
            done = "function_call_output"
            return [item["call_id"] for item in sent if item.get("type") == done]
        case "anthropic":
            blocks = [block for m in sent for block in m["content"]]
            return [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        case _:
            parts = [part for m in sent for part in m["parts"]]
            done = [p["functionResponse"] for p in parts if "functionResponse" in p]
            return [(answer["name"], answer.get("id")) for answer in done]


def check_answered(wire, sent):
    """
    Assert that each call has its answer under what it is sent under itself.
    """
    calls = calls_sent(wire, sent)

    expected = calls if wire == "gemini" else [call_id for _, call_id in calls]
    assert expected == answers_sent(wire, sent)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("functions.price", "functions_price"),
        ("price it", "price_it_73"),
        ("", "__"),
        ("p" * 300, "p" * 50),
        ("preis für", "preis_f_r_"),
    ],
)
def test_a_name_that_no_tool_has_is_sent_in_a_safe_form(wire, stream, name, shown):
    """
    The model reads that there is no such tool; a name made of it is no tool's either.
    """
    call = ToolCall(name, {"item": "a"}, "c1")
    with FakeLLM([Turn(calls=[call]), Turn("Done.")]) as llm:
        result = run("sync", CLIENT, model_for(wire, llm, stream=stream))
    [(sent, _)] = calls_sent(wire, said(wire, llm))

    assert ("Done.", name) == (result.text, result.messages[1]["tool_calls"][0]["name"])
    assert shown[:9] == sent[: len(shown[:9])]
    assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", sent)
    assert sent not in ("price", "price_it")
    check_answered(wire, said(wire, llm))


@pytest.mark.parametrize("call_id", ["functions.price:0", "c" * 100, "ä"])
def test_an_id_that_a_provider_refuses_is_sent_as_another(wire, front, call_id):
    """
    Other providers gave it; the call and its answer go under one that is taken here.
    """
    call = ToolCall("price", {"item": "a"}, call_id)
    with FakeLLM([Turn(calls=[call]), Turn("Done.")]) as llm:
        result = run(front, CLIENT, model_for(wire, llm))
    [(_, sent)] = calls_sent(wire, said(wire, llm))

    assert call_id == result.messages[1]["tool_calls"][0]["id"]
    if wire == "gemini" or (wire == "chat" and ":" in call_id):
        assert call_id == sent  # these take it, and some want to see it again
    else:
        assert re.fullmatch(r"call_[0-9a-f]{1,35}", sent)
    check_answered(wire, said(wire, llm))


def test_ids_that_come_again_are_sent_apart(wire):
    """
    A host may hand over a conversation in which every turn begins to count anew.
    """
    turns = [("one", "a"), ("two", "b")]
    history = [{"role": "user", "content": "Go."}]
    for text, item in turns:
        call = {"id": "c1", "name": "price", "arguments": {"item": item}}
        history += [
            {"role": "assistant", "content": text, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "name": "price", "content": text},
        ]
    with FakeLLM([Turn("Done."), Turn("Done.")]) as llm, model_for(wire, llm) as model:
        for _ in range(2):
            ask("sync", model, history)
    sent = said(wire, llm)

    if wire != "gemini":  # it is sent ids only where it gave some
        assert "c1" == calls_sent(wire, sent)[0][1] != calls_sent(wire, sent)[1][1]
    assert sent == said(wire, llm, 0)
    assert ["c1"] * 2 == [m["tool_call_id"] for m in history if m["role"] == "tool"]
    check_answered(wire, sent)


def texts_sent(llm):
    """
    Return the role and the texts of each message that Anthropic gets.
    """
    return [
        (message["role"], [block.get("text") for block in message["content"]])
        for message in said("anthropic", llm)
    ]


def test_anthropic_is_sent_no_blank_text(front):
    """
    It refuses such blocks; a user who said nothing is seen to have said nothing.
    """
    blank = {"type": "text", "text": " \n"}
    with FakeLLM([Turn("Done.")]) as llm:
        ask(
            front,
            model_for("anthropic", llm),
            [
                {"role": "user", "content": ""},
                {"role": "assistant", "content": "\n"},
                {"role": "assistant", "content": "Yes?"},
                {"role": "user", "content": [blank, {"type": "text", "text": "Go."}]},
                {"role": "assistant", "content": "What?"},
                {"role": "user", "content": [blank, "  "]},
            ],
        )

    assert [
        ("user", ["(no text)"]),
        ("assistant", ["Yes?"]),
        ("user", ["Go."]),
        ("assistant", ["What?"]),
        ("user", ["(no text)"]),
    ] == texts_sent(llm)


def test_gemini_is_told_that_a_user_said_nothing(front):
    """
    A request without any content would be refused.
    """
    with FakeLLM([Turn("Done.")]) as llm:
        ask(front, model_for("gemini", llm), [{"role": "user", "content": ""}])

    assert [{"parts": [{"text": "(no text)"}], "role": "user"}] == said("gemini", llm)


def test_blank_text_before_a_call_is_not_sent_again(front, stream):
    """
    Models say line breaks before they call; the call goes without them.
    """
    call = ToolCall("price", {"item": "a"}, "c1")
    with FakeLLM([Turn("\n\n", calls=[call]), Turn("Done.")]) as llm:
        result = run(front, CLIENT, model_for("anthropic", llm, stream=stream))

    assert "\n\n" == result.messages[1]["content"]
    assert ["tool_use"] == [b["type"] for b in said("anthropic", llm)[1]["content"]]


@pytest.mark.parametrize("signature", ["", "signed"])
@pytest.mark.parametrize("text", ["", "So"])
def test_thoughts_that_were_cut_off_are_not_sent_again(front, stream, signature, text):
    """
    Anthropic refuses thoughts without its signature, and messages of thoughts alone.
    """
    thought = {"type": "thinking", "thinking": "Hm", "signature": signature}
    cut = FakeReply(turn=Turn(text, truncated=True), provider_items=[thought])
    with FakeLLM([cut, Turn("Done.")]) as llm:
        first = run(front, CLIENT, model_for("anthropic", llm, stream=stream))
        messages = [*first.messages, {"role": "user", "content": "Go on."}]
        run(front, CLIENT, model_for("anthropic", llm), messages)
    sent = said("anthropic", llm)

    kinds = [[b["type"] for b in m["content"]] for m in sent if m["role"] != "user"]
    signed = ["thinking"] if signature else []
    assert ([[*signed, "text"]] if text else []) == kinds
