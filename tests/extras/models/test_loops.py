"""
Whole runs of a loop over every wire: what the tools do, and what the provider reads.
"""

from __future__ import annotations

import json

import pytest

from loops import check
from scenarios.adding_loops import RUNS, add
from tooldecl import Suspension, ToolCall, ToolClient, ToolLoop, Turn, tool
from tooldecl.exceptions import ModelFailedError
from tooldecl.filters import Approval, Approved, Suspend
from tooldecl.testing import FakeLLM, FakeReply
from wires import ask, model_for, run, said


@tool
def fail() -> None:
    """Fail."""
    raise ValueError("inside")


@tool(sensitive=True)
def pay(amount: int) -> str:
    """Pay."""
    RUNS.append(amount)

    return f"paid {amount}"


CLIENT = ToolClient([add, fail])

SCRIPT = [
    Turn(
        "Let me see.",
        [
            ToolCall("add", '{"a": 1, "b": 2}', "c1"),
            ToolCall("fail", "{}", "c2"),
            ToolCall("add", {"a": 10, "b": 20}, "c3"),
        ],
    ),
    Turn("It is 3 and 30."),
]

DEFINED = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}


def called(text):
    """
    Return the calls of the script in the form of chat completions.
    """
    return [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": arguments},
        }
        for call, arguments in zip(SCRIPT[0].calls, text, strict=True)
    ]


TEXTS = ['{"a": 1, "b": 2}', "{}", '{"a": 10, "b": 20}']
OBJECTS = [{"a": 1, "b": 2}, {}, {"a": 10, "b": 20}]


def expected_of(wire, failed):
    """
    Return the conversation as the provider has to read it in the second request.
    """
    names, ids = ["add", "fail", "add"], ["c1", "c2", "c3"]
    results = ["3", failed, "30"]
    if wire == "chat":
        return [
            {"role": "user", "content": "Go."},
            {
                "role": "assistant",
                "content": "Let me see.",
                "tool_calls": called(TEXTS),
            },
            *(
                {"role": "tool", "tool_call_id": i, "content": text}
                for i, text in zip(ids, results, strict=True)
            ),
        ]
    if wire == "responses":
        return [
            {"role": "user", "content": "Go."},
            {"role": "assistant", "content": "Let me see."},
            *(
                {"type": "function_call", "call_id": i, "name": n, "arguments": a}
                for i, n, a in zip(ids, names, TEXTS, strict=True)
            ),
            *(
                {"type": "function_call_output", "call_id": i, "output": text}
                for i, text in zip(ids, results, strict=True)
            ),
        ]
    if wire == "anthropic":
        return [
            {"role": "user", "content": [{"type": "text", "text": "Go."}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Let me see."},
                    *(
                        {"type": "tool_use", "id": i, "name": n, "input": a}
                        for i, n, a in zip(ids, names, OBJECTS, strict=True)
                    ),
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": i, "content": text}
                    | ({"is_error": True} if text is failed else {})
                    for i, text in zip(ids, results, strict=True)
                ],
            },
        ]

    return [
        {"role": "user", "parts": [{"text": "Go."}]},
        {
            "role": "model",
            "parts": [
                {"text": "Let me see."},
                *(
                    {"functionCall": {"id": i, "name": n, "args": a}}
                    for i, n, a in zip(ids, names, OBJECTS, strict=True)
                ),
            ],
        },
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "id": i,
                        "name": n,
                        "response": {"error" if t is failed else "output": t},
                    }
                }
                for i, n, t in zip(ids, names, results, strict=True)
            ],
        },
    ]


def test_parallel_calls_run_and_their_results_go_back(front, wire, stream):
    """
    Every call of the turn has its answer in the next request, in the words of the wire;
    one that failed says so.
    """
    with FakeLLM(SCRIPT) as llm:
        result = run(front, CLIENT, model_for(wire, llm, stream=stream))

    failed = result.results[1].content
    assert ["ok", "tool_error", "ok"] == [r.status for r in result.results]
    assert ("answer", "It is 3 and 30.", 2) == (
        result.stop_reason,
        result.text,
        result.turns,
    )
    assert sorted([(1, 2), (10, 20)]) == sorted(RUNS)
    assert expected_of(wire, failed) == said(wire, llm)
    assert ["Go."] == [m["content"] for m in result.messages if m["role"] == "user"]


