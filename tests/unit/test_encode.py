"""
From what a tool returned to the text for the model.
"""

from __future__ import annotations

import asyncio
import collections
import copy
import dataclasses
import datetime as dt
import enum
import ipaddress
import json
import math
import os
import pathlib
import pickle
import subprocess
import sys
import types
import uuid

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple, TypedDict

import pydantic
import pytest

from tooldecl._encode import encode
from tooldecl.exceptions import UnencodableResultError


class Colour(enum.Enum):
    RED = "red"
    BLUE = 2


class Word(enum.StrEnum):
    YES = "yes"


class Level(enum.IntEnum):
    HIGH = 3


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Point(NamedTuple):
    x: int
    y: int


class Row(TypedDict):
    when: dt.date


@dataclasses.dataclass
class Leaf:
    name: str
    tags: set[str] = dataclasses.field(default_factory=set)


@dataclasses.dataclass(frozen=True, slots=True)
class Tree:
    leaf: Leaf
    more: Any = None


class Model(pydantic.BaseModel):
    when: dt.datetime = dt.datetime(2026, 11, 30, 8, 30)  # noqa: DTZ001
    ids: set[str] = set()
    price: Decimal = Decimal("1.50")
    data: bytes = b"raw"
    colour: Colour = Colour.RED
    secret: pydantic.SecretStr = pydantic.SecretStr("hidden")
    renamed: int = pydantic.Field(7, alias="Renamed")
    more: Any = None


@pydantic.dataclasses.dataclass
class Checked:
    ids: frozenset[str]


class Scaled(pydantic.BaseModel):
    value: float

    @pydantic.field_serializer("value")
    def scale(self, value: float) -> str:
        return f"{value:.1f} km"


class Measured(pydantic.BaseModel):
    """
    A model that has another form in JSON than in Python.
    """

    value: float = 0.0
    items: list[int] = []
    members: dict[str, int] = {}

    @pydantic.field_serializer("value", when_used="json")
    def name(self, value: float) -> str:
        return f"about {value}"

    @pydantic.field_serializer("items", "members", when_used="json")
    def shorten(self, value: Any) -> Any:
        return value[:1] if isinstance(value, list) else dict([*value.items()][:1])


class Numbers(pydantic.BaseModel):
    found: set[float]


class Words(pydantic.RootModel[list[set[str]]]):
    pass


def refusal(value):
    """
    Return the error that *value* is refused with.
    """
    with pytest.raises(UnencodableResultError) as refused:
        encode(value, tool="find")

    return refused.value


UTC = dt.UTC
EAST = dt.timezone(dt.timedelta(hours=2))

