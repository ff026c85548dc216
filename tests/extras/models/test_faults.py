"""
What goes wrong between a model and its provider, and what the run makes of it.
"""

from __future__ import annotations

import anthropic
import openai
import pytest

from google import genai

from tooldecl import ToolCall, ToolClient, Turn, tool
from tooldecl.exceptions import ModelFailedError
from tooldecl.testing import FakeLLM, FakeReply
from wires import ask, model_for, run


RUNS = []


@tool
def note(words: str) -> str:
    """Note some words."""
    RUNS.append(words)

    return words


CLIENT = ToolClient([note])

CALLING = Turn("I will.", [ToolCall("note", {"words": "a"}, "c1")])


REFUSED = {
    "chat": openai.BadRequestError,
    "responses": openai.BadRequestError,
    "anthropic": anthropic.BadRequestError,
    "gemini": genai.errors.ClientError,
}


def test_an_error_of_the_sdk_leaves_as_it_is(front, wire, stream):
    """
    Hosts know the errors of their SDK; the loop says how far the run had come.
    """
    with FakeLLM([CALLING, 400]) as llm, pytest.raises(ModelFailedError) as caught:
        run(front, CLIENT, model_for(wire, llm, stream=stream))

    assert REFUSED[wire] is type(caught.value.__cause__)
    assert ["a"] == RUNS == [result.value for result in caught.value.results]
    assert "tool" == caught.value.messages[-1]["role"]


@pytest.mark.parametrize("wire", ["chat", "responses", "anthropic"])
@pytest.mark.parametrize("status", [429, 500])
def test_what_passes_is_repeated_by_the_sdk(front, wire, stream, status):
    """
    The SDK repeats the request, and nothing of the tools is run twice.
    """
    with FakeLLM([CALLING, status, status, Turn("Done.")]) as llm:
        result = run(front, CLIENT, model_for(wire, llm, stream=stream))

    assert ("Done.", 2, 4) == (result.text, result.turns, len(llm.requests))
    assert ["a"] == RUNS


def test_gemini_repeats_what_its_client_is_told_to(front):
    """
    This SDK repeats nothing by itself; who wants it gives a client that does.
    """
    with FakeLLM([503, Turn("Done.")]) as llm:
        options = genai.types.HttpOptions(
            base_url=llm.url,
            retry_options=genai.types.HttpRetryOptions(attempts=2, initial_delay=0.01),
        )
        own = genai.Client(api_key="x", http_options=options)
        model = model_for("gemini", llm, client=own, base_url=None, api_key=None)
        turn = ask("sync", model)
        own.close()

    assert ("Done.", 2) == (turn.text, len(llm.requests))


def test_a_refusal_is_what_the_model_said(front, wire, stream):
    """
    It is the answer, and no call beside it is run.
    """
    refused = FakeReply(turn=Turn("I will not.", CALLING.calls), refused=True)
    with FakeLLM([refused]) as llm:
        result = run(front, CLIENT, model_for(wire, llm, stream=stream))

    assert ("answer", "I will not.") == (result.stop_reason, result.text)
    assert [] == RUNS


ENDINGS = {
    "chat": "content_filter",
    "responses": "content_filter",
    "anthropic": "refusal",
    "gemini": "SAFETY",
}


def test_a_provider_that_stops_a_turn_is_named(front, wire, stream):
    """
    An empty answer would look as if the model had nothing to say.
    """
    turn = FakeReply(turn=Turn(calls=CALLING.calls), ending=ENDINGS[wire])
    with FakeLLM([turn]) as llm:
        result = run(front, CLIENT, model_for(wire, llm, stream=stream))

    assert f"(The provider ended this turn: {ENDINGS[wire]}.)" == result.text
    assert [] == RUNS


BROKEN = {
    "responses": ("failed", "The provider gave no whole response: It broke."),
    "gemini": (
        "MALFORMED_FUNCTION_CALL",
        "The provider ended this turn: MALFORMED_FUNCTION_CALL.",
    ),
}


@pytest.mark.parametrize("wire", BROKEN)
def test_a_provider_that_says_that_it_failed_is_believed(front, wire, stream):
    """
    What it had made until then is no turn.
    """
    ending, text = BROKEN[wire]
    turn = FakeReply(turn=CALLING, ending=ending)
    with FakeLLM([turn]) as llm, pytest.raises(ModelFailedError) as caught:
        run(front, CLIENT, model_for(wire, llm, stream=stream))

    assert [] == RUNS
    assert (RuntimeError, text) == (
        type(caught.value.__cause__),
        str(caught.value.__cause__),
    )


def test_the_context_that_is_full_cuts_a_turn_off(front, stream):
    """
    Anthropic has two words for a length that is over.
    """
    turn = FakeReply(turn=CALLING, ending="model_context_window_exceeded")
    with FakeLLM([turn]) as llm:
        said = ask(front, model_for("anthropic", llm, stream=stream))

    assert said.truncated


def test_a_whole_answer_that_breaks_off_is_no_turn(front, wire):
    """
    Half of an answer does not parse, and the SDK says so after its repetitions.
    """
    script = [FakeReply(turn=CALLING, cut_after=60)] * 9
    with FakeLLM(script) as llm, pytest.raises(ModelFailedError):
        run(front, CLIENT, model_for(wire, llm))

    assert [] == RUNS
