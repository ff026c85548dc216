"""
Every option of a model is seen on the wire, or refused.
"""

from __future__ import annotations

import asyncio
import threading

import anthropic
import openai
import pytest

from google import genai

from tooldecl import ModelRequest, ToolCall, ToolClient, ToolLoop, Turn, tool
from tooldecl.models import AnthropicModel, GeminiModel, OpenAIModel
from tooldecl.testing import FakeLLM, FakeReply
from wires import ask, model_for, run, said


@tool
def free(data: dict[str, int]) -> None:
    """Take anything."""


@tool
def add(a: int, b: int = 2) -> int:
    """Add two integers."""
    return a + b


CLIENT = ToolClient([add, free])

HI = ModelRequest(messages=[{"role": "user", "content": "Hi"}], tools=[])

KEYS = {
    "chat": ("authorization", "Bearer key"),
    "responses": ("authorization", "Bearer key"),
    "anthropic": ("authorization", "Bearer key"),
    "gemini": ("x-goog-api-key", "key"),
}


def asked(front, wire, **options):
    """
    Ask a model once, and return the one request that came of it.
    """
    with FakeLLM([Turn("Hi.")]) as llm:
        run(front, CLIENT, model_for(wire, llm, **options))
    [request] = llm.requests

    return request


def test_the_model_and_the_key_are_sent(front, wire):
    """
    Without one nothing is answered, without the other by somebody else.
    """
    request = asked(front, wire)
    header, value = KEYS[wire]

    assert value == request.headers[header]
    if wire == "gemini":
        assert "/models/model-1:generateContent" in request.path
    else:
        assert "model-1" == request.body["model"]


def test_a_stream_is_asked_for_where_it_is_wanted(front, wire, stream):
    """
    Who is billed for a stream reads one.
    """
    request = asked(front, wire, stream=stream)

    if wire == "gemini":
        assert stream == (":streamGenerateContent" in request.path)
    else:
        assert stream == request.body.get("stream", False)


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_strict_mode_is_asked_for_where_it_can_be(front, api):
    """
    What has no strict form is offered as it is, beside the others.
    """
    tools = asked(front, api, strict=True).body["tools"]
    shown = [one.get("function", one) for one in tools]

    assert {"add": True, "free": False} == {one["name"]: one["strict"] for one in shown}
    assert ["a", "b"] == shown[0]["parameters"]["required"]
    tools = asked(front, api).body["tools"]
    shown = [one.get("function", one) for one in tools]
    assert not any(one.get("strict") for one in shown)


PROVIDER_TOOLS = {
    "chat": {"type": "custom", "custom": {"name": "grep"}},
    "responses": {"type": "web_search"},
    "anthropic": {"type": "web_search_20250305", "name": "web_search"},
    "gemini": {"google_search": {}},
}


def test_the_providers_own_tools_are_offered_beside_ours(front, wire):
    """
    They are given in its own words, which change faster than ours.
    """
    given = PROVIDER_TOOLS[wire]
    tools = asked(front, wire, provider_tools=[given]).body["tools"]

    if wire == "gemini":
        assert 2 == len(tools)
        assert {"googleSearch": {}} in tools
    else:
        assert [3, given] == [len(tools), tools[-1]]


def test_other_options_go_to_the_provider_as_they_are(front, wire):
    """
    Each provider has more of them than we could name.
    """
    name, value = {
        "chat": ("temperature", 0.25),
        "responses": ("max_output_tokens", 7),
        "anthropic": ("stop_sequences", ["x"]),
        "gemini": ("temperature", 0.25),
    }[wire]
    body = asked(front, wire, options={name: value}).body

    assert value == body.get("generationConfig", body)[name]


OURS = {
    "chat": ["model", "messages", "tools", "stream"],
    "responses": ["model", "input", "tools", "stream"],
    "anthropic": ["model", "max_tokens", "messages", "system", "tools", "stream"],
    "gemini": ["tools", "system_instruction", "automaticFunctionCalling"],
}


def test_options_that_would_not_hold_are_refused(wire):
    """
    One that the model sets itself would be accepted and then ignored.
    """
    with FakeLLM([]) as llm:
        for name in OURS[wire]:
            with pytest.raises(ValueError) as caught:
                model_for(wire, llm, options={name: 1})
            assert (
                f"options takes what the model does not set itself, got {name}."
            ) == str(caught.value)


