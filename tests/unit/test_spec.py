"""
Tools without a Python signature: a schema that is given, and a handler.
"""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import json
import sys

from typing import Any

import pytest

from jsonschema import Draft202012Validator

from one_tool import entry_of, problems_of, run, values_of
from tooldecl import (
    DeclarationError,
    Retry,
    ToolContext,
    ToolSpec,
    ToolTable,
    meta_of,
    tool,
)
from tooldecl._gate import admit
from tooldecl._meta import ToolOptions
from tooldecl._strictjson import JSONLimits


def take(arguments: dict[str, Any]) -> Any:
    """
    Return the arguments.
    """
    return arguments


def spec(properties: Any = None, *, handler: Any = take, **options: Any) -> ToolSpec:
    """
    Make a tool from properties, or from a whole schema.
    """
    schema = options.pop("schema", {"type": "object", "properties": properties or {}})
    required = options.pop("required", None)
    if required is not None:
        schema["required"] = required
    given: dict[str, Any] = {"name": "spec", "description": "Do it."} | options

    return ToolSpec(input_schema=schema, handler=handler, **given)


def refused(make) -> str:
    """
    Return the text with which a spec is refused.
    """
    with pytest.raises(DeclarationError) as caught:
        make()

    return str(caught.value)


NUMBER = {"type": "integer"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {}, "required": ["z"]},
        {"type": "object", "required": ["z"]},
        {"type": "object", "properties": {"a": NUMBER}, "required": ["a", "z"]},
        {
            "type": "object",
            "properties": {"z": NUMBER},
            "allOf": [{"additionalProperties": False, "properties": {"a": NUMBER}}],
            "required": ["z"],
        },
        {
            "type": "object",
            "properties": {"a": NUMBER},
            "allOf": [{"required": ["z"]}],
            "anyOf": [{"properties": {"b": NUMBER}}],
        },
        {
            "type": "object",
            "$ref": "#/$defs/base",
            "$defs": {"base": {"properties": {"a": NUMBER}, "required": ["z"]}},
        },
    ],
)
def test_what_is_required_and_never_taken_is_refused(schema):
    """
    No call of it could ever pass, and a model would try for ever.
    """
    text = refused(lambda: spec(schema=schema))

    assert (
        "ToolSpec 'spec' cannot be called: its schema requires 'z', and takes no "
        "member of that name: name it in properties, or say something about "
        "additionalProperties."
    ) == text


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "required": ["z"], "additionalProperties": True},
        {"type": "object", "required": ["z"], "additionalProperties": NUMBER},
        {"type": "object", "required": ["z"], "patternProperties": {"^z": NUMBER}},
        {
            "type": "object",
            "required": ["z"],
            "properties": {"a": NUMBER},
            "allOf": [{"properties": {"z": NUMBER}}],
        },
        {
            "type": "object",
            "required": ["z"],
            "properties": {"a": NUMBER},
            "if": {"required": ["a"]},
            "then": {"properties": {"z": NUMBER}},
            "else": {"properties": {"z": NUMBER}},
        },
        {
            "type": "object",
            "required": ["z"],
            "properties": {"a": NUMBER},
            "dependentSchemas": {"z": {"properties": {"z": NUMBER}}},
        },
        {
            "type": "object",
            "properties": {"z": NUMBER},
            "anyOf": [
                {"required": ["z"]},
                {
                    "required": ["y"],
                    "properties": {"z": NUMBER},
                    "additionalProperties": False,
                },
            ],
        },
        {
            "type": "object",
            "required": ["z"],
            "$ref": "#/$defs/base",
            "$defs": {"base": {"properties": {"z": NUMBER}}},
        },
    ],
)
def test_what_some_part_of_a_schema_takes_may_be_required(schema):
    """
    A member may be named wherever a schema can name it.
    """
    assert 1 == run(spec(schema=schema), {"z": 1})["z"]


