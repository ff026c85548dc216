"""
What a model could not do is refused when it is made, not by the provider later.
"""

from __future__ import annotations

import pytest

from tooldecl.models import AnthropicModel, GeminiModel, OpenAIModel
from tooldecl.testing import FakeLLM
from wires import model_for


def made(wire, name):
    """
    Make a model of a name.
    """
    if wire in ("chat", "responses"):
        return OpenAIModel(name, api=wire, api_key="key")

    return {"anthropic": AnthropicModel, "gemini": GeminiModel}[wire](
        name, api_key="key"
    )


@pytest.mark.parametrize(
    ("name", "error"),
    [(None, TypeError), (5, TypeError), ("", ValueError), (" ", ValueError)],
)
def test_a_model_has_a_name(wire, name, error):
    """
    A setting that is not there is known before the first turn.
    """
    with pytest.raises(error) as caught:
        made(wire, name)

    assert f"model takes a name, got {name!r}." == str(caught.value)


@pytest.mark.parametrize("given", ["no", 1, None])
def test_to_stream_is_a_yes_or_a_no(wire, given):
    """
    The word "no" would mean yes.
    """
    with FakeLLM([]) as llm, pytest.raises(TypeError) as caught:
        model_for(wire, llm, stream=given)

    assert f"stream takes True or False, got {given!r}." == str(caught.value)


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_strict_is_a_yes_or_a_no(api):
    """
    As for a stream.
    """
    with pytest.raises(TypeError) as caught:
        OpenAIModel("m", api=api, api_key="key", strict="no")

    assert "strict takes True or False, got 'no'." == str(caught.value)


@pytest.mark.parametrize(
    ("length", "error"),
    [(-1, ValueError), (0, ValueError), ("x", TypeError), (True, TypeError)],
)
def test_a_turn_has_a_length(length, error):
    """
    The provider would refuse every turn.
    """
    with pytest.raises(error) as caught:
        AnthropicModel("m", api_key="key", max_tokens=length)

    assert f"max_tokens takes a whole number from 1, got {length!r}." == str(
        caught.value
    )


@pytest.mark.parametrize(
    ("wire", "option"),
    [("chat", "n"), ("gemini", "candidate_count"), ("gemini", "candidateCount")],
)
@pytest.mark.parametrize("count", [3, 0, True, "two", None])
def test_answers_that_nobody_reads_are_not_asked_for(wire, option, count):
    """
    They are paid for, and have no effect.
    """
    with FakeLLM([]) as llm:
        with pytest.raises(ValueError) as caught:
            model_for(wire, llm, options={option: count})
        model_for(wire, llm, options={option: 1}).close()

    assert (
        f"options takes {option}=1 alone, as only the first answer is read, "
        f"got {count!r}."
    ) == str(caught.value)