def test_an_option_that_the_sdk_does_not_know_is_its_error(front):
    """
    A word that is misspelt must not be dropped on the way.
    """
    with FakeLLM([Turn("Hi.")]) as llm, pytest.raises(TypeError, match="temprature"):
        ask(front, model_for("chat", llm, options={"temprature": 1}))


def test_how_long_a_turn_may_be_is_told(front):
    """
    This provider does not answer without.
    """
    assert 8192 == asked(front, "anthropic").body["max_tokens"]
    assert 5 == asked(front, "anthropic", max_tokens=5).body["max_tokens"]


def test_without_tools_none_are_sent(front, wire):
    """
    An empty list of tools is an error to some providers.
    """
    with FakeLLM([Turn("Hi.")]) as llm:
        ask(front, model_for(wire, llm))

    assert "tools" not in llm.requests[0].body


def test_what_the_system_says_is_put_where_the_provider_looks(front, wire):
    """
    Two of them want it beside the conversation, and once.
    """
    messages = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "Hi"},
        {"role": "system", "content": [{"type": "text", "text": "Be kind."}]},
    ]
    with FakeLLM([Turn("Hi.")]) as llm:
        ask(front, model_for(wire, llm), messages)
    body = llm.requests[0].body
    heard = said(wire, llm)

    if wire in ("chat", "responses"):
        assert messages == heard
    else:
        assert 1 == len(heard)
        told = body.get("system") or body["systemInstruction"]["parts"][0]["text"]
        assert "Be short.\n\nBe kind." == told


def test_parts_of_a_message_go_as_they_are(front, wire):
    """
    A picture has another form for each provider; its words are the caller's matter.
    """
    parts = {
        "chat": [{"type": "text", "text": "What is it?"}],
        "responses": [{"type": "input_text", "text": "What is it?"}],
        "anthropic": ["What is it?", {"type": "text", "text": "Say."}],
        "gemini": [
            {"type": "text", "text": "What is it?"},
            {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
        ],
    }[wire]
    with FakeLLM([Turn("Hi.")]) as llm:
        ask(front, model_for(wire, llm), [{"role": "user", "content": parts}])
    [message] = said(wire, llm)

    if wire == "gemini":
        picture = message["parts"][1]["inlineData"]
        assert {"text": "What is it?"} == message["parts"][0]
        assert {"image/png", "aGk="} == set(picture.values())
    elif wire == "anthropic":
        assert [{"type": "text", "text": "What is it?"}, parts[1]] == message["content"]
    else:
        assert parts == message["content"]


def test_words_after_the_results_stand_after_them(front):
    """
    Anthropic wants all results of a turn in one message, and first in it.
    """
    call = {"id": "c", "name": "add", "arguments": {}}
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "name": "add", "content": "3"},
        {"role": "assistant", "content": ""},
        {"role": "user", "content": "Go on."},
    ]
    with FakeLLM([Turn("Hi.")]) as llm:
        ask(front, model_for("anthropic", llm), messages)
    heard = said("anthropic", llm)

    assert ["user", "assistant", "user"] == [m["role"] for m in heard]
    assert ["tool_result", "text"] == [block["type"] for block in heard[2]["content"]]


def sdk_clients(wire, url, **options):
    """
    Make the caller's own clients of an SDK, for sync and for async code.
    """
    if wire == "anthropic":
        given = {"base_url": url, "api_key": "own", **options}
        return anthropic.Anthropic(**given), anthropic.AsyncAnthropic(**given)
    given = {"base_url": url, "api_key": "own", **options}

    return openai.OpenAI(**given), openai.AsyncOpenAI(**given)


@pytest.mark.parametrize("wire", ["chat", "responses", "anthropic"])
def test_a_client_of_the_callers_is_used_and_left_open(front, wire):
    """
    Proxies, retries and headers are set there; whoever made it closes it.
    """
    with FakeLLM([Turn("Hi."), Turn("Ho.")]) as llm:
        headers = {"x-mine": "yes"}
        own, aown = sdk_clients(wire, llm.url, default_headers=headers)
        options = {"base_url": None, "api_key": None}
        options |= {"client": own, "async_client": aown}
        model = model_for(wire, llm, **options)
        if front == "sync":
            with own:
                ask(front, model)
                turn = model.respond(HI)
        else:

            async def both():
                async with aown:
                    async with model:
                        await model.arespond(HI)
                    return await model.arespond(HI)

            turn = asyncio.run(both())

    assert "Ho." == turn.text
    assert ["yes", "yes"] == [r.headers["x-mine"] for r in llm.requests]