def test_the_tools_are_offered_as_the_wire_has_them(front, wire):
    """
    A schema in another place than the provider looks is no schema.
    """
    with FakeLLM([Turn("Hi.")]) as llm:
        run(front, ToolClient([add]), model_for(wire, llm))
    [request] = llm.requests
    path, tools = request.path.partition("?")[0], request.body["tools"]
    words = {"name": "add", "description": "Add two integers."}

    if wire == "chat":
        assert "/chat/completions" == path
        assert [
            {"type": "function", "function": {**words, "parameters": DEFINED}}
        ] == tools
    elif wire == "responses":
        assert "/responses" == path
        assert [
            {"type": "function", **words, "parameters": DEFINED, "strict": False}
        ] == tools
    elif wire == "anthropic":
        assert "/v1/messages" == path
        assert [{**words, "input_schema": DEFINED}] == tools
    else:
        assert path.endswith("/models/model-1:generateContent")
        [declared] = tools[0]["functionDeclarations"]
        assert words.items() <= declared.items()
        assert DEFINED in declared.values()


def test_calls_without_an_id_are_answered_under_one(front, wire, stream):
    """
    Not every provider gives ids; an answer needs one where the wire has them.
    """
    calls = [ToolCall("add", {"a": n, "b": n}) for n in (1, 2)]
    with FakeLLM([Turn(calls=calls), Turn("Done.")], ids=False) as llm:
        result = run(front, CLIENT, model_for(wire, llm, stream=stream))
    ids = [r.call_id for r in result.results]
    sent = said(wire, llm)

    assert ["2", "4"] == [r.content for r in result.results]
    assert 2 == len(set(ids))
    assert all(ids)
    if wire == "gemini":  # none were given, so none are shown
        assert "'id'" not in repr(sent)
    else:
        assert all(repr(sent).count(repr(call_id)) == 2 for call_id in ids)


def test_an_id_that_comes_twice_is_made_unique_for_both(front, wire, stream):
    """
    Two answers under one id would be refused by the provider.
    """
    calls = [ToolCall("add", {"a": n, "b": n}, "same") for n in (1, 2)]
    with FakeLLM([Turn(calls=calls), Turn("Done.")]) as llm:
        result = run(front, CLIENT, model_for(wire, llm, stream=stream))
    first, second = (r.call_id for r in result.results)
    sent = repr(said(wire, llm))

    assert "same" == first != second
    assert (2, 2) == (sent.count(repr(first)), sent.count(repr(second)))


def test_a_turn_that_was_cut_off_runs_nothing(front, wire, stream):
    """
    The last call may be cut in the middle and still parse; the model reads why, and the
    provider gets a valid conversation.
    """
    cut = Turn("I", [ToolCall("add", '{"a": 1, "b": 2}', "c1")], truncated=True)
    with FakeLLM([cut, Turn("Done.")]) as llm:
        result = run(front, CLIENT, model_for(wire, llm, stream=stream))

    assert ([], ["not_run"]) == (RUNS, [r.status for r in result.results])
    assert "cut off by its length limit" in repr(said(wire, llm)[-1])
    check(result.messages)


UNSENDABLE = {
    "cut": '{"a": 1, "b"',
    "a list": "[1]",
    "null": "null",
    "no number": '{"a": NaN}',
    "overflow": '{"a": 1e999}',
    "half a character": r'{"a": "\ud800"}',
    "half a character in a name": r'{"\ud800": 1}',
    "half a character as it is": '{"a": "\ud800"}',
    "too many digits": '{"a": ' + "9" * 5_000 + "}",
    "closed depth": '{"a": ' + "[" * 195 + "]" * 195 + "}",
    "open depth": '{"a": ' + "[" * 60_000,
}


def history(arguments):
    """
    Return a conversation with a call that the gate refused.
    """
    call = {"id": "c", "name": "add", "arguments": arguments}

    return [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "name": "add", "content": "no"},
    ]


def shown_arguments(wire, llm):
    """
    Return the arguments of the call in `history` as the provider read them.
    """
    sent = said(wire, llm)[1]
    match wire:
        case "chat":
            return sent["tool_calls"][0]["function"]["arguments"]
        case "responses":
            return sent["arguments"]
        case "anthropic":
            return sent["content"][0]["input"]
        case _:
            return sent["parts"][0]["functionCall"]["args"]


@pytest.mark.parametrize("case", UNSENDABLE)
def test_text_that_is_no_object_can_be_sent_again(wire, case):
    """
    The gate has refused it, which must not end the run: it goes as an object's text.
    """
    text = UNSENDABLE[case]
    with FakeLLM([Turn("Done.")]) as llm:
        ask("sync", model_for(wire, llm), history(text))
    shown = shown_arguments(wire, llm)
    if wire in ("chat", "responses"):
        shown = json.loads(shown)

    assert {"arguments": text.replace("\ud800", "\ufffd")} == shown


