"""
Words of others on a terminal, and schemas in one line.
"""

from __future__ import annotations

import json

import pytest

from tooldecl.cli._outline import outline, types_of
from tooldecl.cli._words import in_json, plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é \U0001f600", "plain é \U0001f600"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\tb\rc\x7f", r"a\tb\rc\x7f"),
        ("\x9b31m", r"\x9b31m"),
        ("\u202eback \u2066 \u200b \ufeff", r"\u202eback \u2066 \u200b \ufeff"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("\ud800", r"\ud800"),
        ("a\nb", r"a\nb"),
    ],
)
def test_what_is_not_to_be_seen_is_escaped(text, shown):
    """
    A terminal obeys some characters, and turns the line around for others.
    """
    assert shown == plain(text)


def test_ends_of_lines_may_stand():
    """
    A message of several lines is read as such.
    """
    assert "a\nb\\r" == plain("a\nb\r", lines=True)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_json_says_the_same_in_every_encoding(encoding):
    """
    An escape is another spelling of a character, and no other character.
    """
    value = {"é\u202e": ["\x9b", "\U0001f600", "\u2028", "\x7f", "\ud800", "a\nb"]}
    text = in_json(json.dumps(value, ensure_ascii=False, indent=2), encoding)

    assert value == json.loads(text)
    assert text.encode(encoding)
    assert not {"\u202e", "\x9b", "\u2028", "\x7f", "\ud800"} & set(text)


def of(parameters, output=None, **schema):
    """
    Write a definition with these properties.
    """
    shown = {"inputSchema": {"type": "object", "properties": parameters, **schema}}

    return shown if output is None else {**shown, "outputSchema": output}


@pytest.mark.parametrize(
    ("definition", "line"),
    [
        (of({}), "()"),
        (of({"a": {"type": "integer"}}, required=["a"]), "(a: integer)"),
        (of({"a": {"type": "integer"}}), "(a?: integer)"),
        (of({"a": {"type": "string", "default": "é"}}), '(a: string = "é")'),
        (of({"a": {"type": ["string", "null"]}}), "(a?: string | null)"),
        (of({"a": {"enum": ["x", 1, None]}}), '(a?: "x" | 1 | null)'),
        (of({"a": {"const": 1}}), "(a?: 1)"),
        (of({"a": {}}), "(a?: any)"),
        (of({"a": True}), "(a?: any)"),
        (of({"a": {"type": "array"}}), "(a?: array)"),
        (
            of({"a": {"type": "array", "items": {"type": "number"}}}),
            "(a?: array[number])",
        ),
        (of({"a": {"type": "object", "additionalProperties": False}}), "(a?: object)"),
        (of({"a": {"type": "string", "format": "date"}}), "(a?: date)"),
        (of({"a": {"$ref": "#/$defs/nowhere"}}), "(a?: any)"),
        (of({"a": {"$ref": "https://elsewhere"}}), "(a?: any)"),
        (
            of({"a": {"$ref": "#/$defs/a~1b"}}, **{"$defs": {"a/b": {"const": 1}}}),
            "(a?: 1)",
        ),
        (
            of({"a": {"oneOf": [{"type": "null"}, {"type": "null"}]}}),
            "(a?: null)",
        ),
        (of({}, output={"type": "object", "properties": {"b": {}}}), "() -> object"),
        (
            of({}, output={"type": "object", "properties": {"result": {"const": 1}}}),
            "() -> 1",
        ),
    ],
)
def test_a_schema_is_one_line(definition, line):
    """
    A table has room for one; a schema of one's own may hold anything.
    """
    assert line == outline(definition)


def test_a_schema_that_contains_itself_ends():
    """
    A tree of nodes is a schema like any other.
    """
    node = {"type": "array", "items": {"$ref": "#/$defs/node"}}
    tree = of({"a": {"$ref": "#/$defs/node"}}, **{"$defs": {"node": node}})
    loop = of({"a": {"$ref": "#/$defs/l"}}, **{"$defs": {"l": {"$ref": "#/$defs/l"}}})

    assert "..." in outline(tree)
    assert "(a?: any)" == outline(loop)


@pytest.mark.parametrize(
    ("node", "types"),
    [
        ({}, set()),
        ({"type": "integer"}, {"integer"}),
        (
            {"enum": ["a", 1, 1.5, True, None, [1], {}]},
            {"string", "integer", "number", "boolean", "null", "array", "object"},
        ),
        ({"const": "a"}, {"string"}),
        (
            {"anyOf": [{"type": "integer"}, {"oneOf": [{"type": "null"}]}]},
            {"integer", "null"},
        ),
    ],
)
def test_the_types_of_a_schema_are_known(node, types):
    """
    A word of the command line is text wherever text is one of them.
    """
    assert types == types_of(node, {})
