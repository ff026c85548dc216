"""
Any types and any arguments: what a schema offers, the gate lets through, and no more.
"""

from __future__ import annotations

import json

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from drawn import HINTS, KEYS, PAIRS, VALUES
from tooldecl import ToolSpec, ToolTable, tool
from tooldecl._gate import admit
from tooldecl._strictjson import JSONLimits
from tooldecl.exceptions import InvalidArgumentsError


LIMITS = JSONLimits()


def taking(hint: Any, **options: Any) -> ToolTable:
    """
    Make a table of one tool with one parameter of that type.
    """

    def function(x) -> Any:
        return x

    function.__annotations__["x"] = hint

    return ToolTable.assemble([tool(description="Do it.", **options)(function)])


def verdict(table: ToolTable, arguments: object) -> bool:
    """
    Tell whether the gate lets the arguments through; every refusal is in order.
    """
    problems = problems_with(table, arguments)
    for path, text in problems:
        assert path.startswith("$")
        assert 200 > len(path) + len(text)
        assert text.endswith((".", "?", "}")), text
        assert "None" not in text

    return not problems


def problems_with(table: ToolTable, arguments: object) -> tuple[tuple[str, str], ...]:
    """
    Return what is wrong with the arguments.
    """
    [name] = table
    try:
        admit(table, LIMITS, name, json.dumps(arguments))
    except InvalidArgumentsError as error:
        return error.problems

    return ()


@settings(max_examples=1_000, deadline=None)
@given(PAIRS)
def test_the_schema_and_the_gate_are_of_one_mind(pair):
    """
    R76, R79: a referee that knows nothing but the published schema judges the same.

    It takes a whole number written with a point for an integer, and compares 1 with 1.0;
    the gate tells these apart, as the documentation says, so they are left out.
    """
    hint, value = pair
    table = taking(hint)
    [entry] = table.entries()
    schema = json.loads(json.dumps(entry.definition.input_schema))
    Draft202012Validator.check_schema(schema)
    offered = Draft202012Validator(schema).is_valid({"x": value})
    taken = verdict(table, {"x": value})

    if "1.0" not in json.dumps(value) and "0.0" not in json.dumps(value):
        assert offered == taken
    assert offered or not taken


@settings(max_examples=300, deadline=None)
@given(PAIRS)
def test_repair_lets_through_what_was_let_through(pair):
    """
    R73, R74: it only adds, and what it put in place is valid without it.
    """
    hint, value = pair
    strict, repairing = taking(hint), taking(hint, coerce="repair")
    if verdict(strict, {"x": value}):
        admitted = admit(repairing, LIMITS, "function", {"x": value})
        assert {"x": value} == admitted.arguments
    elif verdict(repairing, {"x": value}):
        admitted = admit(repairing, LIMITS, "function", {"x": value})
        assert verdict(strict, admitted.arguments)


@settings(max_examples=200, deadline=None)
@given(PAIRS)
def test_a_given_schema_is_judged_like_a_declared_one(pair):
    """
    TAB-10: the schema of one tool, given to another, lets the same through.
    """

    def handle(arguments: dict[str, Any]) -> Any:
        return arguments

    hint, value = pair
    [entry] = taking(hint).entries()
    given_back = ToolSpec(
        name="spec",
        description="Do it.",
        input_schema=entry.definition.input_schema,
        handler=handle,
    )
    schema = json.loads(json.dumps(entry.definition.input_schema))
    offered = Draft202012Validator(schema).is_valid({"x": value})

    assert offered == verdict(ToolTable.assemble([given_back]), {"x": value})


@settings(max_examples=200, deadline=None)
@given(HINTS, st.dictionaries(KEYS, VALUES, max_size=4))
def test_a_sensitive_tool_shows_no_value(hint, arguments):
    """
    Whatever is wrong, the texts hold paths, rules and kinds.
    """
    marked = "hunter2"
    table = taking(hint, sensitive=True)
    problems = problems_with(table, {**arguments, "x": {marked: [marked]}})

    assert marked not in json.dumps([text for _, text in problems])