@pytest.mark.parametrize("text", ['{"a" :1}', '{"a": "[[{"}', '{"a": [[[[]]]]}'])
def test_text_of_an_object_is_sent_as_it_was(wire, text):
    """
    What a model wrote well, it sees again to the letter where the wire has text.
    """
    with FakeLLM([Turn("Done.")]) as llm:
        ask("sync", model_for(wire, llm), history(text))
    is_text = wire in ("chat", "responses")

    assert (text if is_text else json.loads(text)) == shown_arguments(wire, llm)


@pytest.mark.parametrize(
    ("given", "shown"), [(None, {}), (" ", {}), ('{"a": "x\ny"}', {"a": "x\ny"})]
)
def test_text_that_can_be_read_is_put_right(wire, given, shown):
    """
    No text means no arguments, and a raw line break a client may have let through.
    """
    with FakeLLM([Turn("Done.")]) as llm:
        ask("sync", model_for(wire, llm), history(given))
    sent = shown_arguments(wire, llm)

    assert shown == (json.loads(sent) if wire in ("chat", "responses") else sent)


@pytest.mark.parametrize("case", ["no number", "half a character", "open depth"])
def test_a_refused_call_of_a_stream_does_not_end_the_run(front, case):
    """
    The model reads why its call was refused, and goes on.
    """
    call = ToolCall("add", UNSENDABLE[case], "c1")
    with FakeLLM([Turn(calls=[call]), Turn("Done.")]) as llm:
        result = run(front, CLIENT, model_for("anthropic", llm, stream=True))

    assert ("Done.", ["invalid"]) == (result.text, [r.status for r in result.results])


def test_a_run_that_waited_goes_on_over_the_wire(front, wire, stream):
    """
    The provider sees one conversation, with the result where the placeholder was.
    """
    calls = [ToolCall("add", '{"a": 1, "b": 2}', "c1"), ToolCall("pay", {"amount": 5})]
    client = ToolClient([add, pay], filters=[Approval(lambda request: Suspend())])
    with FakeLLM([Turn(calls=calls), Turn("Done.")]) as llm:
        waiting = run(front, client, model_for(wire, llm, stream=stream))
        text = waiting.suspension.to_json()
        [pending] = waiting.suspension.calls
        with model_for(wire, llm, stream=stream) as model:
            result = ToolLoop(client, model).resume(
                Suspension.from_json(text), {pending.call_id: Approved()}
            )

    assert ("suspended", "answer") == (waiting.stop_reason, result.stop_reason)
    assert [(1, 2), 5] == RUNS
    assert "paid 5" in repr(said(wire, llm))
    assert 2 == len(llm.requests)


def test_what_a_provider_calls_itself_is_never_run_here(front, wire, stream):
    """
    A search that the provider made has its name beside ours, and is none of our calls;
    it goes back as it came, or the provider would miss it.
    """
    items = {
        "chat": [
            {"id": "p", "type": "custom", "custom": {"name": "add", "input": "x"}}
        ],
        "responses": [
            {
                "type": "web_search_call",
                "id": "ws_1",
                "status": "completed",
                "action": {"type": "search", "query": "add"},
            },
            {
                "type": "mcp_call",
                "id": "mcp_1",
                "name": "add",
                "arguments": '{"a": 1, "b": 1}',
                "server_label": "s",
            },
        ],
        "anthropic": [
            {
                "type": "server_tool_use",
                "id": "srvtoolu_1",
                "name": "add",
                "input": '{"a": 1, "b": 1}' if stream else {"a": 1, "b": 1},
            },
        ],
        "gemini": [{"executableCode": {"language": "PYTHON", "code": "add(1, 1)"}}],
    }[wire]
    call = ToolCall("add", '{"a": 2, "b": 2}', "c1")
    turn = FakeReply(turn=Turn("So.", [call]), provider_items=items)
    with FakeLLM([turn, Turn("Done.")]) as llm:
        result = run(front, CLIENT, model_for(wire, llm, stream=stream))
    sent = repr(said(wire, llm))

    assert [(2, 2)] == RUNS
    assert 1 == len(result.results)
    assert "Done." == result.text
    for word in {
        "chat": (),
        "responses": ("ws_1", "mcp_1", "server_label", "fc_1_0"),
        "anthropic": ("srvtoolu_1", "{'a': 1, 'b': 1}"),
        "gemini": ("add(1, 1)",),
    }[wire]:
        assert word in sent


