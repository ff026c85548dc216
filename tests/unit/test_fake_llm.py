"""
The fake provider as a server: what it answers, what it notes, and that it ends.
"""

from __future__ import annotations

import http.client
import json
import threading

import pytest

from tooldecl import ToolCall, Turn
from tooldecl.testing import FakeLLM, FakeReply


PATHS = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/m:generateContent",
}


def post(llm, path, body=None, connection=None):
    """
    Send one request; return the status and what was answered, as text.
    """
    host = llm.url.removeprefix("http://")
    at = connection or http.client.HTTPConnection(host, timeout=30)
    try:
        at.request("POST", path, json.dumps(body or {}), {"X-Mine": "1"})
        answer = at.getresponse()
        text = answer.read().decode()
    finally:
        if connection is None:
            at.close()

    return answer.status, text


@pytest.mark.parametrize("wire", PATHS)
def test_each_request_gets_the_next_entry(wire):
    """
    Turns, statuses and what is over come in their order, on every wire.
    """
    with FakeLLM([Turn("One."), 429, Turn("Two.")]) as llm:
        got = [post(llm, PATHS[wire], {"n": n}) for n in range(4)]

    assert [200, 429, 200, 400] == [status for status, _ in got]
    assert ("One." in got[0][1], "Two." in got[2][1]) == (True, True)
    assert "The script is over after 3 requests." in got[3][1]
    assert [0, 1, 2, 3] == [request.body["n"] for request in llm.requests]
    assert {PATHS[wire]} == {request.path for request in llm.requests}
    assert {"1"} == {request.headers["x-mine"] for request in llm.requests}


def test_a_path_of_no_wire_is_not_found():
    """
    A wrong base_url is seen as one.
    """
    with FakeLLM([Turn("One.")]) as llm:
        status, text = post(llm, "/v1/embeddings")

    assert (404, True) == (status, "No wire is spoken at /v1/embeddings." in text)


def test_a_stream_says_how_long_its_pieces_are():
    """
    Pieces are what readers of streams break on.
    """
    with FakeLLM([Turn("abcdefg")], piece=3) as llm:
        _, text = post(llm, PATHS["chat"], {"stream": True})
    events = [line.removeprefix("data: ") for line in text.split("\n\n") if line]
    pieces = [json.loads(e)["choices"][0]["delta"].get("content") for e in events[:-1]]

    assert ["", "abc", "def", "g", None] == pieces
    assert "[DONE]" == events[-1]


def test_ids_are_given_or_left_out():
    """
    Some providers give none, and a loop has to make its own.
    """
    for ids, given in ((True, True), (False, False)):
        with FakeLLM([Turn(calls=[ToolCall("add")])], ids=ids) as llm:
            _, text = post(llm, PATHS["chat"])
        [call] = json.loads(text)["choices"][0]["message"]["tool_calls"]
        assert given == ("id" in call)
        assert {"name": "add"} == call["function"]


@pytest.mark.parametrize("wire", ["anthropic", "gemini"])
@pytest.mark.parametrize("text", ['{"a": 1', "[1]"])
def test_what_a_wire_cannot_say_is_refused_with_words(wire, text):
    """
    Two wires have objects where the others have text.
    """
    with FakeLLM([Turn(calls=[ToolCall("add", text)])]) as llm:
        status, said = post(llm, PATHS[wire])

    assert 400 == status
    assert "arguments as objects, and those of 'add' are none" in said


def test_an_answer_can_break_off():
    """
    A connection breaks where it likes, in a stream or in a whole answer.
    """
    reply = FakeReply(turn=Turn("One."), cut_after=3)
    with FakeLLM(
        [reply, reply, FakeReply(turn=Turn("x"), cut_after=0, silently=True)]
    ) as f:
        with pytest.raises(http.client.IncompleteRead):
            post(f, PATHS["chat"])
        with pytest.raises(http.client.IncompleteRead):
            post(f, PATHS["chat"], {"stream": True})
        assert (200, "") == post(f, PATHS["chat"], {"stream": True})


@pytest.mark.parametrize("entry", ["text", None, 200, 600, ToolCall("add")])
def test_what_is_no_script_is_refused(entry):
    """
    It would be found in the middle of a run, and far away from its cause.
    """
    with pytest.raises(TypeError) as caught:
        FakeLLM([entry])

    assert f"A script has turns, replies and HTTP statuses, got {entry!r}." == str(
        caught.value
    )