DOCUMENTED = [
    ("text as it is", 'say "hi"\n', 'say "hi"\n'),
    ("text of no character", "", '""'),
    ("blank text", " ", " "),
    ("text beyond ASCII", "é😀\u2028", "é😀\u2028"),
    ("nothing", None, "null"),
    ("boolean", True, "true"),
    ("integer", -7, "-7"),
    ("integer beyond 64 bits", 10**30, "1" + "0" * 30),
    ("float", 0.1, "0.1"),
    ("integral float", 3.0, "3.0"),
    ("list", [1, "a", None], '[1,"a",null]'),
    ("tuple", (1, (2,)), "[1,[2]]"),
    ("named tuple", Point(1, 2), "[1,2]"),
    ("deque", collections.deque([1, 2]), "[1,2]"),
    ("dict", {"b": 1, "a": "é"}, '{"b":1,"a":"é"}'),
    ("typed dict", Row(when=dt.date(2026, 1, 2)), '{"when":"2026-01-02"}'),
    ("mapping", types.MappingProxyType({"a": (1,)}), '{"a":[1]}'),
    ("counter", collections.Counter("aab"), '{"a":2,"b":1}'),
    ("set of numbers", {10, 9, 1}, "[1,9,10]"),
    ("set of texts", frozenset({"b", "a", "C"}), '["C","a","b"]'),
    ("set of all sorts", {1, "a", None, 2.5}, '["a",1,2.5,null]'),
    ("set of tuples", {(2, 1), (1, 9)}, "[[1,9],[2,1]]"),
    ("date", dt.date(2026, 1, 2), '"2026-01-02"'),
    ("time", dt.time(8, 30), '"08:30:00"'),
    ("moment", dt.datetime(2026, 1, 2, 3, 4, 5), '"2026-01-02T03:04:05"'),  # noqa: DTZ001
    ("UTC", dt.datetime(2026, 1, 2, tzinfo=UTC), '"2026-01-02T00:00:00Z"'),
    ("zone", dt.datetime(2026, 1, 2, tzinfo=EAST), '"2026-01-02T00:00:00+02:00"'),
    ("duration", dt.timedelta(days=1, seconds=1.5), '"P1DT1.5S"'),
    ("UUID", uuid.UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
    ("decimal", Decimal("1.50"), '"1.50"'),
    ("enum", Colour.RED, '"red"'),
    ("enum of numbers", [Colour.BLUE, Level.HIGH], "[2,3]"),
    ("enum that is text", Word.YES, "yes"),
    ("enum that is text, inside", [Word.YES], '["yes"]'),
    ("flags", Access.READ | Access.WRITE, "3"),
    ("bytes that are text", "é".encode(), '"é"'),
    ("other bytes", b"\xff\x00", '"data:application/octet-stream;base64,/wA="'),
    ("bytearray", bytearray(b"ab"), '"ab"'),
    ("path", pathlib.PurePosixPath("/a/b"), '"/a/b"'),
    ("address", ipaddress.ip_address("::1"), '"::1"'),
    ("dataclass", Leaf("x", {"b", "a"}), '{"name":"x","tags":["a","b"]}'),
    (
        "nested dataclasses",
        Tree(Leaf("x"), [Leaf("y")]),
        '{"leaf":{"name":"x","tags":[]},"more":[{"name":"y","tags":[]}]}',
    ),
    (
        "model",
        Model(ids={"b", "a"}, Renamed=8),
        (
            '{"when":"2026-11-30T08:30:00","ids":["a","b"],"price":"1.50","data":"raw",'
            '"colour":"red","secret":"**********","Renamed":8,"more":null}'
        ),
    ),
    ("model's own form", [Scaled(value=2)], '[{"value":"2.0 km"}]'),
    (
        "model's own form in JSON",
        Measured(value=math.inf, items=[1, 2], members={"a": 1, "b": 2}),
        '{"value":"about inf","items":[1],"members":{"a":1}}',
    ),
    (
        "model with other types than it declares",
        Numbers.model_construct(found=["a", 1]),
        '{"found":["a",1]}',
    ),
    ("root model", Words([{"b", "a"}, {"c"}]), '[["a","b"],["c"]]'),
    ("pydantic dataclass", Checked(frozenset("ba")), '{"ids":["a","b"]}'),
    (
        "anything inside of a model",
        Model(more=[Leaf("x", {"b", "a"}), {2: {"d", "c"}}]).more,
        '[{"name":"x","tags":["a","b"]},{"2":["c","d"]}]',
    ),
    (
        "keys",
        {1: 0, None: 1, False: 2, 1.5: 3, Colour.RED: 4, dt.date(2026, 1, 2): 5},
        '{"1":0,"null":1,"false":2,"1.5":3,"red":4,"2026-01-02":5}',
    ),
]


@pytest.mark.parametrize(
    ("value", "expected"),
    [pytest.param(v, text, id=name) for name, v, text in DOCUMENTED],
)
def test_a_value_has_its_documented_form(value, expected):
    """
    R112, R114: ordinary types go out as docs/reference/json-rules.md says.
    """
    assert expected == encode(value, tool="find")


def test_sets_inside_of_models_are_in_order_too():
    """
    R112: a text that changes from run to run cannot be compared or cached.
    """
    model = Model(more=[{"a": {"z", "y", "x"}}, ({3, 2, 1},), frozenset()])
    form = json.loads(encode(model, tool="find"))

    assert [{"a": ["x", "y", "z"]}, [[1, 2, 3]], []] == form["more"]


@pytest.mark.slow
def test_the_text_of_a_set_is_the_same_in_every_run():
    """
    R112: hashes of texts differ between processes, and the order of a set with them.
    """
    program = (
        "import enum, pydantic\n"
        "from tooldecl._encode import encode\n"
        "class M(pydantic.BaseModel):\n    s: set[str]\n"
        "words = {'a', 'b', 'c', 'd', 'e', 'f'}\n"
        "print(encode([words, {*words, 1, None}, M(s=words)], tool='find'))\n"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(4)
    }

    assert 1 == len(texts)


def some_function():
    """
    Nothing that could be sent.
    """


@pytest.mark.parametrize(
    ("value", "type_name"),
    [
        pytest.param(int, "type", id="class"),
        pytest.param(Model, "type", id="model class"),
        pytest.param(Leaf, "type", id="dataclass class"),
        pytest.param((i for i in [1]), "generator", id="generator"),
        pytest.param(iter([1]), "list_iterator", id="iterator"),
        pytest.param(some_function, "function", id="function"),
        pytest.param(json, "module", id="module"),
        pytest.param(object(), "object", id="object"),
        pytest.param(ValueError("hidden"), "ValueError", id="exception"),
        pytest.param(1j, "complex", id="complex"),
        pytest.param({}.keys(), "dict_keys", id="view"),
        pytest.param(memoryview(b""), "memoryview", id="memoryview"),
        pytest.param({"a": [Leaf("x", {object()})]}, "object", id="deep inside"),
        pytest.param(Tree(Leaf("x"), object()), "object", id="in a dataclass"),
        pytest.param(Model(more=[object()]), "object", id="in a model"),
        pytest.param({(1, 2): 3}, "tuple", id="tuple as a key"),
        pytest.param({frozenset(): 3}, "frozenset", id="set as a key"),
        pytest.param({object(): 3}, "object", id="object as a key"),
    ],
)
def test_what_has_no_form_is_named_by_its_type(value, type_name):
    """
    R111, R114: the author learns which type, the model never sees a repr.
    """
    error = refusal(value)

    assert type_name == error.type_name
    assert "circular" not in str(error)
    assert "itself" not in str(error)
    assert "0x" not in str(error)
    assert "hidden" not in str(error)


def test_the_refusal_says_what_ran_and_what_is_wrong():
    """
    R111: one sentence for the model; the tool and the type for its author.
    """
    with open(os.devnull, encoding="utf-8") as file:  # noqa: PTH123
        error = refusal([file])

    assert str(error) == (
        "Tool 'find' ran, but its result cannot be sent: a value of this type has no "
        "JSON form (type TextIOWrapper)."
    )
    assert str(error) == str(pickle.loads(pickle.dumps(error)))


def holding_itself():
    """
    Return containers that hold themselves, by what they are.
    """
    array: list[Any] = []
    array.append([array])
    members: dict[str, Any] = {"a": {}}
    members["a"]["b"] = (members,)
    leaf = Tree(Leaf("x"), [])
    leaf.more.append(leaf)

    return {"list": array, "dict": members, "Tree": leaf}


@pytest.mark.parametrize("type_name", ["list", "dict", "Tree"])
def test_what_holds_itself_is_called_that(type_name):
    """
    R111: there is no end to write.
    """
    error = refusal(holding_itself()[type_name])

    assert ("it contains itself", type_name) == (error.reason, error.type_name)


def test_what_is_held_twice_does_not_hold_itself():
    """
    R114: sharing is ordinary, and JSON writes it out.
    """
    shared = [1]
    leaf = Leaf("x")
    model = Model(more="renamed")

    assert "[[1],[1],{}]" == encode([shared, shared, {}], tool="find")
    assert 2 == encode({"a": leaf, "b": [leaf]}, tool="find").count('"name":"x"')
    assert 2 == encode([model, {"a": model}], tool="find").count('"renamed"')


def test_a_model_that_holds_itself_is_refused():
    """
    R111: pydantic finds it, and its own words stay with the host.
    """
    model = Model()
    model.more = [model]
    error = refusal(model)

    assert ("Model", ValueError) == (error.type_name, type(error.__cause__))


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        {"mean": [-math.inf]},
        {math.inf: 1},
        Leaf("x", {math.nan}),
        [math.inf],
        Numbers(found={1.0, math.nan}),
        Model(more=math.nan),
        Model(more=[{"a": {math.inf}}]),
        Model(more={math.inf: 1}),
        {"a": (1, {math.nan})},
    ],
    ids=repr,
)
def test_numbers_that_json_lacks_are_refused_at_any_depth(value):
    """
    R113: half of all clients cannot read them, and null would be a lie.
    """
    error = refusal(value)

    assert "NaN and Infinity have no JSON form" == error.reason
    assert "float" == error.type_name