SIGNED = {
    "responses": [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e=="}
    ],
    "anthropic": [{"type": "thinking", "thinking": "Hm, so.", "signature": "c2lnbg=="}],
    "gemini": [{"text": "Hm.", "thought": True, "thoughtSignature": "c2lnbg=="}],
}


@pytest.mark.parametrize("signed_by", SIGNED)
def test_what_a_provider_signed_goes_back_as_it_came(front, signed_by, stream):
    """
    Providers refuse a request in which the thoughts of a turn with calls are missing,
    changed, or out of their place; and a run may go on in another process.
    """
    wire, items = signed_by, SIGNED[signed_by]
    turn = Turn("So.", [ToolCall("add", '{"a": 2, "b": 2}', "c1")])
    with FakeLLM([FakeReply(turn=turn, provider_items=items), Turn("Done.")]) as llm:
        result = run(front, CLIENT, model_for(wire, llm, stream=stream))
    sent = said(wire, llm)

    assert "So." == result.messages[1]["content"]
    if wire == "responses":
        kinds = [item.get("type") for item in sent[1:]]
        assert [
            "reasoning",
            "message",
            "function_call",
            "function_call_output",
        ] == kinds
        assert items[0] == sent[1]
        assert ("fc_1_0", "c1") == (sent[3]["id"], sent[3]["call_id"])
    elif wire == "anthropic":
        assert items[0] == sent[1]["content"][0]
        assert ["thinking", "text", "tool_use"] == [
            b["type"] for b in sent[1]["content"]
        ]
    else:
        assert items[0] == sent[1]["parts"][0]
        assert {"text": "So."} == sent[1]["parts"][1]


@pytest.mark.parametrize("wire", SIGNED)
def test_words_that_the_host_changed_are_sent_as_changed(front, wire):
    """
    A host that strikes something out of a conversation must not see it sent again.
    """
    with FakeLLM([FakeReply(turn=Turn("Secret."), provider_items=SIGNED[wire])]) as llm:
        result = run(front, CLIENT, model_for(wire, llm))
    messages = [*result.messages, {"role": "user", "content": "Go on."}]
    messages[1] = {**messages[1], "content": "Nothing."}
    with FakeLLM([Turn("Done.")]) as llm:
        ask(front, model_for(wire, llm), messages)

    assert "memo" in messages[1]
    assert ("Nothing." in repr(said(wire, llm)), "Secret" in repr(said(wire, llm))) == (
        True,
        False,
    )


def test_what_stands_beside_a_call_goes_back_with_it(front, stream):
    """
    Some who speak as OpenAI does sign each call, or want to see their reasoning again.
    """
    extra = {"google": {"thought_signature": "x=="}}
    item = {
        "id": "c1",
        "type": "function",
        "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'},
        "extra_content": extra,
    }
    turn = FakeReply(turn=Turn(), provider_items=[item], ending="tool_calls")
    with FakeLLM([turn, Turn("Done.")]) as llm:
        run(front, CLIENT, model_for("chat", llm, stream=stream))
    [call] = said("chat", llm)[1]["tool_calls"]

    assert item == call
    assert [(1, 2)] == RUNS


def test_a_provider_that_paused_goes_on_in_the_same_turn(front, stream):
    """
    A pause of its own tools is no answer: taken for one, the run would end too early.
    """
    item = {
        "type": "server_tool_use",
        "id": "srvtoolu_1",
        "name": "web_search",
        "input": "{}" if stream else {},
    }
    script = [
        FakeReply(turn=Turn("One, "), provider_items=[item], ending="pause_turn"),
        FakeReply(turn=Turn("two, "), ending="pause_turn"),
        Turn("three."),
    ]
    with FakeLLM(script) as llm:
        result = run(front, CLIENT, model_for("anthropic", llm, stream=stream))

    assert ("One, two, three.", 1, 3) == (
        result.text,
        result.turns,
        len(llm.requests),
    )
    assert ["user", "assistant"] == [m["role"] for m in said("anthropic", llm)]
    assert ["server_tool_use", "text", "text"] == [
        block["type"] for block in said("anthropic", llm)[1]["content"]
    ]


def test_a_provider_that_pauses_for_ever_is_left(front):
    """
    A turn has an end, also where the provider sees none.
    """
    script = [FakeReply(turn=Turn("x"), ending="pause_turn")] * 20
    with FakeLLM(script) as llm, pytest.raises(ModelFailedError) as caught:
        run(front, CLIENT, model_for("anthropic", llm))

    assert "paused this turn 10 times" in str(caught.value.__cause__)
    assert 10 == len(llm.requests)