def test_geminis_client_of_the_callers_is_used_in_both_colours(front):
    """
    One of its clients has both.
    """
    with FakeLLM([Turn("Hi.")]) as llm:
        http = genai.types.HttpOptions(base_url=llm.url, headers={"x-mine": "yes"})
        own = genai.Client(api_key="own", http_options=http)
        model = GeminiModel("m", client=own)
        if front == "sync":
            turn = model.respond(HI)
        else:

            async def once():
                turn = await model.arespond(HI)
                await own.aio.aclose()
                return turn

            turn = asyncio.run(once())
        own.close()

    assert ("Hi.", "yes") == (turn.text, llm.requests[0].headers["x-mine"])


@pytest.mark.parametrize("wire", ["chat", "anthropic"])
def test_a_client_of_one_colour_is_asked_by_that_one_alone(wire):
    """
    The other colour has no client, and none is made up with other settings.
    """
    with FakeLLM([]) as llm:
        own, aown = sdk_clients(wire, llm.url)
        made = {"anthropic": AnthropicModel, "chat": OpenAIModel}[wire]
        with own, pytest.raises(TypeError) as caught:
            asyncio.run(made("m", client=own).arespond(HI))
        assert "give it async_client=... too, to ask it from async code" in str(
            caught.value
        )
        with pytest.raises(TypeError) as caught:
            made("m", async_client=aown).respond(HI)
        assert "give it client=... too, to ask it from sync code" in str(caught.value)
        asyncio.run(aown.close())


@pytest.mark.parametrize("wire", ["chat", "anthropic"])
def test_what_is_no_client_is_refused(wire):
    """
    A client of the other colour would fail in the middle of the first run.
    """
    with FakeLLM([]) as llm:
        own, aown = sdk_clients(wire, llm.url)
        made = {"anthropic": AnthropicModel, "chat": OpenAIModel}[wire]
        names = type(own).__name__, type(aown).__name__
        hint = "; that one goes to the option of the other colour."
        with own:
            for options, text in [
                ({"client": aown}, f"client takes a {names[0]}, got {names[1]}{hint}"),
                (
                    {"async_client": own},
                    f"async_client takes a {names[1]}, got {names[0]}{hint}",
                ),
                ({"client": 1}, f"client takes a {names[0]}, got int."),
            ]:
                with pytest.raises(TypeError) as caught:
                    made("m", **options)
                assert text == str(caught.value)
            for options in ({"base_url": "http://x"}, {"api_key": "x"}):
                with pytest.raises(
                    ValueError, match="has its own base_url and api_key"
                ):
                    made("m", client=own, **options)
        asyncio.run(aown.close())


def test_geminis_client_is_checked_too():
    """
    As the others are.
    """
    with pytest.raises(TypeError, match=r"client takes a Client, got int\."):
        GeminiModel("m", client=1)
    with genai.Client(api_key="x") as own, pytest.raises(ValueError, match="its own"):
        GeminiModel("m", client=own, api_key="y")


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (
            {"on_text": print},
            ValueError,
            "on_text is told of the pieces of a stream: give stream=True.",
        ),
        (
            {"on_text": 1, "stream": True},
            TypeError,
            "on_text takes a callable that waits for nothing.",
        ),
        (
            {"on_text": asyncio.sleep, "stream": True},
            TypeError,
            "on_text takes a callable that waits for nothing.",
        ),
    ],
)
def test_who_cannot_be_told_of_text_is_refused(wire, options, error, text):
    """
    It would be called never, or its answer never awaited.
    """
    with FakeLLM([]) as llm, pytest.raises(error) as caught:
        model_for(wire, llm, **options)

    assert text == str(caught.value)


def test_an_unknown_api_is_refused():
    """
    The message says what could have been written.
    """
    with pytest.raises(ValueError) as caught:
        OpenAIModel("m", api="completions", api_key="x")

    assert "api takes 'chat' or 'responses', got 'completions'." == str(caught.value)