class TestDeclaring:
    """
    The same options and the same record as for any tool.
    """

    def test_it_takes_every_option_of_the_decorator(self):
        """
        TAB-04, TAB-08: inline and decorated tools answer from one record.
        """
        options = {field.name for field in dataclasses.fields(ToolOptions)}
        made = spec(timeout=0.3, retry=2, serial=True, sensitive=True, tags=["a"])

        assert options <= {field.name for field in dataclasses.fields(ToolSpec)}
        assert (0.3, Retry(attempts=2), True, True, ("a",)) == (
            made.meta.timeout,
            made.meta.retry,
            made.meta.serial,
            made.meta.sensitive,
            made.meta.tags,
        )
        assert made.meta is meta_of(made)
        assert "<ToolSpec spec>" == repr(made)

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            (
                {"timeout": "5s"},
                "ToolSpec 'spec': timeout takes seconds above 0, got '5s'.",
            ),
            ({"name": "a b"}, "ToolSpec 'a b': name takes 1 to 64 letters"),
            (
                {"description": " "},
                "ToolSpec 'spec': description takes a text that is not empty",
            ),
            (
                {"retry": -1},
                "ToolSpec 'spec': retry takes a Retry, a number of attempts from 1",
            ),
        ],
        ids=str,
    )
    def test_a_bad_option_is_refused_when_it_is_made(self, options, expected):
        """
        VAL-01, VAL-04: not at the build, and not at the first call.
        """
        assert refused(lambda: spec(**options)).startswith(expected)

    def test_an_unknown_option_is_pythons_own_error(self):
        """
        A misspelt option must not be ignored.
        """
        with pytest.raises(TypeError, match="timeuot"):
            spec(timeuot=5)

    def test_the_site_is_where_it_was_made(self):
        """
        R46: many specs may share one handler; that would not tell them apart.
        """
        made, line = spec(), sys._getframe().f_lineno
        helper = spec.__code__.co_firstlineno

        assert made.meta.ref.endswith("test_spec:take")
        assert made.meta.site.startswith("test_spec.py:")
        assert helper < int(made.meta.site.partition(":")[2]) < line
        copy = dataclasses.replace(made, name="other")
        assert ("other", f"test_spec.py:{line + 6}") == (copy.meta.name, copy.meta.site)

    @pytest.mark.parametrize("handler", [None, "name", 5, dict])
    def test_a_handler_is_a_function(self, handler):
        """
        A class would be made anew at each call.
        """
        kind = type(handler).__name__

        assert f"ToolSpec 'spec': handler takes a function, got {kind}." == (
            refused(lambda: spec(handler=handler))
        )

    def test_the_schema_is_copied(self):
        """
        DEC-11, R148: what the caller does to it afterwards changes nothing.
        """
        given = {"type": "object", "properties": {"a": dict(NUMBER)}}
        made = spec(schema=given)
        given["properties"]["a"]["type"] = "string"
        given["properties"].clear()

        assert {"a": NUMBER} == made.input_schema["properties"]
        with pytest.raises(TypeError, match="read-only"):
            made.input_schema["type"] = "array"
        assert "additionalProperties" not in given

    def test_without_the_package_it_says_how_to_get_it(self, monkeypatch):
        """
        The package comes with an extra; nothing else of tooldecl needs it.
        """
        monkeypatch.setitem(sys.modules, "jsonschema", None)

        assert (
            "ToolSpec 'spec': a tool with a JSON Schema of its own needs the package "
            "jsonschema. Install tooldecl[jsonschema]."
        ) == refused(spec)

    @pytest.mark.parametrize(
        ("schema", "reason"),
        [
            ([], "input_schema takes a mapping, got list."),
            ({"type": "object", "x": {1, 2}}, "input_schema is not JSON data."),
            ({"type": "object", "x": float("nan")}, "input_schema is not JSON data."),
            (
                {"type": "string"},
                'input_schema is refused: its top level has no "type": "object".',
            ),
            ({}, 'input_schema is refused: its top level has no "type": "object".'),
            (
                {"type": "OBJECT"},
                (
                    "input_schema is refused: at #/type it breaks the rule 'anyOf' of its "
                    "dialect."
                ),
            ),
            (
                {"type": "object", "properties": {"a": {"type": "int"}}},
                (
                    "input_schema is refused: at #/properties/a/type it breaks the rule "
                    "'anyOf' of its dialect."
                ),
            ),
            (
                {"type": "object", "properties": {"a": {"pattern": "("}}},
                (
                    "input_schema is refused: at #/properties/a/pattern it holds no regex "
                    "that can be read."
                ),
            ),
            (
                {"type": "object", "patternProperties": {"(": {}}},
                (
                    "input_schema is refused: at #/patternProperties it holds no regex that "
                    "can be read."
                ),
            ),
            (
                {
                    "$schema": "http://json-schema.org/draft-04/schema#",
                    "type": "object",
                },
                (
                    "input_schema is in a dialect that is not known here. Leave $schema out, "
                    "or use that of 2020-12."
                ),
            ),
            (
                {
                    "$schema": "http://json-schema.org/draft-07/schema#",
                    "type": "object",
                    "required": "a",
                },
                (
                    "input_schema is refused: at #/required it breaks the rule 'type' of its "
                    "dialect."
                ),
            ),
        ],
        ids=lambda value: json.dumps(value, default=str)[:60],
    )
    def test_what_is_no_schema_of_an_object_is_refused(self, schema, reason):
        """
        A schema that cannot be used must not wait for the first call.
        """
        assert f"ToolSpec 'spec': {reason}" == refused(lambda: spec(schema=schema))

    @pytest.mark.parametrize(
        ("ref", "reason"),
        [
            (
                "https://example.com/schema.json",
                (
                    "'https://example.com/schema.json' leads out of the schema, and nothing "
                    "is ever fetched"
                ),
            ),
            (
                "other.json#/a",
                "'other.json#/a' leads out of the schema, and nothing is ever fetched",
            ),
            ("#/$defs/b", "the reference '#/$defs/b' leads to nothing"),
            ("#/$defs/a/type/0", "the reference '#/$defs/a/type/0' leads to nothing"),
            ("#anchor", "the reference '#anchor' leads to nothing"),
        ],
    )
    def test_a_reference_stays_inside(self, ref, reason):
        """
        Checking arguments must never start a request, and never fail on a pointer.
        """
        schema = {
            "type": "object",
            "properties": {"x": {"$ref": ref}},
            "$defs": {"a": {"type": "integer"}},
        }

        assert f"ToolSpec 'spec': input_schema is refused: {reason}." == (
            refused(lambda: spec(schema=schema))
        )

    @pytest.mark.parametrize("key", ["$id", "$dynamicRef", "$recursiveRef"])
    def test_what_would_lead_elsewhere_is_refused(self, key):
        """
        These change what a reference means.
        """
        schema = {"type": "object", "properties": {"x": {key: "https://example.com/"}}}

        assert (
            f"ToolSpec 'spec': input_schema is refused: {key} is not supported, use $ref "
            "and $defs."
        ) == refused(lambda: spec(schema=schema))

    def test_a_reference_that_comes_back_to_itself_is_refused(self):
        """
        It would be followed for ever.
        """
        schema = {
            "type": "object",
            "properties": {"x": {"$ref": "#/$defs/a"}},
            "$defs": {
                "a": {"anyOf": [{"$ref": "#/$defs/b"}]},
                "b": {"not": {"$ref": "#/$defs/a"}},
            },
        }

        assert "comes back to itself." in refused(lambda: spec(schema=schema))

    def test_a_schema_too_deep_to_be_walked_is_refused(self):
        """
        A list of lists of lists, a thousand times, is nobody's schema.
        """
        schema: dict[str, Any] = {"type": "array"}
        for _ in range(700):
            schema = {"type": "array", "items": schema}
        deep = {"type": "object", "properties": {"x": schema}}

        assert "ToolSpec 'spec': input_schema is refused: it is nested too deep." == (
            refused(lambda: spec(schema=deep))
        )

    @pytest.mark.parametrize(("levels", "fits"), [(61, True), (62, False)])
    def test_how_deep_a_schema_may_be_does_not_hang_on_the_stack(self, levels, fits):
        """
        The same schema is taken or refused wherever in a program it is declared.
        """
        schema: dict[str, Any] = {"type": "array"}
        for _ in range(levels):
            schema = {"type": "array", "items": schema}
        if fits:
            assert "spec" == spec({"x": schema}).name
            return
        assert "nested too deep" in refused(lambda: spec({"x": schema}))

    def test_a_schema_that_holds_itself_is_refused_at_once(self):
        """
        It has no end, and being held twice must not double the work at each level.
        """
        schema: dict[str, Any] = {"type": "object"}
        schema["properties"] = {"left": schema, "right": schema}

        assert "nested too deep" in refused(lambda: spec(schema=schema))

    def test_a_schema_that_cannot_be_sent_is_refused(self):
        """
        Half of a surrogate pair is no text that a request can carry.
        """
        assert "ToolSpec 'spec': input_schema is not JSON data." == (
            refused(lambda: spec({"x": {"description": "\ud800"}}))
        )