def test_pieces_have_a_length():
    """
    A stream of empty pieces would never end.
    """
    with pytest.raises(ValueError) as caught:
        FakeLLM([], piece=0)

    assert "piece takes 1 or more characters, got 0." == str(caught.value)


def test_it_ends_with_all_that_it_started():
    """
    Clients keep connections open for their next request; a server that waits for that
    would hang, and one that does not would leave threads behind.
    """
    before = set(threading.enumerate())
    with FakeLLM([Turn("One.")]) as llm:
        host = llm.url.removeprefix("http://")
        kept = http.client.HTTPConnection(host, timeout=30)
        assert 200 == post(llm, PATHS["chat"], connection=kept)[0]
        assert set(threading.enumerate()) > before

    assert before == set(threading.enumerate())
    with pytest.raises(OSError):
        kept.request("POST", PATHS["chat"], "{}")
        kept.getresponse()
    kept.close()


@pytest.mark.parametrize("stream", [False, True])
def test_the_end_of_an_answer_can_be_held_back(stream):
    """
    What a host does while a model thinks is seen at a moment that the test chooses.
    """
    held = FakeReply(turn=Turn("One."), until=threading.Event())
    got = []
    with FakeLLM([held]) as llm:
        thread = threading.Thread(
            target=lambda: got.append(post(llm, PATHS["chat"], {"stream": stream}))
        )
        thread.start()
        assert [] == got
        held.until.set()
        thread.join(30)

    assert "One." in got[0][1]


def test_what_is_held_back_does_not_hold_the_end():
    """
    A test that fails in the middle still ends.
    """
    held = FakeReply(turn=Turn("One."), until=threading.Event())
    with FakeLLM([held]) as llm:
        at = http.client.HTTPConnection(llm.url.removeprefix("http://"), timeout=30)
        at.request("POST", PATHS["chat"], json.dumps({"stream": True}))
        answer = at.getresponse()
        assert answer.readline().startswith(b"data: ")
    answer.close()
    at.close()

    assert 1 == len(llm.requests)


def test_it_can_be_made_and_never_used():
    """
    A test that fails before must not leave a port open.
    """
    llm = FakeLLM([])
    llm.__exit__()

    assert repr(llm).endswith("asked 0 times>")


def test_many_ask_at_once():
    """
    Requests that come together get one entry each.
    """
    count = 12
    start, got = threading.Barrier(count), []
    with FakeLLM([Turn(f"<{n}>") for n in range(count)]) as llm:

        def ask():
            start.wait(30)
            got.append(json.loads(post(llm, PATHS["chat"])[1]))

        threads = [threading.Thread(target=ask) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    texts = [answer["choices"][0]["message"]["content"] for answer in got]

    assert sorted(f"<{n}>" for n in range(count)) == sorted(texts)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"turn": "x"}, TypeError, "turn=...) takes a Turn, got 'x'."),
        (
            {"provider_items": {"type": "x"}},
            TypeError,
            "provider_items=...) takes a list of objects, got {'type': 'x'}.",
        ),
        (
            {"provider_items": ["x"]},
            TypeError,
            "provider_items=...) takes a list of objects, got 'x'.",
        ),
        (
            {"refused": "no"},
            TypeError,
            "refused=...) takes True or False, got 'no'.",
        ),
        (
            {"silently": "no"},
            TypeError,
            "silently=...) takes True or False, got 'no'.",
        ),
        (
            {"silently": True},
            ValueError,
            "silently=True) says how an answer is cut off, so it takes cut_after=... as "
            "well.",
        ),
        ({"ending": 5}, TypeError, "ending=...) takes a text or None, got 5."),
        (
            {"cut_after": True},
            TypeError,
            "cut_after=...) takes a whole number from 0, or None, got True.",
        ),
        (
            {"cut_after": -1},
            ValueError,
            "cut_after=...) takes a whole number from 0, or None, got -1.",
        ),
        (
            {"until": 5},
            TypeError,
            "until=...) takes a threading.Event or None, got 5.",
        ),
    ],
)
def test_a_reply_refuses_what_it_cannot_do(options, error, text):
    """
    It would break a thread of the server, where no test looks.
    """
    with pytest.raises(error) as caught:
        FakeReply(**{"turn": Turn("x")} | options)

    assert f"FakeReply({text}" == str(caught.value)


