"""
Strict mode: a schema is narrowed to it, or stays as it is; never is it widened.
"""

from __future__ import annotations

import logging

from enum import Enum
from typing import Annotated, Any, Literal

import pytest

from pydantic import BaseModel, Field

from tooldecl import ToolClient, tool
from tooldecl._jsonschema import NotStrictError, strict_form


class Colour(Enum):
    """
    Some colours.
    """

    RED = "red"
    BLUE = "blue"


class Circle(BaseModel):
    """
    A circle.
    """

    kind: Literal["circle"] = "circle"
    radius: float = 1.0


class Square(BaseModel):
    """
    A square.
    """

    kind: Literal["square"]
    side: Annotated[int, Field(ge=1)]


class Tree(BaseModel):
    """
    A tree.
    """

    name: str
    children: list[Tree] = []


def schema_of(function):
    """
    Return the schema of a function's arguments.
    """
    client = ToolClient([tool(description="Do it.")(function)])

    return client.definitions("anthropic")[0]["input_schema"]


def test_what_may_be_left_out_is_required_with_its_default_in_words():
    """
    A model in strict mode sends every member, so it has to know what leaving out meant.
    """

    def find(words: str, limit: Annotated[int, Field(description="How many.")] = 5): ...

    strict = strict_form(schema_of(find))

    assert ["words", "limit"] == strict["required"]
    assert {"type": "integer", "description": "How many. Default: 5."} == (
        strict["properties"]["limit"]
    )


def test_what_a_strict_schema_offers_the_gate_accepts():
    """
    The strict form is narrower than the tool, at every depth; nothing new is offered.
    """

    def draw(
        shape: Annotated[Circle | Square, Field(discriminator="kind")],
        colour: Colour,
        tree: Tree,
        note: str | None = None,
    ) -> str:
        return shape.kind

    client = ToolClient([tool(description="Draw it.")(draw)])
    strict = client.definitions("openai-strict")[0]["function"]
    kinds = strict["parameters"]["$defs"]
    offered = {
        "shape": {"kind": "circle", "radius": 2.5},
        "colour": "red",
        "tree": {"name": "a", "children": [{"name": "b", "children": []}]},
        "note": None,
    }

    assert strict["strict"] is True
    assert ["kind", "radius"] == kinds["Circle"]["required"]
    assert "anyOf" in strict["parameters"]["properties"]["shape"]
    assert "circle" == client.invoke("draw", offered).value


def free(data: dict[str, int]): ...
def anything(data: Any): ...
def pair(data: tuple[int, str]): ...
def short(data: Annotated[str, Field(max_length=5)]): ...
def untyped(data: list): ...


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (free, "an object of it takes members of any name"),
        (anything, "a part of it takes anything"),
        (pair, "strict mode has no maxItems, prefixItems"),
        (short, "strict mode has no maxLength"),
        (untyped, "a part of it takes anything"),
    ],
)
def test_what_has_no_strict_form_stays_as_it_is_with_a_note(function, reason, caplog):
    """
    Dropping a rule would offer what the gate refuses; so the schema is not touched.
    """
    client = ToolClient([tool(description="Do it.")(function)])
    with caplog.at_level(logging.INFO, logger="tooldecl"):
        shown = client.definitions("openai-strict")[0]["function"]

    plain = client.definitions("openai")[0]["function"]
    assert {**plain, "strict": False} == shown
    with pytest.raises(NotStrictError) as caught:
        strict_form(plain["parameters"])
    assert function is not pair or "prefixItems" in str(caught.value)
    assert function is pair or reason == str(caught.value)
    assert [
        f"The schema of tool {function.__name__!r} is not offered in strict mode: "
        f"{caught.value}."
    ] == caplog.messages


def test_depth_and_size_have_an_end():
    """
    Beyond what strict mode reads, a request with the schema would be refused as a whole.
    """
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(12):
        deep = {
            "type": "object",
            "properties": {"x": deep},
            "additionalProperties": False,
        }
    wide = {
        "type": "object",
        "properties": {f"x{n}": {"type": "string"} for n in range(5_001)},
        "additionalProperties": False,
    }
    for schema in (deep, wide, {"anyOf": []}):
        with pytest.raises(NotStrictError):
            strict_form(schema)
