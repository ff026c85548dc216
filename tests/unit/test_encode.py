"""
From what a tool returned to the text for the model, and what that text may weigh.
"""

from __future__ import annotations

import asyncio
import collections
import copy
import dataclasses
import datetime
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

from tooldecl._encode import Fitted, encode, fit
from tooldecl.exceptions import ResultTooLargeError, UnencodableResultError


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
    when: datetime.date


@dataclasses.dataclass
class Leaf:
    name: str
    tags: set[str] = dataclasses.field(default_factory=set)


@dataclasses.dataclass(frozen=True, slots=True)
class Tree:
    leaf: Leaf
    more: Any = None


class Model(pydantic.BaseModel):
    when: datetime.datetime = datetime.datetime(2026, 11, 30, 8, 30)  # noqa: DTZ001
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


class Words(pydantic.RootModel[list[set[str]]]):
    pass


def refusal(value):
    """
    Return the error that *value* is refused with.
    """
    with pytest.raises(UnencodableResultError) as refused:
        encode(value, tool="find")

    return refused.value


UTC = datetime.UTC
EAST = datetime.timezone(datetime.timedelta(hours=2))

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
    ("typed dict", Row(when=datetime.date(2026, 1, 2)), '{"when":"2026-01-02"}'),
    ("mapping", types.MappingProxyType({"a": (1,)}), '{"a":[1]}'),
    ("counter", collections.Counter("aab"), '{"a":2,"b":1}'),
    ("set of numbers", {10, 9, 1}, "[1,9,10]"),
    ("set of texts", frozenset({"b", "a", "C"}), '["C","a","b"]'),
    ("set of all sorts", {1, "a", None, 2.5}, '["a",1,2.5,null]'),
    ("set of tuples", {(2, 1), (1, 9)}, "[[1,9],[2,1]]"),
    ("date", datetime.date(2026, 1, 2), '"2026-01-02"'),
    ("time", datetime.time(8, 30), '"08:30:00"'),
    ("moment", datetime.datetime(2026, 1, 2, 3, 4, 5), '"2026-01-02T03:04:05"'),  # noqa: DTZ001
    ("UTC", datetime.datetime(2026, 1, 2, tzinfo=UTC), '"2026-01-02T00:00:00Z"'),
    ("zone", datetime.datetime(2026, 1, 2, tzinfo=EAST), '"2026-01-02T00:00:00+02:00"'),
    ("duration", datetime.timedelta(days=1, seconds=1.5), '"P1DT1.5S"'),
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
        '{"when":"2026-11-30T08:30:00","ids":["a","b"],"price":"1.50","data":"raw",'
        '"colour":"red","secret":"**********","Renamed":8,"more":null}',
    ),
    ("model's own form", [Scaled(value=2)], '[{"value":"2.0 km"}]'),
    ("root model", Words([{"b", "a"}, {"c"}]), '[["a","b"],["c"]]'),
    ("pydantic dataclass", Checked(frozenset("ba")), '{"ids":["a","b"]}'),
    (
        "anything inside of a model",
        Model(more=[Leaf("x", {"b", "a"}), {2: {"d", "c"}}]).more,
        '[{"name":"x","tags":["a","b"]},{"2":["c","d"]}]',
    ),
    (
        "keys",
        {1: 0, None: 1, False: 2, 1.5: 3, Colour.RED: 4, datetime.date(2026, 1, 2): 5},
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

    assert "[[1],[1],{}]" == encode([shared, shared, {}], tool="find")
    assert 2 == encode({"a": leaf, "b": [leaf]}, tool="find").count('"name":"x"')


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
        Scaled.model_construct(value=1) and [math.inf],
        Model(more=math.nan),
        Model(more=[{"a": {math.inf}}]),
        Model(more={math.inf: 1}),
        {"a": Checked.__pydantic_validator__ and (math.nan,)},
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


def cut(content, limit, overflow="truncate"):
    """
    Return *content* within *limit*.
    """
    return fit(content, tool="find", limit=limit, overflow=overflow)


@pytest.mark.parametrize("overflow", ["fail", "truncate"])
@pytest.mark.parametrize("limit", [5, 6, None])
def test_content_at_the_limit_passes(limit, overflow):
    """
    RES-01: the limit is what may be sent, counted in characters and not in bytes.
    """
    assert Fitted(content="éé😀é\u0301") == cut("éé😀é\u0301", limit, overflow)


def test_too_much_fails_by_default():
    """
    R115: the size and the limit are named, so that the next call can ask for less.
    """
    with pytest.raises(ResultTooLargeError) as refused:
        cut("x" * 6, 5, "fail")

    assert str(refused.value) == (
        "Tool 'find' ran, but its result has 6 characters and the limit is 5. "
        "Ask for less."
    )


def test_cut_text_is_marked_and_fits():
    """
    RES-02: 36 characters, limit 29: two characters and the mark, 29 in all.
    """
    text = "abcdefghijklmnopqrstuvwxyz0123456789"

    assert Fitted(
        content="a[text cut, 36 chars in all]9", truncated=True, original_size=36
    ) == cut(text, 29)
    assert "a[text cut, 36 chars in all]" == cut(text, 28).content
    assert "abcd[text cut, 36 chars in all]6789" == cut(text, 35).content


@pytest.mark.parametrize("limit", [1, 26, 27])
def test_a_limit_without_room_for_the_mark_fails(limit):
    """
    RES-02, E-39: a cut that nobody can see is worse than none.
    """
    with pytest.raises(ResultTooLargeError) as refused:
        cut("x" * 36, limit)

    assert (limit, 36) == (refused.value.limit, refused.value.size)


def test_a_huge_result_is_cut_to_its_ends():
    """
    R115: 5 MB under a limit of 20,000 keep head and tail and say how much there was.
    """
    text = "head" + "x" * 5_000_000 + "tail"
    fitted = cut(text, 20_000)

    assert 20_000 == len(fitted.content)
    assert fitted.content.startswith("headx")
    assert fitted.content.endswith("xtail")
    assert 1 == fitted.content.count("[text cut, 5000008 chars in all]")


def test_cut_json_says_that_it_is_cut():
    """
    R116: nobody should take it for broken JSON of the tool's own making.
    """
    text = encode({"rows": [{"name": "é" * 50}] * 20}, tool="find")
    fitted = cut(text, 200)

    assert 200 == len(fitted.content)
    assert fitted.content.startswith('{"rows":[{"name":"éé')
    assert f"[text cut, {len(text)} chars in all]" in fitted.content
    assert fitted.content.endswith('é"}]}')


GRAPHEMES = {
    "combining mark": "e\u0301",
    "several marks": "e\u0301\u0323\u20dd",
    "spacing mark": "\u0915\u093e",
    "variation selector": "❤\ufe0f",
    "keycap": "1\ufe0f\u20e3",
    "skin tone": "👍🏽",
    "joined by ZWJ": "👩\u200d👩\u200d👧",
    "flag of two letters": "🇫🇷",
    "flag of tags": "🏴\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
    "Hangul in parts": "\u1112\u1161\u11ab",
    "non-joiner": "a\u200c",
    "line break": "\r\n",
    "surrogates": "\ud83d\ude00",
}


@pytest.mark.parametrize("grapheme", GRAPHEMES.values(), ids=GRAPHEMES)
def test_a_cut_never_splits_a_grapheme(grapheme):
    """
    R116: half of one is another character, or none.
    """
    text = grapheme * 40
    mark = f"[text cut, {len(text)} chars in all]"
    ends = set()
    for limit in range(len(mark) + 2 * len(grapheme), len(text)):
        content = cut(text, limit).content
        head, found, tail = content.partition(mark)

        assert found
        assert len(content) <= limit
        assert "" == head.replace(grapheme, "") == tail.replace(grapheme, "")
        ends.add((len(head) // len(grapheme), len(tail) // len(grapheme)))

    assert len(ends) >= min(3, len(text) - len(mark) - 2 * len(grapheme))


def test_a_grapheme_that_does_not_fit_leaves_nothing_to_show():
    """
    E-39: the first one is longer than the room beside the mark.
    """
    text = "e\u0301\u0323" * 20
    mark = len("[text cut, 60 chars in all]")

    with pytest.raises(ResultTooLargeError):
        cut(text, mark + 2)

    assert text[:3] == cut(text, mark + 5).content[:3]


@pytest.mark.parametrize("unit", ["\u0301", "🇫", "👩\u200d", "e\u0301"])
def test_hostile_content_is_cut_in_no_time(unit):
    """
    R115: looking for the end of a grapheme of a million marks must not take for ever.
    """
    text = "a" + unit * 1_000_000
    for limit in (20_000, 900_000):
        try:
            assert len(cut(text, limit).content) <= limit
        except ResultTooLargeError as error:
            assert len(text) == error.size