class TestHandler:
    """
    How a handler is called.
    """

    def test_one_parameter_that_is_no_property_takes_them_all(self):
        """
        A proxy does not know the names; it gets the arguments as one dict.
        """
        assert {"a": 1} == run(spec({"a": NUMBER}), {"a": 1})

    def test_one_parameter_that_is_a_property_takes_that(self):
        """
        Then it is an argument like any other.
        """

        def handle(a: int) -> int:
            return a + 1

        assert 2 == run(spec({"a": NUMBER}, handler=handle, required=["a"]), {"a": 1})

    def test_several_parameters_take_them_by_name(self):
        """
        A handler written for this schema needs no unpacking.
        """

        def handle(a: int, b: int = 5, *, c: int = 6) -> list[int]:
            return [a, b, c]

        made = spec(
            {"a": NUMBER, "b": NUMBER, "c": NUMBER}, handler=handle, required=["a"]
        )

        assert [1, 5, 6] == run(made, {"a": 1})
        assert [1, 2, 3] == run(made, {"a": 1, "b": 2, "c": 3})

    def test_a_handler_of_anything_takes_them_by_name(self):
        """
        Names that are no Python names are fine then.
        """

        def handle(**kwargs: Any) -> Any:
            return kwargs

        made = spec(
            schema={
                "type": "object",
                "properties": {"a-b": NUMBER},
                "additionalProperties": True,
            },
            handler=handle,
        )

        assert {"a-b": 1, "c": [2]} == run(made, {"a-b": 1, "c": [2]})

    def test_the_context_is_filled_in(self):
        """
        The context apart, the rules are the same.
        """

        def whole(ctx: ToolContext, arguments: dict[str, Any]) -> Any:
            return ctx, arguments

        def single(a: int, *, ctx: ToolContext | None = None) -> Any:
            return ctx, a

        def placed(arguments, ctx: ToolContext, /, more: int = 1) -> Any:
            return ctx, arguments, more

        def nothing(ctx: ToolContext) -> Any:
            return ctx

        properties = {"a": NUMBER}

        assert ("c", {"a": 1}) == run(spec(properties, handler=whole), {"a": 1}, "c")
        assert ("c", 1) == run(
            spec(properties, handler=single, required=["a"]), {"a": 1}, "c"
        )
        assert ("c", {"a": 1}, 1) == run(
            spec(properties, handler=placed), {"a": 1}, "c"
        )
        assert "c" == run(spec(handler=nothing), {}, "c")

    def test_a_hint_that_cannot_be_read_is_no_matter(self):
        """
        A handler's hints are nobody's business, but for the context.
        """

        def handle(arguments: Nowhere, ctx: missing.ToolContext) -> Any:  # noqa: F821
            return ctx, arguments

        assert ("c", {}) == run(spec(handler=handle), {}, "c")

    def test_methods_partials_and_tools_are_handlers(self):
        """
        Whatever can be called can answer.
        """

        class Proxy:
            def forward(self, name: str, arguments: dict[str, Any]) -> Any:
                return name, arguments

            def anything(*args: Any, **kwargs: Any) -> Any:
                return kwargs

        @tool
        def double(a: int) -> int:
            """
            Double.
            """
            return 2 * a

        forward = functools.partial(Proxy().forward, "remote")
        anything = Proxy().anything

        assert ("remote", {"a": 1}) == run(
            spec({"a": NUMBER}, handler=forward), {"a": 1}
        )
        assert 2 == run(spec({"a": NUMBER}, handler=double, required=["a"]), {"a": 1})
        assert [1] == run(spec({"a": NUMBER}, handler=lambda x: [x["a"]]), {"a": 1})
        assert {"a": 1} == run(spec({"a": NUMBER}, handler=anything), {"a": 1})

    def test_an_async_handler_is_awaited(self):
        """
        Its colour is in the record, as for any tool.
        """

        async def handle(arguments: dict[str, Any]) -> Any:
            return arguments

        made = spec(handler=handle)

        assert (True, False) == (made.meta.is_async, spec().meta.is_async)
        assert {} == asyncio.run(run(made, {}))

    def test_the_body_may_change_what_it_is_given(self):
        """
        R145: the arguments that are logged or repeated are others.
        """
        table = ToolTable.assemble([spec({"a": {"type": "array"}})])
        admitted = admit(table, JSONLimits(), "spec", {"a": [1]})
        admitted.values["a"].append(2)

        assert {"a": [1]} == admitted.arguments

    @pytest.mark.parametrize(
        ("handler", "properties", "required", "reason"),
        [
            (
                lambda a, b: a,
                {"a": NUMBER, "b": NUMBER},
                ["a"],
                "its handler needs 'b', which the schema does not require",
            ),
            (
                lambda x, *, a: a,
                {"a": NUMBER},
                None,
                "its handler needs 'a', which the schema does not require",
            ),
            (
                lambda a: a,
                {"a": NUMBER, "b": NUMBER},
                ["a"],
                "its schema offers 'b', which the handler does not take",
            ),
            (
                lambda: None,
                {"a": NUMBER},
                None,
                "its schema offers 'a', which the handler does not take",
            ),
        ],
        ids=["optional", "beside the dict", "not taken", "nothing taken"],
    )
    def test_a_handler_that_some_call_would_break_is_refused(
        self, handler, properties, required, reason
    ):
        """
        R90: never a late TypeError: whatever the schema lets through can be given.
        """
        assert f"ToolSpec 'spec' cannot be called: {reason}." == refused(
            lambda: spec(properties, handler=handler, required=required)
        )

    def test_a_handler_of_names_cannot_take_any_name(self):
        """
        R90: an open schema needs a handler that is open as well.
        """
        schema = {"type": "object", "additionalProperties": {"type": "integer"}}

        assert (
            "ToolSpec 'spec' cannot be called: its schema takes members of any name, and "
            "its handler does not. Let the handler take the arguments as one dict, or "
            "**kwargs."
        ) == refused(lambda: spec(schema=schema, handler=lambda: None))
        assert {"x": 1} == run(spec(schema=schema), {"x": 1})

    def test_what_a_part_of_the_schema_requires_counts(self):
        """
        R90: `allOf` is the way to put schemas together.
        """
        schema = {
            "type": "object",
            "allOf": [{"$ref": "#/$defs/base"}],
            "$defs": {"base": {"properties": {"a": NUMBER}, "required": ["a"]}},
        }

        assert 1 == run(spec(schema=schema, handler=lambda a: a), {"a": 1})


