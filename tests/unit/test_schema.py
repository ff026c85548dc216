"""
The schema of a function: what a model is shown, which is what the gate lets through.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import json
import pathlib
import sys
import uuid
import warnings

from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
)
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    Optional,
    TypeVar,
    Union,
)

import pytest

from jsonschema import Draft202012Validator
from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
)
from pydantic.dataclasses import dataclass as pydantic_dataclass
from typing_extensions import TypeAliasType, TypedDict

from one_tool import entry_of, problems_of, properties_of, run, schema_of, values_of
from tooldecl import tool
from tooldecl.exceptions import UnsupportedSignatureError


class Drink(enum.Enum):
    """
    What there is to drink.
    """

    TEA = "tea"
    COFFEE = "coffee"


class Size(enum.IntEnum):
    """
    How much of it.
    """

    SMALL = 1
    LARGE = 2


class Item(BaseModel):
    """
    One item.
    """

    name: str
    price: float = 1.0


@dataclasses.dataclass
class Point:
    """
    A place.
    """

    x: int
    y: int = 0


class Options(TypedDict, total=False):
    """
    What may be set.
    """

    depth: int


class Pair(NamedTuple):
    """
    Two things.
    """

    left: int
    right: str


class Node(BaseModel):
    """
    A tree.
    """

    value: int
    kids: list[Node] = []


class Left(BaseModel):
    """
    One half of a pair that knows itself.
    """

    right: Right | None = None


class Right(BaseModel):
    """
    The other half.
    """

    left: Left | None = None


class Broken(BaseModel):
    """
    A model whose own hints cannot be read.
    """

    x: "Nowhere"  # noqa: F821, UP037


Circle = list["Circle"]
Nested = TypeAliasType("Nested", "list[Nested] | int")


class Deep(BaseModel):
    """
    A field that is filled from inside of a member.
    """

    x: int = Field(validation_alias=AliasPath("y", "z"))


class Renamed(BaseModel):
    """
    A field of several names.
    """

    x: int = Field(validation_alias=AliasChoices(AliasPath("y", "z"), "w"))


class Span(enum.Enum):
    """
    Values that no JSON is equal to.
    """

    SHORT = (1, 2)


@dataclasses.dataclass
class Counted:
    """
    A field that no caller can fill.
    """

    a: int
    b: int = dataclasses.field(init=False, default=3)


@pydantic_dataclass
class CountedToo:
    """
    The same, checked.
    """

    a: int
    b: int = dataclasses.field(init=False, default=3)


T = TypeVar("T")


class Box(BaseModel, Generic[T]):
    """
    A box of something.
    """

    inside: T


def described(function: Any, **options: Any) -> Any:
    """
    Declare a function without a docstring.
    """
    return tool(description="Do it.", **options)(function)


def schema_for(hint: Any, *default: Any) -> dict[str, Any]:
    """
    Return the schema of a parameter of one type, references left in place.
    """

    def function(x) -> None: ...

    function.__annotations__["x"] = hint
    function.__defaults__ = default or None
    schema = schema_of(described(function))
    Draft202012Validator.check_schema(schema)
    json.dumps(schema, allow_nan=False)

    return schema


def property_for(hint: Any, *default: Any) -> dict[str, Any]:
    """
    Return the property of a parameter of one type.
    """
    return dict(schema_for(hint, *default)["properties"]["x"])


def taking(hint: Any) -> Any:
    """
    Declare a tool with one parameter.
    """

    def function(x) -> Any:
        return x

    function.__annotations__["x"] = hint

    return described(function)


class TestTypes:
    """
    Types of parameters, and what they become.
    """

    def test_a_tool_without_parameters_takes_an_empty_closed_object(self):
        """
        An open object invites models to make arguments up.
        """

        @described
        def function() -> None: ...

        assert {"type": "object", "properties": {}, "additionalProperties": False} == (
            schema_of(function)
        )

    def test_three_spellings_of_optional_are_one(self):
        """
        R81: the newer spelling is no other type.
        """
        expected = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}

        assert expected == property_for(str | None, None)
        assert expected == property_for(Optional[str], None)  # noqa: UP045
        assert expected == property_for(Union[None, str], None)  # noqa: UP007

    def test_a_default_makes_a_parameter_optional(self):
        """
        R82, DEC-01, DEC-03: it is in the schema, not required, and the body's own.
        """

        @described
        def function(q: str = "", n: int = 10) -> list[object]:
            return [q, n]

        schema = schema_of(function)

        assert "required" not in schema
        assert {
            "q": {"type": "string", "default": ""},
            "n": {"type": "integer", "default": 10},
        } == schema["properties"]
        assert ["", 10] == run(function, {})
        assert ["", 5] == run(function, {"n": 5})

    def test_only_parameters_without_a_default_are_required(self):
        """
        DEC-03: the other one is still a property; DEC-02: also beside a context.
        """

        @described
        def function(city: str, days: int = 2) -> list[object]:
            return [city, days]

        assert ["city"] == schema_of(function)["required"]
        assert ["city", "days"] == list(properties_of(function))
        assert ["x", 2] == run(function, {"city": "x"})

    def test_a_default_is_the_functions_own_object(self):
        """
        DEC-01: a default is neither copied nor checked: it need not be of the type.
        """
        own = [object()]

        @described
        def function(x: list[int] = own, y: int = "none") -> list[object]:
            return [x, y]

        assert own is run(function, {})[0]
        assert [[1], "none"] == run(function, {"x": [1]})
        assert {} == values_of(function, {})

    def test_fields_as_defaults_are_read(self):
        """
        DEC-01: `= Field(...)` is widespread; the body must not be given the field.
        """

        @described
        def function(
            a: int = Field(3, description="A.", ge=1),
            b: list[int] = Field(default_factory=list),  # noqa: B008 (what is tested)
            c: int = Field(description="C."),
            d: Annotated[int, Field(default=4)] = 5,
            e: Annotated[int, Field(validate_default=True)] = 6,
        ) -> list[object]:
            return [a, b, c, d, e]

        assert ["c"] == schema_of(function)["required"]
        assert {"type": "integer", "description": "A.", "default": 3, "minimum": 1} == (
            properties_of(function)["a"]
        )
        assert 5 == properties_of(function)["d"]["default"]
        assert [3, [], 1, 5, 6] == run(function, {"c": 1})

    def test_choices_are_listed(self):
        """
        R84: also inside of other types, with the description beside them.
        """
        drinks = Literal["tea", "coffee"]
        listed = {"enum": ["tea", "coffee"], "type": "string"}

        assert listed == property_for(drinks)
        assert {"type": "array", "items": listed} == property_for(list[drinks])
        assert {"anyOf": [listed, {"type": "null"}], "description": "What."} == (
            property_for(Annotated[drinks | None, Field(description="What.")])
        )

    def test_members_of_an_enum_are_listed(self):
        """
        R80: by their values, under their own name.
        """
        schema = schema_for(Drink)

        assert {"$ref": "#/$defs/Drink"} == schema["properties"]["x"]
        assert {
            "enum": ["tea", "coffee"],
            "type": "string",
            "description": "What there is to drink.",
        } == schema["$defs"]["Drink"]

    def test_limits_are_published(self):
        """
        R86: a limit that is enforced has to be known to the model.
        """
        assert {"type": "integer", "minimum": 1, "maximum": 100} == (
            property_for(Annotated[int, Field(ge=1, le=100)])
        )
        assert {"type": "string", "pattern": "^[a-z]+$"} == (
            property_for(Annotated[str, Field(pattern="^[a-z]+$")])
        )
        assert (
            0.5
            == property_for(
                Annotated[decimal.Decimal, Field(ge=decimal.Decimal("0.5"))]
            )["anyOf"][0]["minimum"]
        )

    def test_items_are_described_at_every_depth(self):
        """
        R87: a list of anything is not a list of text.
        """
        item = {"$ref": "#/$defs/Item"}

        assert {"type": "array", "items": {"type": "integer"}} == property_for(
            list[int]
        )
        assert {"type": "array", "items": item} == property_for(list[Item])
        assert {
            "type": "object",
            "additionalProperties": {"type": "array", "items": item},
        } == property_for(dict[str, list[Item]])
        assert [{"type": "integer"}, {"type": "string"}] == (
            property_for(tuple[int, str])["prefixItems"]
        )
        assert {"type": "array", "items": {"type": "string"}, "uniqueItems": True} == (
            property_for(set[str])
        )

    @pytest.mark.parametrize(
        ("hint", "value"),
        [
            (Node, {"value": 1, "kids": [{"value": 2, "kids": [{"value": 3}]}]}),
            (Left, {"right": {"left": {"right": {"left": None}}}}),
            (Nested, [1, [2, [3, []]]]),
            (Box[Node], {"inside": {"value": 1}}),
        ],
        ids=["tree", "mutual", "alias", "generic"],
    )
    def test_types_that_hold_themselves_keep_their_references(self, hint, value):
        """
        R85: three levels go there and back; nothing is written out for ever.
        """

        @described
        def function(x: hint) -> object:
            return x

        assert "$ref" in json.dumps(schema_of(function))
        Draft202012Validator(schema_of(function)).validate({"x": value})
        seen = run(function, {"x": value})
        again = seen.model_dump(exclude_unset=True) if hint is not Nested else seen
        assert value == again

    def test_the_body_gets_instances_of_the_declared_types(self):
        """
        R78: at every depth, so that attributes can be read on live calls too.
        """

        @described
        def function(
            a: Item,
            b: list[Point],
            c: Options,
            d: dict[str, Item],
            e: Point | None,
            f: Pair,
            g: dt.date,
            h: set[Drink],
        ) -> dict[str, object]:
            return dict(locals())

        sent = {
            "a": {"name": "a"},
            "b": [{"x": 1}],
            "c": {"depth": 1},
            "d": {"k": {"name": "b"}},
            "e": {"x": 2},
            "f": [1, "r"],
            "g": "2024-12-31",
            "h": ["tea"],
        }

        assert {
            "a": Item(name="a"),
            "b": [Point(1)],
            "c": {"depth": 1},
            "d": {"k": Item(name="b")},
            "e": Point(2),
            "f": Pair(1, "r"),
            "g": dt.date(2024, 12, 31),
            "h": {Drink.TEA},
        } == run(function, sent)

    def test_every_object_is_closed(self):
        """
        R76: models, dataclasses, typed dicts, also those that say they are open.
        """

        class Open(BaseModel):
            model_config = ConfigDict(extra="allow")

            item: Item

        class Empty(BaseModel):
            pass

        @described
        def function(
            a: Open,
            b: Point,
            c: Options,
            d: dict[str, Item],
            e: Empty,
            f: dict[str, int],
        ) -> None: ...

        schema = schema_of(function)
        closed = {
            name: s["additionalProperties"] for name, s in schema["$defs"].items()
        }

        assert (
            dict.fromkeys(["Empty", "Item", "Open", "Options", "Point"], False)
            == closed
        )
        assert False is schema["additionalProperties"]
        assert {"type": "integer"} == schema["properties"]["f"]["additionalProperties"]

    def test_names_that_are_keywords_of_schemas_are_names(self):
        """
        A schema is walked through its schemas, not through whatever looks like one.
        """

        class Holder(BaseModel):
            default: str = "x"
            title: str = "t"
            properties: dict[str, int] = {"title": 1}

        @described
        def function(
            default: Holder,
            properties: str = "p",
            title: int = 1,
            required: bool = True,
            enum: dict[str, Any] = {"title": 1, "properties": {}},  # noqa: B006
        ) -> None: ...

        schema = schema_of(function)

        assert ["default", "properties", "title", "required", "enum"] == list(
            schema["properties"]
        )
        assert {"title": 1, "properties": {}} == schema["properties"]["enum"]["default"]
        assert ["default", "title", "properties"] == list(
            schema["$defs"]["Holder"]["properties"]
        )
        assert {"title": 1} == (
            schema["$defs"]["Holder"]["properties"]["properties"]["default"]
        )

    def test_no_titles_are_made_up(self):
        """
        They repeat the names, in every request.
        """
        assert '"title"' not in json.dumps(schema_for(Node))

    def test_json_forms_of_other_types_are_published(self):
        """
        What the gate takes for a date or a path is text of that format.
        """
        formats = {
            hint: property_for(hint).get("format")
            for hint in (dt.date, dt.datetime, dt.timedelta, uuid.UUID, pathlib.Path)
        }

        assert ["date", "date-time", "duration", "uuid", "path"] == list(
            formats.values()
        )

    def test_what_has_no_json_form_is_refused_by_name(self):
        """
        R96: function, parameter, hint and reason, when the client is built.
        """

        class Connection:
            pass

        @described
        def function(x: int, conn: Connection) -> None: ...

        with pytest.raises(UnsupportedSignatureError) as caught:
            entry_of(function)

        assert "conn" == caught.value.parameter
        assert str(caught.value).endswith(
            "function cannot be a tool: the hint 'Connection' of its parameter 'conn' "
            "cannot be offered to a model, because it has no JSON form that can be "
            "described."
        )

    @pytest.mark.parametrize(
        ("hint", "reason"),
        [
            (Callable[[], int], "it has no JSON form that can be described"),
            (
                Annotated[str, Field(pattern="(?=x)")],
                "the check cannot read a pattern in it: its regular expressions have no "
                "look-around and no backreferences.",
            ),
            (Annotated[int, Field(lt=float("inf"))], "it has no JSON form that can be"),
            (
                Annotated[int, Field(json_schema_extra={"x": object()})],
                "it has no JSON form",
            ),
            (type[int], "a class has no JSON form"),
            (
                list[Iterable[int]],
                "an Iterable would only be checked while the body reads it; take list",
            ),
            (
                "Circle",
                "the name 'Circle' in it is not defined; what refers to itself has to",
            ),
            ("Broken", "a class in it has hints that cannot be read"),
            (Deep, "a field in it is filled from inside of another member (AliasPath)"),
            (Span, "one of the values listed in it is no text, number, boolean"),
            (Literal[b"a"], "one of the values listed in it is no text, number"),
            (dict[tuple[int, int], int], "the keys of an object are texts in JSON"),
            (dict[Size, int], "the keys of an object are texts in JSON"),
            (dict[Literal[1, 2], int], "the keys of an object are texts in JSON"),
            (dict[None, int], "the keys of an object are texts in JSON"),
            (
                Annotated[int, Field(description="\ud800")],
                "a text in it holds a lone surrogate, which cannot be sent.",
            ),
        ],
        ids=[
            "callable",
            "pattern",
            "infinity",
            "extra",
            "class",
            "iterable",
            "circle",
            "unfinished",
            "path",
            "tuples",
            "bytes",
            "tuple_keys",
            "enum_keys",
            "literal_keys",
            "null_keys",
            "surrogate",
        ],
    )
    def test_what_cannot_be_kept_is_refused(self, hint, reason):
        """
        R85, R96: a schema that offers what the gate would refuse, or that cannot be
        written at all, is a bad declaration with a reason.
        """

        def function(x) -> None: ...

        function.__annotations__["x"] = hint
        with pytest.raises(UnsupportedSignatureError) as caught:
            entry_of(described(function))

        assert f"cannot be offered to a model, because {reason}" in str(caught.value)

    @pytest.mark.parametrize("kind", [Counted, CountedToo])
    def test_a_field_that_no_caller_fills_is_not_offered(self, kind):
        """
        What a schema offers, the gate accepts; a dataclass fills this one itself.
        """
        schema = schema_for(kind)["$defs"][kind.__name__]

        assert ["a"] == list(schema["properties"])

    def test_one_of_several_names_is_offered(self):
        """
        The first name that is none of a member's inside is one that the gate takes.
        """
        schema = schema_for(Renamed)["$defs"]["Renamed"]

        assert ["w"] == list(schema["properties"])

    @pytest.mark.parametrize(
        ("key", "names", "good", "bad"),
        [
            (int, {"pattern": "^-?[0-9]+$"}, "-12", "x"),
            (float, {"pattern": r"^-?[0-9]+(\.[0-9]+)?$"}, "1.5", "x"),
            (decimal.Decimal, {"pattern": r"^-?[0-9]+(\.[0-9]+)?$"}, "1.5", "x"),
            (bool, {"enum": ["true", "false"]}, "true", "x"),
            (uuid.UUID, {"format": "uuid"}, str(uuid.UUID(int=5)), "x"),
            (dt.date, {"format": "date"}, "2024-12-31", "x"),
            (Drink, {"$ref": "#/$defs/Drink"}, "tea", "milk"),
            (Literal["a", 1], {"enum": ["a"]}, "a", "x"),
            (
                int | bool,
                {"anyOf": [{"pattern": "^-?[0-9]+$"}, {"enum": ["true", "false"]}]},
                "true",
                "x",
            ),
        ],
        ids=str,
    )
    def test_keys_that_are_no_texts_have_a_form(self, key, names, good, bad):
        """
        A model has to know how to write a number as a name.
        """
        entry = property_for(dict[key, int])

        assert names == entry["propertyNames"]
        assert values_of(taking(dict[key, int]), {"x": {good: 1}})
        [path] = problems_of(taking(dict[key, int]), {"x": {bad: 1}})
        assert bad in path

    @pytest.mark.parametrize("key", [str, int | str, str | None, Any])
    def test_keys_of_any_text_have_none(self, key):
        """
        Where every name is a key, nothing is to be said about names.
        """
        assert {"type": "object", "additionalProperties": {"type": "integer"}} == (
            property_for(dict[key, int])
        )

    @pytest.mark.parametrize(
        "kind", [dict, Mapping, collections.OrderedDict, collections.defaultdict]
    )
    def test_every_kind_of_dict_says_how_its_keys_are_written(self, kind):
        """
        They differ in Python alone.
        """
        names = property_for(kind[int, int])["propertyNames"]

        assert {"pattern": "^-?[0-9]+$"} == names
        assert {"pattern": "^-?[0-9]+$"} == (
            property_for(collections.Counter[int])["propertyNames"]
        )

    def test_names_by_pattern_are_closed(self):
        """
        A name that the gate refuses is not left open in the schema.
        """
        schema = property_for(dict[Annotated[str, Field(pattern="^k")], int])

        assert {
            "type": "object",
            "patternProperties": {"^k": {"type": "integer"}},
            "additionalProperties": False,
        } == schema

    def test_keys_of_results_are_not_asked_about(self):
        """
        No tool is refused, or left without a schema, for what it returns.
        """
        assert "additionalProperties" in output_for(dict[tuple[int, int], int])

    def test_a_typed_dict_of_an_older_python_says_where_to_take_it_from(self):
        """
        Before Python 3.12 one of the two kinds cannot be read.
        """
        import typing

        class Old(typing.TypedDict):
            x: int

        if sys.version_info >= (3, 12):
            assert {"$ref": "#/$defs/Old"} == property_for(Old)
            return
        with pytest.raises(UnsupportedSignatureError) as caught:
            schema_for(Old)
        assert str(caught.value).endswith(
            "because before Python 3.12, TypedDict has to come from typing_extensions."
        )


class TestDefaults:
    """
    Defaults are published only where they are plain JSON, and no secret.
    """

    @pytest.mark.parametrize(
        ("hint", "default", "published"),
        [
            (int, 1, 1),
            (bool, False, False),
            (float, 0.5, 0.5),
            (int | None, None, None),
            (list[int], [1], [1]),
            (tuple[int, ...], (1, 2), [1, 2]),
            (dict[str, Any], {"a": [None]}, {"a": [None]}),
            (Drink, Drink.TEA, "tea"),
            (Size, Size.LARGE, 2),
        ],
        ids=repr,
    )
    def test_plain_ones_are_shown(self, hint, default, published):
        """
        R82: they tell the model what happens when it leaves an argument out.
        """
        assert published == property_for(hint, default)["default"]

    @pytest.mark.parametrize(
        ("hint", "default"),
        [
            (SecretStr, SecretStr("s3")),
            (SecretStr | None, "s3"),
            (list[SecretStr], ["s3"]),
            (Any, object()),
            (list[Any], [object()]),
            (dict[Any, Any], {1: "s3"}),
            (dict[Any, Any], {"a": object()}),
            (float, float("inf")),
            (pathlib.Path, pathlib.Path("/host/s3")),
            (Item, Item(name="s3")),
            (int, None),
            (str, type("Text", (str,), {})("s3")),
        ],
        ids=str,
    )
    def test_others_are_not_and_the_parameter_stays_optional(self, hint, default):
        """
        R123: no secret, no path of the host, no null that could not be sent.
        """
        schema = schema_for(hint, default)

        assert "required" not in schema
        assert "default" not in schema["properties"]["x"]
        assert "s3" not in json.dumps(schema)

    def test_defaults_inside_of_models_follow_the_same_rule(self):
        """
        R123: a model's own defaults are copied into the schema as well.
        """

        class Settings(BaseModel):
            key: SecretStr = SecretStr("s3")
            size: int = 3
            where: pathlib.Path = pathlib.Path("/host/s3")
            made: list[int] = Field(default_factory=list)

        properties = schema_for(Settings)["$defs"]["Settings"]["properties"]

        assert ["size"] == [
            name for name in properties if "default" in properties[name]
        ]

    def test_making_a_schema_does_not_warn(self):
        """
        R123: a default that is left out is no reason to fill the log.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            schema_for(Any, object())

    @pytest.mark.parametrize("default", ["\ud800", {"\ud800": 1}, ["\ud800"]])
    def test_a_default_that_cannot_be_sent_is_not_published(self, default):
        """
        It works in Python, and half of a surrogate pair has no place in a request.
        """
        assert "default" not in property_for(Any, default)


