"""
Any types and any arguments: what a schema offers, the gate lets through, and no more.
"""

from __future__ import annotations

import enum
import json

from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Optional, Union, get_args, get_origin

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel
from typing_extensions import TypedDict

from tooldecl import ToolSpec, ToolTable, tool
from tooldecl._gate import admit
from tooldecl._strictjson import JSONLimits
from tooldecl.exceptions import InvalidArgumentsError


class Drink(enum.Enum):
    """
    What there is to drink.
    """

    TEA = "a"
    COFFEE = "b"


class Size(enum.IntEnum):
    """
    How much of it.
    """

    SMALL = 1
    LARGE = 2


class Item(BaseModel):
    """
    An item.
    """

    a: int
    b: list[str] = []


@dataclass
class Point:
    """
    A place.
    """

    a: float
    c: bool | None = None


class Options(TypedDict, total=False):
    """
    What may be set.
    """

    b: str


class Node(BaseModel):
    """
    A tree.
    """

    a: int
    kids: list[Node] = []


LEAVES = [int, float, bool, str, None, Drink, Size, Item, Point, Options, Node, Any]
LEAVES += [Literal[1, "a"], Literal["a"], Literal[True, 2], dict[str, Any], list[Any]]

HINTS = st.sampled_from(LEAVES) | st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.one_of(
        inner.map(lambda hint: list[hint]),
        inner.map(lambda hint: dict[str, hint]),
        inner.map(lambda hint: Optional[hint]),  # noqa: UP045 (None is one of them)
        st.tuples(inner, inner).map(lambda pair: tuple[pair]),
        st.tuples(inner, inner).map(lambda pair: Optional[pair[0]] | pair[1]),  # noqa: UP045
    ),
    max_leaves=4,
)

KEYS = st.sampled_from(["a", "b", "c", "kids", "x", "zz", "a b", ""])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.0, 1.0, 1.5]),
    st.sampled_from(["", "a", "b", "1", "[1]", '{"a": 1}', "[", '["a"]', "null"]),
)
ODD_CHOICES = st.sampled_from([True, False, 1, 2, 1.0, "1", None])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=6,
)

LIMITS = JSONLimits()

MEMBERS = {
    Item: {"a": int, "b": list[str]},
    Point: {"a": float, "c": bool | None},
    Options: {"b": str},
    Node: {"a": int, "kids": list[Node]},
}


@st.composite
def near(draw, hint, depth=0):
    """
    Draw a value that fits a type, or nearly: with another kind, key or a string instead.
    """
    if depth > 3 or draw(st.integers(0, 12)) == 0:
        return draw(VALUES)
    value = draw(fitting(hint, depth + 1))
    if draw(st.integers(0, 12)) == 0:
        return json.dumps(value)

    return value


def fitting(hint, depth):
    """
    Return the strategy for values of a type.
    """
    args = get_args(hint)
    if hint in MEMBERS:
        known = {key: near(kind, depth) for key, kind in MEMBERS[hint].items()}
        return st.fixed_dictionaries({}, optional=known | {"zz": st.just(1)})
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return st.sampled_from([member.value for member in hint]) | ODD_CHOICES
    if get_origin(hint) is Literal:
        return st.sampled_from(args) | ODD_CHOICES
    if get_origin(hint) is list:
        return st.lists(near(args[0], depth), max_size=3)
    if get_origin(hint) is dict:
        return st.dictionaries(KEYS, near(args[1], depth), max_size=3)
    if get_origin(hint) is tuple:
        return st.tuples(*(near(arg, depth) for arg in args)).map(list)
    if get_origin(hint) in (Union, UnionType):
        return st.one_of(*(near(arg, depth) for arg in args))

    return SCALARS if hint in (int, float, bool, str, NoneType) else VALUES


PAIRS = HINTS.flatmap(lambda hint: st.tuples(st.just(hint), near(hint)))


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