def strict(schema: dict[str, Any], value: object) -> bool:
    """
    Tell whether the gate and the published schema let a value through, as one.
    """
    made = spec({"x": schema}, required=["x"])
    published = dict(entry_of(made).definition.input_schema)
    Draft202012Validator.check_schema(published)
    verdict = Draft202012Validator(json.loads(json.dumps(published))).is_valid(
        {"x": value}
    )
    try:
        values_of(made, {"x": value})
    except ValueError:
        assert not verdict
        return False
    assert verdict

    return True


BASE = {"properties": {"a": NUMBER}}
MORE = {"properties": {"b": NUMBER}}


class TestClosing:
    """
    Objects take what they name; what is published says so.
    """

    @pytest.mark.parametrize(
        ("schema", "good", "bad"),
        [
            ({"type": "object", **BASE}, {"a": 1}, {"a": 1, "z": 1}),
            ({"type": "object"}, {}, {"z": 1}),
            (BASE, {"a": 1}, {"z": 1}),
            ({"type": ["object", "null"], **BASE}, None, {"z": 1}),
            ({"type": "array", "items": BASE}, [{"a": 1}], [{"z": 1}]),
            ({"prefixItems": [BASE]}, [{"a": 1}], [{"z": 1}]),
            ({"anyOf": [BASE, {"type": "null"}]}, {"a": 1}, {"z": 1}),
            ({"type": "object", "anyOf": [BASE, MORE]}, {"a": 1}, {"a": 1, "b": 1}),
            (
                {"oneOf": [BASE | {"required": ["a"]}, MORE | {"required": ["b"]}]},
                {"b": 1},
                {"a": 1, "b": 1},
            ),
            ({"allOf": [BASE, MORE]}, {"a": 1, "b": 1}, {"a": 1, "z": 1}),
            ({"allOf": [BASE]}, {"a": 1}, {"z": 1}),
            ({**MORE, "allOf": [BASE]}, {"a": 1, "b": 1}, {"z": 1}),
            (
                {**BASE, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
                {"a": 1},
                {"a": 1, "b": 1},
            ),
            (
                {**BASE, "if": {"required": ["a"]}, "then": MORE},
                {"a": 1, "b": 1},
                {"b": 1},
            ),
            (
                {**BASE, "dependentSchemas": {"a": MORE}},
                {"a": 1, "b": 1},
                {"b": 1},
            ),
            ({"patternProperties": {"^x": NUMBER}}, {"x1": 1}, {"y": 1}),
            (
                {"properties": {"deep": {"type": "array", "items": BASE}}},
                {"deep": [{"a": 1}]},
                {"deep": [{"z": 1}]},
            ),
        ],
        ids=lambda value: json.dumps(value)[:70],
    )
    def test_an_object_takes_what_it_names(self, schema, good, bad):
        """
        R76: refused at every level, however the schema is put together.
        """
        assert strict(schema, good)
        assert not strict(schema, bad)

    @pytest.mark.parametrize(
        ("schema", "value"),
        [
            ({**BASE, "additionalProperties": True}, {"a": 1, "z": "x"}),
            ({**BASE, "additionalProperties": NUMBER}, {"a": 1, "z": 2}),
            ({**BASE, "unevaluatedProperties": True}, {"a": 1, "z": 2}),
            ({"allOf": [BASE, MORE | {"additionalProperties": True}]}, {"z": 1}),
            ({"type": "array", "items": {"additionalProperties": True}}, [{"z": 1}]),
            ({}, {"z": 1}),
            (True, {"z": 1}),
            ({"not": BASE | {"required": ["a"]}}, {"z": 1}),
            ({"type": "array", "contains": BASE}, [{"a": 1, "z": 1}]),
        ],
        ids=lambda value: json.dumps(value)[:70],
    )
    def test_what_says_that_it_is_open_is_open(self, schema, value):
        """
        R76: the author of a schema decides; and a question stays the same question.
        """
        assert strict(schema, value)

    def test_a_part_that_is_shared_is_closed_where_it_stands_alone(self):
        """
        R76: one definition may be a whole object here and a part of one there.
        """
        schema = {
            "type": "object",
            "properties": {
                "alone": {"$ref": "#/$defs/base"},
                "list": {"type": "array", "items": {"$ref": "#/$defs/base"}},
                "part": {"allOf": [{"$ref": "#/$defs/base"}, MORE]},
                "beside": {"$ref": "#/$defs/base", **MORE},
            },
            "$defs": {"base": {"type": "object", **BASE}},
        }
        made = spec(schema=schema)

        values_of(made, {"alone": {"a": 1}, "part": {"a": 1, "b": 1}})
        values_of(made, {"beside": {"a": 1, "b": 1}, "list": [{"a": 1}]})
        for bad in (
            {"alone": {"a": 1, "b": 1}},
            {"list": [{"b": 1}]},
            {"part": {"z": 1}},
            {"beside": {"z": 1}},
        ):
            assert 1 == len(problems_of(made, bad))

    def test_a_reference_may_lead_anywhere_inside(self):
        """
        Definitions stand where their author put them.
        """
        schema = {
            "type": "object",
            "properties": {
                "a/b": {"anyOf": [{"type": "null"}, {"type": "string"}]},
                "c": {"$ref": "#/properties/a~1b/anyOf/1"},
                "d": {"type": "array"},
            },
        }
        made = spec(schema=schema)

        assert {"$.c": "needs text, got an integer."} == problems_of(made, {"c": 1})
        assert {"$.d": "needs a list, got an integer."} == problems_of(made, {"d": 1})

    def test_recursion_works_and_is_closed(self):
        """
        R85: a tree goes as deep as it likes, and is closed all the way.
        """
        schema = {
            "type": "object",
            "properties": {
                "value": NUMBER,
                "kids": {"type": "array", "items": {"$ref": "#"}},
            },
        }
        made = spec(schema=schema)
        tree = {"value": 1, "kids": [{"value": 2, "kids": [{"value": 3}]}]}

        assert tree == run(made, tree)
        assert {"$.kids[0].z": "is unknown. Accepted: 'value', 'kids'."} == (
            problems_of(made, {"kids": [{"z": 1}]})
        )

    def test_older_dialects_are_brought_up_to_date(self):
        """
        Servers still publish them; the rules are the same for all.
        """
        schema = {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "$id": "https://example.com/tool",
            "type": "object",
            "properties": {
                "pair": {"type": "array", "items": [NUMBER, {"type": "string"}]},
                "rest": {"items": [NUMBER], "additionalItems": False},
                "node": {"$ref": "#/definitions/node"},
            },
            "dependencies": {"pair": ["node"], "node": {"required": ["pair"]}},
            "definitions": {"node": {"type": "object", **BASE}},
        }
        made = spec(schema=schema)

        assert "$schema" not in made.input_schema
        assert "$id" not in made.input_schema
        run(made, {"pair": [1, "a"], "node": {"a": 1}})
        assert {
            "$.pair[1]": "needs text, got an integer.",
            "$.rest": "has more items than it may have.",
            "$.node.z": "is unknown. Accepted: 'a'.",
        } == problems_of(made, {"pair": [1, 2], "rest": [1, 2], "node": {"z": 1}})
        assert "lacks a member that another one needs." in (
            problems_of(made, {"pair": [1, "a"]}).values()
        )


@pytest.mark.parametrize(
    ("schema", "value", "path", "text"),
    [
        (NUMBER, "1", "$.x", "needs an integer, got text."),
        (NUMBER, True, "$.x", "needs an integer, got true or false."),
        ({"type": ["string", "null"]}, 1, "$.x", "needs text or null, got an integer."),
        (
            {"type": "array"},
            "[1]",
            "$.x",
            "needs a list: this is a string, send the list itself.",
        ),
        ({**BASE, "required": ["a"]}, {}, "$.x.a", "is missing, and it is required."),
        (
            {"properties": {"path": {}}},
            {"pth": 1},
            "$.x.pth",
            "is unknown. Accepted: 'path'. Did you mean 'path'?",
        ),
        ({"allOf": [BASE, MORE]}, {"z": 1}, "$.x.z", "is unknown. Accepted: 'a', 'b'."),
        ({"enum": ["a", 1, None]}, "b", "$.x", 'needs one of "a", 1, null.'),
        ({"const": "a"}, 5, "$.x", 'needs one of "a", got an integer.'),
        ({"minimum": 1}, 0, "$.x", "must be at least 1."),
        ({"maximum": 1}, 2, "$.x", "must be at most 1."),
        ({"exclusiveMinimum": 1}, 1, "$.x", "must be above 1."),
        ({"exclusiveMaximum": 1}, 1, "$.x", "must be below 1."),
        ({"multipleOf": 2}, 1, "$.x", "must be a multiple of 2."),
        ({"minLength": 2}, "a", "$.x", "needs at least 2 characters."),
        ({"maxLength": 1}, "ab", "$.x", "takes at most 1 characters."),
        ({"pattern": "^a$"}, "b", "$.x", "must match the pattern ^a$"),
        ({"minItems": 1}, [], "$.x", "needs at least 1 items."),
        ({"maxItems": 1}, [1, 2], "$.x", "takes at most 1 items."),
        ({"uniqueItems": True}, [1, 1], "$.x", "takes no item twice."),
        ({"contains": NUMBER}, [], "$.x", "lacks an item that it has to have."),
        ({"not": NUMBER}, 1, "$.x", "has a form that is ruled out."),
        (False, 1, "$.x", "is not allowed here."),
        (
            {"propertyNames": {"maxLength": 1}, "additionalProperties": True},
            {"ab": 1},
            "$.x",
            "takes at most 1 characters.",
        ),
        (
            {"anyOf": [NUMBER, {"type": "string"}]},
            [],
            "$.x",
            "needs an integer or text, got a list.",
        ),
        (
            {"anyOf": [{"minimum": 5, **NUMBER}, {"type": "null"}]},
            1,
            "$.x",
            "must be at least 5.",
        ),
        (
            {"oneOf": [BASE | {"required": ["a"]}, {"type": "string"}]},
            {"a": "x"},
            "$.x.a",
            "needs an integer, got text.",
        ),
        (
            {"oneOf": [NUMBER, {"minimum": 0}]},
            1,
            "$.x",
            "fits more than one of the forms that exclude each other.",
        ),
        (
            {"type": "array", "items": NUMBER},
            [1, "a"],
            "$.x[1]",
            "needs an integer, got text.",
        ),
    ],
    ids=lambda value: json.dumps(value)[:50],
)
def test_problems_are_told_in_the_same_words(schema, value, path, text):
    """
    R76, R79: whoever checks the arguments, the model reads the same sentences.
    """
    assert {path: text} == problems_of(spec({"x": schema}), {"x": value})


def test_null_may_have_to_be_left_out():
    """
    R77: also for a schema that is given.
    """
    made = spec({"a": NUMBER, "b": NUMBER}, required=["b"])

    assert {
        "$.a": "needs an integer, not null: leave it out.",
        "$.b": "needs an integer, got null.",
    } == problems_of(made, {"a": None, "b": None})


def test_a_sensitive_spec_masks_free_keys():
    """
    The same rule for both kinds of tools.
    """
    free = {"type": "object", "additionalProperties": NUMBER}

    assert {'$.x["*"]': "needs an integer, got text."} == (
        problems_of(spec({"x": free}, sensitive=True), {"x": {"hunter2": "a"}})
    )


def test_both_kinds_stand_in_one_table():
    """
    TAB-10: both names are listed, and no handler leaks into what is shown.
    """

    @tool
    def decorated(a: int) -> int:
        """
        Do it.
        """
        return a

    table = ToolTable.assemble([decorated, spec()])

    assert ["decorated", "spec"] == list(table)
    assert {"type": "object", "properties": {}, "additionalProperties": False} == (
        table.entry("spec").definition.input_schema
    )


def test_names_by_pattern_alone_are_told_by_their_pattern():
    """
    The tool takes arguments, although it names none of them.
    """
    patterns = {"^x_": {"type": "integer"}, "^y_": {"type": "integer"}}
    made = spec(schema={"type": "object", "patternProperties": patterns})

    assert {
        "$.z": "is unknown: a name here must match the pattern ^x_ or ^y_"
    } == problems_of(made, {"z": 1})


def test_the_form_that_was_meant_is_told_by_its_mark():
    """
    A form whose constant is another one was not meant, however little it misses.
    """

    def form(kind: str, member: str) -> dict[str, Any]:
        members = {"kind": {"const": kind}, member: NUMBER}
        return {"type": "object", "properties": members, "required": [*members]}

    made = spec({"x": {"anyOf": [form("p1", "x"), form("p2", "y")]}})

    assert {
        "$.x.y": "is missing, and it is required.",
        "$.x.x": "is unknown. Accepted: 'kind', 'y'.",
    } == problems_of(made, {"x": {"kind": "p2", "x": 1}})


def test_a_context_that_is_given_by_its_place_hides_no_member():
    """
    A schema of somebody else may have a member of any name, also that of the parameter.
    """

    def handler(ctx: ToolContext, /, **arguments: Any) -> Any:
        return [ctx, arguments]

    made = spec({"ctx": NUMBER, "self": NUMBER}, handler=handler)

    assert ["here", {"ctx": 1, "self": 2}] == run(made, {"ctx": 1, "self": 2}, "here")