class TestDescriptions:
    """
    Texts of parameters.
    """

    def test_the_docstring_describes_the_parameters(self):
        """
        R100, R105: the hint's own text wins, a plain text in Annotated counts as one.
        """

        @tool
        def function(
            a: int, b: Annotated[int, Field(description="B of the hint.")], c: Item
        ) -> None:
            """
            Do it.

            Args:
                a: A of the docstring.
                b: B of the docstring.
                c: C of the docstring.
                d: Nobody.
            """

        assert {
            "a": {"type": "integer", "description": "A of the docstring."},
            "b": {"type": "integer", "description": "B of the hint."},
            "c": {"$ref": "#/$defs/Item", "description": "C of the docstring."},
        } == properties_of(function)
        assert {"type": "integer", "description": "Note."} == (
            property_for(Annotated[int, "Note.", 5])
        )
        assert {"type": "integer", "description": "Field."} == (
            property_for(Annotated[int, "Note.", Field(description="Field.")])
        )

    def test_an_alias_is_described_too(self):
        """
        R93: the docstring knows the Python name, the schema the published one.
        """

        @tool
        def function(x: Annotated[int, Field(alias="externalX")]) -> None:
            """
            Do it.

            Args:
                x: A number.
            """

        assert "A number." == properties_of(function)["externalX"]["description"]