@pytest.mark.parametrize(
    "value", [Decimal("NaN"), [Decimal("-Infinity")], Model(more=Decimal("Infinity"))]
)
def test_decimals_that_are_no_numbers_are_refused(value):
    """
    R113: as text they would be read as the number's name.
    """
    assert "Decimal" == refusal(value).type_name


def test_a_model_may_say_what_becomes_of_nan():
    """
    R113: whoever declares a form of it has decided; nothing is glossed over.
    """
    assert '{"value":"nan km"}' == encode(Scaled(value=math.nan), tool="find")


@pytest.mark.parametrize(
    "value",
    [
        {1: "a", "1": "b"},
        {None: "a", "null": "b"},
        {Colour.RED: "a", "red": "b"},
        Model(more={1: "a", "1": "b"}),
    ],
    ids=repr,
)
def test_keys_that_become_one_are_refused(value):
    """
    R112: one of the two values would be lost without a word.
    """
    error = refusal(value)

    assert "two of its keys are the same as text" == error.reason
    assert "dict" == error.type_name


@pytest.mark.parametrize(
    "value", ["\ud800", ["a\udfff"], {"\ud800": 1}, Model(more="\udc80"), {"\ud800"}]
)
def test_half_a_character_is_refused(value):
    """
    R111: no UTF-8 can hold it, so it would fail where it is sent.
    """
    error = refusal(value)

    assert "half of a surrogate pair stands for no character" == error.reason
    assert "str" == error.type_name