@pytest.mark.parametrize("wire", ["chat", "responses", "gemini"])
def test_a_missing_key_is_known_before_the_first_turn(wire, monkeypatch):
    """
    It is the SDK's own error, where the model is made; Anthropic's SDK looks for a key
    when it sends.
    """
    for name in ("OPENAI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with FakeLLM([]) as llm, pytest.raises((openai.OpenAIError, ValueError)):
        model_for(wire, llm, api_key=None)


def test_one_model_serves_one_loop_after_the_other(wire, stream):
    """
    An SDK's async client belongs to the event loop that it was first used in.
    """
    with FakeLLM([Turn(str(n)) for n in range(4)]) as llm:
        model = model_for(wire, llm, stream=stream)

        async def once():
            turn = await model.arespond(HI)
            await model.aclose()
            return turn.text

        texts = [asyncio.run(once()) for _ in range(3)]
        texts.append(model.respond(HI).text)
        model.close()

    assert ["0", "1", "2", "3"] == texts


def test_one_model_serves_many_threads_and_loops_at_once(wire):
    """
    Runs share a model as they share a client; each gets the answer to its question.
    """
    count = 8
    start = threading.Barrier(count)
    got = []
    with FakeLLM([Turn("Hi.")] * count * 2) as llm:
        model = model_for(wire, llm)

        async def several():
            try:
                return await asyncio.gather(model.arespond(HI), model.arespond(HI))
            finally:
                await model.aclose()

        def ask_both(number):
            start.wait(30)
            if number % 2:
                got.extend(asyncio.run(several()))
            else:
                got.extend([model.respond(HI), model.respond(HI)])

        threads = [threading.Thread(target=ask_both, args=[n]) for n in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        model.close()

    assert ["Hi."] * count * 2 == [turn.text for turn in got]


def test_a_model_can_be_closed_twice_and_used_again(front, wire):
    """
    Closing gives connections back; it is no end.
    """
    with FakeLLM([Turn("1"), Turn("2")]) as llm:
        model = model_for(wire, llm)
        texts = [ask(front, model).text, ask(front, model).text]
        model.close()
        model.close()

    assert ["1", "2"] == texts


def test_a_model_says_what_it_is():
    """
    It is shown in logs, and never with its key.
    """
    models = [
        OpenAIModel("m", api_key="secret"),
        OpenAIModel("m", api="responses", api_key="secret"),
        AnthropicModel("m", api_key="secret"),
        GeminiModel("m", api_key="secret"),
    ]

    assert [
        "<OpenAIModel 'm' by chat>",
        "<OpenAIModel 'm' by responses>",
        "<AnthropicModel 'm'>",
        "<GeminiModel 'm'>",
    ] == [repr(model) for model in models]
    for model in models:
        model.close()


def test_a_run_that_is_cancelled_leaves_its_request(wire):
    """
    A cancelled run must not wait for an answer that nobody wants any more.
    """
    held = FakeReply(turn=Turn("A b c d e f."), until=threading.Event())
    with FakeLLM([held]) as llm:

        async def cancelled():
            begun = asyncio.Event()
            model = model_for(wire, llm, stream=True, on_text=lambda piece: begun.set())
            async with model:
                task = asyncio.create_task(ToolLoop(CLIENT, model).arun("Go."))
                await begun.wait()
                task.cancel()
                [ended] = await asyncio.gather(task, return_exceptions=True)
                return ended

        assert isinstance(asyncio.run(cancelled()), asyncio.CancelledError)
        assert not held.until.is_set()
    assert 1 == len(llm.requests)


def test_a_run_that_is_stopped_asks_no_more(front, wire, stream):
    """
    What the model said is kept, and its calls are answered as cancelled.
    """
    stop = threading.Event()
    calls = [ToolCall("add", {"a": 1}, "c1")]

    @tool
    def halt() -> str:
        """Stop the run."""
        stop.set()
        return "stopped"

    script = [Turn("I stop.", [ToolCall("halt"), *calls]), Turn("Never.")]
    with FakeLLM(script) as llm:
        model = model_for(wire, llm, stream=stream)
        result = run(front, CLIENT.adding(halt), model, stop=stop)

    assert "cancelled" == result.stop_reason
    assert ["ok", "cancelled"] == [one.status for one in result.results]
    assert 1 == len(llm.requests)