class TestOutput:
    """
    What a tool returns, for those who want to know.
    """

    @pytest.mark.parametrize(
        ("hint", "expected"),
        [
            (int, {"type": "integer"}),
            (Annotated[str, "note"], {"type": "string"}),
            (list[int], {"type": "array", "items": {"type": "integer"}}),
            (Awaitable[int], {"type": "integer"}),
        ],
        ids=str,
    )
    def test_what_is_no_object_goes_under_result(self, hint, expected):
        """
        The protocol that asks for it takes objects alone.
        """
        assert {
            "type": "object",
            "properties": {"result": expected},
            "required": ["result"],
        } == output_for(hint)

    def test_an_object_stays_as_it_is(self):
        """
        Titles are dropped, and what is shared is kept beside it.
        """
        assert {"type": "object", "additionalProperties": {"type": "integer"}} == (
            output_for(dict[str, int])
        )
        assert ["name", "price"] == list(output_for(Item)["properties"])
        assert "Node" in output_for(list[Node])["$defs"]

    @pytest.mark.parametrize(
        "hint",
        [
            None,
            Any,
            object,
            "Gone",
            Callable[[], int],
            Iterator[int],
            AsyncIterator[int],
            Awaitable,
            T,
        ],
        ids=str,
    )
    def test_what_is_unknown_is_not_described(self, hint):
        """
        R97: a return hint never stops a tool.
        """
        assert output_for(hint) is None

    def test_nothing_is_said_without_a_hint(self):
        """
        R97: nobody has to annotate what is returned.
        """

        @described
        def function(x: int): ...

        assert entry_of(function).definition.output_schema is None


def output_for(hint: Any) -> Any:
    """
    Return the output schema of a function with that return hint.
    """

    def function() -> None: ...

    function.__annotations__["return"] = hint

    return entry_of(described(function)).definition.output_schema


def test_a_check_that_fails_in_its_own_way_is_an_argument_error():
    """
    What a tool's author declared as a check may raise anything; the call is refused.
    """

    def broken(value: int) -> int:
        raise KeyError(value)

    def exhausted(value: int) -> int:
        raise MemoryError

    @described
    def function(x: Annotated[int, AfterValidator(broken)]) -> None: ...

    @described
    def fatal(x: Annotated[int, AfterValidator(exhausted)]) -> None: ...

    assert {"$": "cannot be checked: a check of the tool raised KeyError."} == (
        problems_of(function, {"x": 1})
    )
    with pytest.raises(MemoryError):
        run(fatal, {"x": 1})


def test_the_published_schema_cannot_be_changed():
    """
    R145: all instances of a class share it.
    """
    schema = entry_of(described(lambda: None, name="f")).definition.input_schema

    with pytest.raises(TypeError, match="read-only"):
        schema["properties"]["x"] = {}