def test_more_digits_than_python_writes_are_refused():
    """
    R111: writing them takes time that grows with their square.
    """
    error = refusal({"a": [10**5000]})

    assert ("int", "a whole number has too many digits") == (
        error.type_name,
        error.reason,
    )


def nested(levels, value=None):
    """
    Return *value* inside of lists.
    """
    for _ in range(levels):
        value = [value]

    return value


def test_deep_nesting_is_refused_and_not_an_error_of_the_host():
    """
    R111: a RecursionError would be the host's.
    """
    reason = "it is nested deeper than the limit of 200 levels"

    assert "[" * 200 + "null" + "]" * 200 == encode(nested(200), tool="find")
    assert reason == refusal(nested(201)).reason
    assert reason == refusal(nested(100_000)).reason
    assert reason == refusal(nested(150, Tree(Leaf("x"), nested(100)))).reason


def test_no_room_on_the_stack_is_a_refusal_too():
    """
    R111: a tool deep inside of a recursion gets the same kind of answer.
    """
    value = nested(150)

    def deeper(room):
        if room:
            return deeper(room - 1)
        return refusal(value)

    error = deeper(sys.getrecursionlimit() - 200)

    assert ("it is too deep to be encoded", "list") == (error.reason, error.type_name)


class Raising(Mapping[str, int]):
    """
    A mapping whose items raise what it was given.
    """

    def __init__(self, error):
        self.error = error

    def __getitem__(self, key):
        raise self.error

    def __iter__(self):
        raise self.error

    def __len__(self):
        return 1


class RaisingModel(pydantic.BaseModel):
    error: Any

    @pydantic.field_serializer("error")
    def fail(self, error: Any) -> str:
        raise error


CONTAINED = [
    ValueError("hidden"),
    RuntimeError("hidden"),
    SystemExit(3),
    asyncio.CancelledError(),
    GeneratorExit(),
]


@pytest.mark.parametrize("error", CONTAINED, ids=repr)
@pytest.mark.parametrize("kind", [Raising, lambda e: RaisingModel(error=e)])
def test_code_of_the_value_that_raises_makes_it_unencodable(kind, error):
    """
    R111, R112: the model is told the type of the error; the host has all of it.
    """
    value = kind(error)
    found = refusal([value])

    assert f"encoding it raised {type(error).__name__}" == found.reason
    assert type(value).__name__ == found.type_name
    assert error is found.__cause__


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError()], ids=repr)
@pytest.mark.parametrize("kind", [Raising, lambda e: RaisingModel(error=e)])
def test_what_must_not_be_contained_escapes(kind, error):
    """
    A person's Ctrl-C and an exhausted machine are nobody's result.
    """
    with pytest.raises(type(error)):
        encode([kind(error)], tool="find")


def test_a_dict_that_changes_meanwhile_is_refused():
    """
    A body that was given up may still write into what another one returned.
    """
    shared: dict[str, Any] = {}

    class Meddling(enum.Enum):
        ONE = 1

        @property
        def value(self):
            shared["b"] = 2
            return 1

    shared.update(a=Meddling.ONE, z=0)

    assert "encoding it raised RuntimeError" == refusal(shared).reason


def test_a_name_that_raises_does_not_hide_the_refusal():
    """
    What a metaclass makes of a name is the value's own code as well.
    """

    class Meta(type):
        @property
        def __name__(cls):
            raise ValueError("hidden")

    class Named(metaclass=Meta):
        pass

    assert "Named" == refusal(Named()).type_name
    assert 80 == len(refusal(type("T" * 300, (), {})()).type_name)


def test_nothing_in_the_value_is_changed():
    """
    The host still gets the value itself.
    """
    value = {"a": [{"b": {1, 2}}, Leaf("x", {"a"})], "m": Model(more=[{2: {3}}])}
    before = copy.deepcopy(value)
    encode(value, tool="find")

    assert before == value


def test_subclasses_go_out_as_what_they_are():
    """
    What a class says about itself must not decide what is sent.
    """

    class Text(str):
        __slots__ = ()

        def __str__(self):
            return "another"

    class Number(int):
        def __repr__(self):
            return "another"

    class Ratio(float):
        def __repr__(self):
            return "another"

    assert "own" == encode(Text("own"), tool="find")
    assert '["own",1,0.5]' == encode([Text("own"), Number(1), Ratio(0.5)], tool="find")
