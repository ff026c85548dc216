"""
Lists and objects that were sent as strings: taken for what was meant, if asked for.
"""

from __future__ import annotations

import json

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest

from pydantic import BaseModel, Field

from one_tool import problems_of, run, values_of
from tooldecl import ToolSpec, ToolTable, tool
from tooldecl._gate import admit
from tooldecl._strictjson import JSONLimits


class Item(BaseModel):
    """
    One item.
    """

    name: str
    tags: list[str] = []


class Cat(BaseModel):
    """
    A cat; its toys are text.
    """

    kind: Literal["cat"]
    toys: str = ""


class Dog(BaseModel):
    """
    A dog; its toys are a list.
    """

    kind: Literal["dog"]
    toys: list[str] = []


@dataclass
class Point:
    """
    A place.
    """

    x: int


def taking(hint: Any, coerce: Any = "repair") -> Any:
    """
    Declare a tool with one parameter.
    """

    def function(x) -> Any:
        return x

    function.__annotations__["x"] = hint

    return tool(description="Do it.", coerce=coerce)(function)


@pytest.mark.parametrize(
    ("hint", "sent", "seen"),
    [
        (list[int], "[1, 2]", [1, 2]),
        (list[int], " [] ", []),
        (dict[str, int], '{"a": 1}', {"a": 1}),
        (Item, '{"name": "a"}', Item(name="a")),
        (Point, '{"x": 1}', Point(1)),
        (list[int] | None, "[1]", [1]),
        (list[int] | dict[str, int], '{"a": 1}', {"a": 1}),
        (set[int], "[1]", {1}),
        (list[list[int]], "[[1], [2]]", [[1], [2]]),
        (list[list[int]], '["[1]", [2]]', [[1], [2]]),
        (list[list[int]], ["[1]", [2]], [[1], [2]]),
        (
            list[Item],
            ['{"name": "a", "tags": "[\\"b\\"]"}'],
            [Item(name="a", tags=["b"])],
        ),
        (dict[str, Item], {"k": '{"name": "a"}'}, {"k": Item(name="a")}),
        (tuple[int, list[int]], [1, "[2]"], (1, [2])),
    ],
    ids=repr,
)
def test_what_the_type_cannot_be_text_is_read(hint, sent, seen):
    """
    R74: driven by the declared type, at every depth, and instances come out.
    """
    assert seen == run(taking(hint), {"x": sent})
    assert ["$.x" in path for path in problems_of(taking(hint, "strict"), {"x": sent})]


@pytest.mark.parametrize("text", ["5", "007", "null", "true", "[1]", '{"a": 1}', ""])
@pytest.mark.parametrize(
    "hint",
    [str, str | None, str | list[int], str | dict[str, int], Any, object],
    ids=str,
)
def test_text_stays_text(hint, text):
    """
    R73: a value for a parameter that takes text is never read, whatever it looks like.
    """
    assert text == run(taking(hint), {"x": text})
    assert text == run(taking(hint, "strict"), {"x": text})


def test_text_inside_stays_text():
    """
    R73: also in lists, in models, and in the form that a mark tells.
    """
    pet = Annotated[Cat | Dog, Field(discriminator="kind")]

    assert ["[1]"] == run(taking(list[str]), {"x": '["[1]"]'})
    assert "[1]" == run(taking(pet), {"x": {"kind": "cat", "toys": "[1]"}}).toys
    assert ["a"] == run(taking(pet), {"x": {"kind": "dog", "toys": '["a"]'}}).toys


@pytest.mark.parametrize(
    ("hint", "sent", "path"),
    [
        (list[int], '[1,"x"]', "$.x[1]"),
        (list[int], "[1", "$.x"),
        (list[int], '{"a": 1}', "$.x"),
        (list[int], "1", "$.x"),
        (list[int], "null", "$.x"),
        (list[int], "[1] ", None),
        (list[int], "[1] and more", "$.x"),
        (dict[str, int], '{"a": 1, "a": 2}', "$.x"),
        (dict[str, float], '{"a": NaN}', "$.x"),
        (list[float], "[1e999]", "$.x"),
        (Item, '{"name": "a", "nam": 1}', "$.x.nam"),
        (list[int], "[" * 80 + "]" * 80, "$.x"),
        (int, "1", "$.x"),
        (bool, "true", "$.x"),
    ],
    ids=repr,
)
def test_what_does_not_fit_as_a_whole_is_refused(hint, sent, path):
    """
    R74: the inner text passes the same strict reader, and all of it has to be valid.
    """
    if path is None:
        assert [1] == run(taking(hint), {"x": sent})
        return
    assert [path] == list(problems_of(taking(hint), {"x": sent}))


def test_the_arguments_show_what_was_run():
    """
    R74: whoever approves or logs the call sees the list, and not the string.
    """
    table = ToolTable.assemble([taking(list[Item])])
    admitted = admit(
        table, JSONLimits(), "function", '{"x": "[{\\"name\\": \\"a\\"}]"}'
    )

    assert {"x": [{"name": "a"}]} == admitted.arguments
    assert {"x": [Item(name="a")]} == admitted.values


def test_what_fits_as_it_is_is_left_alone():
    """
    ARG-03, ARG-04: repair is a second attempt, made only where the first one fails.
    """
    assert {"x": ["[1]"]} == values_of(taking(list[str]), {"x": ["[1]"]})


def test_a_given_schema_is_repaired_by_its_own_types():
    """
    R74: the option means the same for a tool without a signature.
    """

    def handle(arguments: dict[str, Any]) -> Any:
        return arguments

    spec = ToolSpec(
        name="spec",
        description="Do it.",
        input_schema={
            "type": "object",
            "properties": {
                "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}},
                "note": {"type": ["string", "null"]},
                "free": {},
            },
            "$defs": {
                "row": {"type": "object", "properties": {"n": {"type": "integer"}}}
            },
        },
        handler=handle,
        coerce="repair",
    )
    sent = {"rows": ['{"n": 1}', {"n": 2}], "note": "[1]", "free": "[1]"}

    assert {"rows": [{"n": 1}, {"n": 2}], "note": "[1]", "free": "[1]"} == run(
        spec, sent
    )
    assert ["$.rows[0].n"] == list(problems_of(spec, {"rows": '[{"n": "x"}]'}))


def test_large_numbers_and_texts_survive():
    """
    ARG-05: what stands beside a repaired argument reaches the body unchanged.
    """

    @tool(description="Do it.", coerce="repair")
    def function(rows: list[int], text: str, number: int, half: float) -> list[object]:
        return [rows, text, number, half]

    sent = {"rows": "[1]", "text": "é\n☃", "number": 2**63, "half": 0.1}

    assert [[1], "é\n☃", 2**63, 0.1] == run(function, json.dumps(sent))
