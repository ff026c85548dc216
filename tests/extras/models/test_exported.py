"""
Exported definitions are what the providers' own packages take.
"""

from __future__ import annotations

import json
import warnings

from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import mcp_types
import pytest

from anthropic.types import ToolParam
from google.genai.types import FunctionDeclaration
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.responses import FunctionToolParam
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from typing_extensions import TypedDict

from tooldecl import ToolClient, tool


GOLDEN = Path(__file__).with_name("golden")


class Colour(Enum):
    """
    Some colours.
    """

    RED = "red"
    BLUE = "blue"


class Tree(BaseModel):
    """
    A tree of names.
    """

    name: str
    children: list[Tree] = []


class Box(TypedDict, total=False):
    """
    How large.
    """

    width: Annotated[int, Field(ge=1)]
    note: str


@tool
def plant(tree: Tree, colour: Colour = Colour.RED, box: Box | None = None) -> Tree:
    """Plant a tree.

    Args:
        tree: What to plant.
        colour: Of its leaves.
        box: What it grows in.
    """
    del colour, box

    return tree


@tool
def free(data: dict[str, Any], mode: Literal["a", 1] | None = None) -> str:
    """Take any data."""
    del mode

    return json.dumps(data)


@tool
def ping() -> None:
    """Do nothing, and take no arguments."""


CLIENT = ToolClient([plant, free, ping])

FORMATS = ["openai", "openai-responses", "openai-strict", "anthropic", "gemini", "mcp"]


def exactly(kind):
    """
    Make a check of a typed dict of an SDK that refuses what it does not know.
    """
    adapter = TypeAdapter(kind)

    def check(definition):
        taken = adapter.validate_python(definition)
        assert set(definition) == set(taken), set(definition) - set(taken)

    return check


def as_gemini(definition):
    """
    Read a declaration as the SDK does, which forbids what it does not know.
    """
    read = FunctionDeclaration.model_validate(definition)
    assert definition == read.model_dump(by_alias=True, exclude_none=True)


def as_mcp(definition):
    """
    Read a tool as the MCP SDK does, and find everything of it again.
    """

    class Tool(mcp_types.Tool):
        model_config = ConfigDict(extra="forbid")

    read = Tool.model_validate(definition)
    shown = read.model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert definition == shown


TAKES = {
    "openai": exactly(ChatCompletionFunctionToolParam),
    "openai-strict": exactly(ChatCompletionFunctionToolParam),
    "openai-responses": exactly(FunctionToolParam),
    "anthropic": exactly(ToolParam),
    "gemini": as_gemini,
    "mcp": as_mcp,
}


@pytest.mark.parametrize("format", FORMATS)
def test_the_definitions_are_the_kept_ones(format):  # noqa: A002
    """
    What models are shown is an interface: a change of it is seen before it is sent.
    """
    kept = json.loads((GOLDEN / f"{format}.json").read_text(encoding="utf-8"))

    assert kept == CLIENT.definitions(format)


@pytest.mark.parametrize("format", FORMATS)
def test_the_providers_own_types_take_them(format):  # noqa: A002
    """
    A member that an SDK does not know is dropped or refused, and the tool is another.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for definition in json.loads((GOLDEN / f"{format}.json").read_text("utf-8")):
            TAKES[format](definition)


@pytest.mark.parametrize("format", FORMATS)
def test_the_types_refuse_what_is_none(format):  # noqa: A002
    """
    A check that takes everything would prove nothing.
    """
    [definition, *_] = CLIENT.definitions(format)
    wrong = {**definition, "tooldecl": 1}
    with pytest.raises((ValueError, AssertionError)):
        TAKES[format](wrong)
    with pytest.raises((ValueError, AssertionError)):
        TAKES[format](dict.fromkeys(definition, 1))