@pytest.mark.parametrize("entry", ["x", None, True, 200, 4.5, ValueError()])
def test_a_script_has_only_what_can_be_sent(entry):
    """
    An exception, say, is a thing of `ScriptedModel`; a server sends statuses.
    """
    with pytest.raises(TypeError) as caught:
        FakeLLM([Turn("x"), entry])

    assert f"A script has turns, replies and HTTP statuses, got {entry!r}." == str(
        caught.value
    )


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"piece": 0}, ValueError, "piece takes 1 or more characters, got 0."),
        (
            {"piece": "7"},
            TypeError,
            "piece takes a whole number of characters, got '7'.",
        ),
        ({"ids": "no"}, TypeError, "ids takes True or False, got 'no'."),
        ({"strict": None}, TypeError, "strict takes True or False, got None."),
    ],
)
def test_a_server_refuses_options_that_are_none(options, error, text):
    """
    Any text would be the same as yes.
    """
    with pytest.raises(error) as caught:
        FakeLLM([], **options)

    assert text == str(caught.value)


def chat(*calls, answers=()):
    """
    Return a chat completion's request with one turn of calls.
    """
    listed = [
        {"id": i, "type": "function", "function": {"name": n, "arguments": a}}
        for n, i, a in calls
    ]
    answered = [{"role": "tool", "tool_call_id": i, "content": "1"} for i in answers]

    return {"messages": [{"role": "assistant", "tool_calls": listed}, *answered]}


def anthropic(*blocks, role="assistant"):
    """
    Return a request of Anthropic's messages with one message.
    """
    return {"messages": [{"role": role, "content": [*blocks]}]}


CALLED = {"type": "tool_use", "id": "c", "name": "add", "input": {}}
RESPONDED = {"type": "function_call", "call_id": "c", "name": "add", "arguments": "{}"}

REFUSED = {
    "a name": ("chat", chat(("add it", "c", "{}"), answers="c"), "name 'add it'"),
    "no name": ("responses", {"input": [{**RESPONDED, "name": ""}]}, "name ''"),
    "an id": ("chat", chat(("add", "c" * 41, "{}")), "id 'ccc"),
    "an id's form": ("anthropic", anthropic({**CALLED, "id": "a:0"}), "id 'a:0'"),
    "an id twice": (
        "chat",
        chat(("add", "c", "{}"), ("add", "c", "{}")),
        "'c' is that of two calls",
    ),
    "cut arguments": ("chat", chat(("add", "c", '{"a"')), "are no JSON object"),
    "a list": ("chat", chat(("add", "c", "[1]")), "are no JSON object"),
    "no answer": ("chat", chat(("add", "c", "{}")), "calls 'c' have no answer"),
    "no answer in responses": ("responses", {"input": [RESPONDED]}, "have no answer"),
    "no answer in messages": ("anthropic", anthropic(CALLED), "have no answer"),
    "no answer in time": (
        "anthropic",
        {
            "messages": [
                *anthropic(CALLED)["messages"],
                *anthropic({"type": "text", "text": "Hi"}, role="user")["messages"],
                *anthropic({"type": "tool_result", "tool_use_id": "c"}, role="user")[
                    "messages"
                ],
            ]
        },
        "calls 'c' have no answer",
    ),
    "no call": ("chat", chat(answers="c"), "answer to 'c', which is no call"),
    "blank text": ("anthropic", anthropic({"type": "text", "text": " \n"}), "text has"),
    "no content": ("anthropic", anthropic(), "no content"),
    "unsigned": (
        "anthropic",
        anthropic(
            {"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "I"}
        ),
        "no signature",
    ),
    "thoughts alone": (
        "anthropic",
        anthropic({"type": "thinking", "thinking": "Hm", "signature": "x"}),
        "thoughts alone",
    ),
    "no parts": ("gemini", {"contents": [{"role": "user", "parts": []}]}, "no parts"),
    "no response": (
        "gemini",
        {"contents": [{"role": "model", "parts": [{"functionCall": {"name": "a"}}]}]},
        "calls 'a' have no answer",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_providers_refuse_is_refused(case):
    """
    A test against a fake that takes anything would not find what ends a real run.
    """
    wire, body, text = REFUSED[case]
    with FakeLLM([Turn("One."), Turn("Two.")]) as llm:
        status, said = post(llm, PATHS[wire], body)
    with FakeLLM([Turn("One.")], strict=False) as lenient:
        taken, _ = post(lenient, PATHS[wire], body)

    assert (400, 200) == (status, taken)
    assert text in json.loads(said)["error"]["message"]
