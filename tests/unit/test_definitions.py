"""
Definitions as providers take them: plain data, fresh each time.
"""

from __future__ import annotations

import functools
import json
import operator

import pytest

from one_tool import entry_of
from sample_declarations import add, counted, fetch
from tooldecl import ToolTable, tool
from tooldecl.export._dialects import render


SCHEMA = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 2}},
    "required": ["x"],
    "additionalProperties": False,
}


def shown(*tools, format="openai", tags=None, exclude_tags=()):  # noqa: A002
    """
    Return the definitions of a table of *tools*.
    """
    return render(ToolTable.assemble(tools).entries(), format, tags, exclude_tags)


def tagged(name, *tags):
    """
    Declare a tool with tags.
    """

    def function() -> None: ...

    return tool(name=name, description="Do it.", tags=tags)(function)


def test_each_dialect_has_its_own_shape():
    """
    DEC-14: the same tool, with the same schema, in three shapes.
    """
    text = "Add two integers."

    assert [
        {
            "type": "function",
            "function": {"name": "add", "description": text, "parameters": SCHEMA},
        }
    ] == shown(add)
    assert [{"name": "add", "description": text, "input_schema": SCHEMA}] == (
        shown(add, format="anthropic")
    )
    assert [
        {
            "name": "add",
            "description": text,
            "inputSchema": SCHEMA,
            "outputSchema": {
                "type": "object",
                "properties": {"result": {"type": "integer"}},
                "required": ["result"],
            },
        }
    ] == shown(add, format="mcp")


def test_nothing_is_said_about_a_result_that_is_not_declared():
    """
    An inline tool declares none.
    """
    [definition] = shown(counted, format="mcp")

    assert "outputSchema" not in definition


def test_they_come_in_the_order_of_the_table():
    """
    Providers keep what they have seen for the same beginning of a request.
    """
    names = [d["name"] for d in shown(fetch, counted, add, format="anthropic")]

    assert ["fetch_page", "counted", "add"] == names


@pytest.mark.parametrize(
    ("dialect", "keys"),
    [
        ("openai", ("function", "parameters")),
        ("anthropic", ("input_schema",)),
        ("mcp", ("inputSchema",)),
    ],
)
def test_they_are_fresh_copies_of_plain_data(dialect, keys):
    """
    R145: what is done to one of them is not seen in the next.
    """
    table = ToolTable.assemble([add])
    for _ in range(100):
        [definition] = render(table.entries(), dialect, None, ())
        schema = functools.reduce(operator.getitem, keys, definition)
        assert SCHEMA == schema
        assert (dict, list) == (type(schema["properties"]), type(schema["required"]))
        schema["properties"].clear()
        schema["required"].append("z")
    json.dumps(definition)

    assert SCHEMA == entry_of(add).definition.input_schema


@pytest.mark.parametrize(
    ("tags", "exclude", "expected"),
    [
        (None, (), ["a", "b", "c"]),
        (["x"], (), ["a", "b"]),
        (["x", "y"], (), ["a", "b"]),
        (["y"], ["x"], []),
        (None, ["y"], ["a", "c"]),
        (["x"], ["y"], ["a"]),
        ([], (), []),
        (["unknown"], (), []),
        (iter(["x"]), iter(["y"]), ["a"]),
    ],
    ids=str,
)
def test_tags_select_what_is_shown(tags, exclude, expected):
    """
    Excluding wins, and a tool without tags is only shown where none are asked for.
    """
    tools = [tagged("a", "x"), tagged("b", "x", "y"), tagged("c")]
    definitions = shown(*tools, format="anthropic", tags=tags, exclude_tags=exclude)

    assert expected == [definition["name"] for definition in definitions]


@pytest.mark.parametrize("option", ["tags", "exclude_tags"])
def test_one_text_is_no_list_of_tags(option):
    """
    Its letters would be taken for tags.
    """
    with pytest.raises(TypeError) as caught:
        shown(add, **{option: "web"})

    assert f"{option} takes a list of texts, got one text." == str(caught.value)


def test_the_other_dialects_have_theirs():
    """
    The flat form of the responses API, strict mode, and Gemini's own word for a schema.
    """
    text, strict = "Add two integers.", {**SCHEMA, "required": ["x", "y"]}
    members = {
        "x": {"type": "integer"},
        "y": {"type": "integer", "description": "Default: 2."},
    }
    function = {"name": "add", "description": text}

    assert [
        {"type": "function", **function, "parameters": SCHEMA, "strict": False}
    ] == shown(add, format="openai-responses")
    assert [
        {
            "type": "function",
            "function": {
                **function,
                "parameters": {**strict, "properties": members},
                "strict": True,
            },
        }
    ] == shown(add, format="openai-strict")
    gemini = shown(add, format="gemini")
    assert SCHEMA == gemini[0]["parametersJsonSchema"]
    assert {"result"} == set(gemini[0]["responseJsonSchema"]["properties"])


@pytest.mark.parametrize("name", ["", "OpenAI", "claude", None])
def test_an_unknown_dialect_names_the_choices(name):
    """
    The message says what could have been written.
    """
    with pytest.raises(ValueError) as caught:
        shown(add, format=name)

    choices = (
        "'openai', 'openai-responses', 'openai-strict', 'anthropic', 'gemini', 'mcp'"
    )
    assert f"format takes one of {choices}, got {name!r}." == str(caught.value)


def test_none_excludes_nothing():
    """
    None is none for both kinds of tags.
    """
    assert shown(add, fetch) == shown(add, fetch, exclude_tags=None)
