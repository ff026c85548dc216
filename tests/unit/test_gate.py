"""
The gate: from what a model sent to arguments that a body may be run with.
"""

from __future__ import annotations

import collections
import copy
import dataclasses
import datetime as dt
import decimal
import enum
import json
import math
import sys
import types
import uuid

from collections.abc import Mapping
from typing import Annotated, Any

import pydantic
import pytest

from tooldecl import JSONLimits, ToolSpec, ToolTable, tool
from tooldecl._gate import admit, again, split_request
from tooldecl.exceptions import (
    CallError,
    InvalidArgumentsError,
    MalformedJSONError,
    UnknownToolError,
)


LIMITS = JSONLimits()
RUNS: list[str] = []


@tool
def lookup(key: Annotated[str, pydantic.Field(pattern="^[a-z]{1,64}$")]) -> str:
    """
    Look up one key.
    """
    RUNS.append(key)
    return key


@tool
def ping() -> str:
    """
    Answer.
    """
    RUNS.append("ping")
    return "pong"


@tool
def read(topic: str = "") -> str:
    """
    Read about a topic.
    """
    RUNS.append(topic)
    return topic


@tool
def total(items: list[int]) -> int:
    """
    Add up.
    """
    return sum(items)


@tool(coerce="repair")
def total_repaired(items: list[int]) -> int:
    """
    Add up what may have been sent as a string.
    """
    return sum(items)


@tool
def scalars(
    yes: bool | None = None,
    whole: int | None = None,
    number: float | None = None,
    text: str | None = None,
) -> None:
    """
    Take one scalar.
    """


@tool
def anything(data: Any) -> None:
    """
    Take anything.
    """


TABLE = ToolTable.assemble(
    [lookup, ping, read, total, total_repaired, scalars, anything]
)


def admitted(name, given, limits=LIMITS, table=TABLE):
    """
    Return the values that a body would be called with.
    """
    return admit(table, limits, name, given).values


def refusal(name, given, limits=LIMITS, table=TABLE, kind=CallError):
    """
    Return the error that a call is refused with; no body has run.
    """
    before = list(RUNS)
    with pytest.raises(kind) as refused:
        admit(table, limits, name, given)

    assert before == RUNS

    return refused.value


def test_a_call_passes_with_values_and_a_copy_of_its_arguments():
    """
    ARG-02: text, bytes and a mapping say the same and come out the same.
    """
    arguments = {"items": [1, 2]}
    text = json.dumps(arguments)
    calls = [admit(TABLE, LIMITS, "total", g) for g in (text, text.encode(), arguments)]

    assert [{"items": [1, 2]}] * 3 == [call.arguments for call in calls]
    assert [{"items": [1, 2]}] * 3 == [call.values for call in calls]
    assert {"total"} == {call.entry.meta.name for call in calls}
    assert all(call.arguments is not arguments for call in calls)


@pytest.mark.parametrize(
    ("name", "given", "kind", "reason"),
    [
        ("nothing", "x" * 20, MalformedJSONError, "limit of 19 characters"),
        ("nothing", "{'a': 1}", MalformedJSONError, "name of a member was expected"),
        ("nothing", {"a": {1}}, MalformedJSONError, "is not JSON data"),
        ("nothing", '{"topic": 1}', UnknownToolError, "no tool named 'nothing'"),
        ("read", '{"topic": 1}', InvalidArgumentsError, "topic"),
    ],
)
def test_the_first_failure_of_a_fixed_order_is_the_answer(name, given, kind, reason):
    """
    GATE-06, GATE-08: length, strict JSON, known tool, valid arguments, and no body.
    """
    error = refusal(name, given, JSONLimits(max_chars=19), kind=kind)

    assert reason in str(error)


@pytest.mark.parametrize(
    "given", [None, "", "  ", "null", "{}", b"", b" null", {}], ids=repr
)
def test_no_arguments_run_a_tool_that_needs_none(given):
    """
    ARG-01, R67: the same spellings name what a tool with parameters misses.
    """
    assert {} == admitted("ping", given)
    assert {} == admitted("read", given)
    assert "key" in str(refusal("lookup", given, kind=InvalidArgumentsError))


@pytest.mark.parametrize("text", ['{"key": "a", "key": "b"}', '{"key": "a"} or so'])
def test_ambiguous_text_never_runs(text):
    """
    GATE-02, GATE-03, GATE-08, R69: what was meant cannot be told.
    """
    assert isinstance(refusal("lookup", text), MalformedJSONError)


@pytest.mark.parametrize("key", ["../secret", "Key", "", "k" * 65, 7, None])
@pytest.mark.parametrize("wire", [json.dumps, dict])
def test_a_value_outside_of_its_rule_never_runs(key, wire):
    """
    GATE-04, GATE-05, GATE-08: through either door.
    """
    error = refusal("lookup", wire({"key": key}), kind=InvalidArgumentsError)

    assert ["$.key"] == [path for path, _ in error.problems]
    assert "secret" not in str(error)


@pytest.mark.parametrize("given", ["{invalid", '{"key": "a', "[]", "7"])
def test_malformed_text_is_that_calls_own_error(given):
    """
    ARG-06, R72: an error to answer with, so that the sound calls beside it go on.
    """
    assert isinstance(refusal("lookup", given), MalformedJSONError)
    assert {"key": "a"} == admitted("lookup", '{"key": "a"}')


def test_an_unknown_argument_is_named_with_the_accepted_ones():
    """
    R76, GATE-01: a dropped filter would be reported as a success.
    """
    error = refusal("read", '{"path": "x"}', kind=InvalidArgumentsError)

    assert "path" in str(error)
    assert "'topic'" in str(error)


@pytest.mark.parametrize("text", ["5", "007", "null", "true", "[1]", '{"a": 1}', " "])
@pytest.mark.parametrize("wire", [json.dumps, dict])
def test_text_is_never_parsed(text, wire):
    """
    R73, ARG-04: the body sees what was sent.
    """
    assert {"topic": text} == admitted("read", wire({"topic": text}))


def test_a_list_sent_as_a_string_is_told_apart():
    """
    R74: strict by default with the fix, and repaired only where that was asked for.
    """
    sent = {"items": "[1, 2]"}
    error = refusal("total", json.dumps(sent), kind=InvalidArgumentsError)

    assert "$.items" == error.problems[0][0]
    assert "string" in error.problems[0][1]
    for given in (json.dumps(sent), sent):
        assert {"items": [1, 2]} == admitted("total_repaired", given)
    for broken in ('[1, "x"]', "[1, 2", '[{"a": 1, "a": 2}]', "[NaN]"):
        refusal("total_repaired", {"items": broken}, kind=InvalidArgumentsError)


def in_strings(levels, times):
    """
    Return lists inside of a string inside of lists, and so on.
    """
    text = "[]"
    for _ in range(times):
        text = "[" * levels + json.dumps(text) + "]" * levels

    return f'{{"data": {text}}}'


def test_what_strings_hold_counts_as_depth():
    """
    R74: a repair is no way around the limit, nor around the stack.
    """
    table = ToolTable.assemble(
        [
            ToolSpec(
                name="nested",
                description="Take lists of lists.",
                input_schema={
                    "type": "object",
                    "properties": {"data": {"$ref": "#/$defs/lists"}},
                    "$defs": {
                        "lists": {"type": "array", "items": {"$ref": "#/$defs/lists"}}
                    },
                },
                handler=lambda arguments, /: arguments,
                coerce="repair",
            )
        ]
    )
    fits = admit(table, LIMITS, "nested", in_strings(20, 3))
    deep = refusal("nested", in_strings(40, 2), table=table, kind=MalformedJSONError)
    abyss = refusal("nested", in_strings(60, 16), table=table, kind=CallError)

    assert 61 == str(fits.values).count("[")
    assert "it is nested deeper than the limit of 64 levels" == deep.reason
    assert len(str(abyss)) < 1_000


# What docs/reference/json-rules.md says: which JSON scalar is taken for which type.
SCALARS = {
    "bool": {"true"},
    "int": {"3", "-0"},
    "float": {"3", "-0", "3.0", "1e2"},
    "str": {'"yes"', '"3"', '""'},
}


@pytest.mark.parametrize(
    "sent", ['"yes"', '"3"', '""', "1.5e0", "3", "-0", "3.0", "1e2", "true"]
)
@pytest.mark.parametrize(
    ("parameter", "kind"),
    [("yes", "bool"), ("whole", "int"), ("number", "float"), ("text", "str")],
)
def test_scalars_are_taken_as_json_has_them(parameter, kind, sent):
    """
    R79: an integer is a number, and nothing else is anything else.
    """
    text = f'{{"{parameter}": {sent}}}'
    taken = sent in SCALARS[kind] or (kind == "float" and sent == "1.5e0")
    if taken:
        value = admitted("scalars", text)[parameter]

        assert (kind, json.loads(sent)) == (type(value).__name__, value)
        assert {parameter: value} == admitted("scalars", json.loads(text))
    else:
        refusal("scalars", text, kind=InvalidArgumentsError)
        refusal("scalars", json.loads(text), kind=InvalidArgumentsError)


def test_raw_control_characters_pass_only_with_the_switch():
    """
    R68: and what passes reaches the body as it was sent, on every way.
    """
    text = '{"topic": "a\tb\nc\x01"}'
    error = refusal("read", text, kind=MalformedJSONError)
    switched = JSONLimits(control_characters=True)

    assert text.index("\t") == error.offset
    assert {"topic": "a\tb\nc\x01"} == admitted("read", text, switched)
    assert {"topic": "é\t"} == admitted("read", '{"topic":"é\t"}'.encode(), switched)
    assert {"topic": "a"} == admitted("read", '{\n\t"topic": "a"\n}', switched)
    refusal("read", '{"topic": "a", "topic": "b\t"}', switched, kind=MalformedJSONError)


def test_text_that_passes_is_validated_as_it_was_sent():
    """
    R73: nothing between the wire and the validator may change a number or a character.
    """

    @tool
    def price(amount: decimal.Decimal, note: str) -> None:
        """
        Note a price.
        """

    text = '{"amount": "1.10", "note": "\\u00e9\\ud83d\\ude00\\\\"}'
    values = admitted("price", text, table=ToolTable.assemble([price]))

    assert "1.10" == str(values["amount"])
    assert "é😀\\" == values["note"]


class Word(enum.StrEnum):
    YES = "yes"


class Level(enum.IntEnum):
    HIGH = 3


Pair = collections.namedtuple("Pair", "a b")  # noqa: PYI024


def test_json_data_of_any_class_is_copied_as_what_it_is():
    """
    ARG-02: hosts have read-only mappings, tuples and enums at hand.
    """
    data = {
        "proxy": types.MappingProxyType({"a": 1}),
        "ordered": collections.OrderedDict(b=1, a=[]),
        "chain": collections.ChainMap({"x": 1}, {"y": 2}),
        "tuple": (1, (2.5,), Pair(None, True)),
        "words": [Word.YES, Level.HIGH, "é😀"],
        Word.YES: 1,
    }
    expected = {
        "proxy": {"a": 1},
        "ordered": {"b": 1, "a": []},
        "chain": {"y": 2, "x": 1},
        "tuple": [1, [2.5], [None, True]],
        "words": ["yes", 3, "é😀"],
        "yes": 1,
    }
    call = admit(TABLE, LIMITS, "anything", types.MappingProxyType({"data": data}))

    assert {"data": expected} == call.arguments == call.values
    assert repr({"data": expected}) == repr(call.arguments)


def test_the_callers_mapping_is_neither_kept_nor_changed():
    """
    R74: a repair, a filter or a body works on the call's own copy.
    """
    given = {"items": "[1, 2]"}
    deep = {"data": {"a": [1, {"b": []}]}}
    before = copy.deepcopy(deep)
    call = admit(TABLE, LIMITS, "anything", deep)
    call.arguments["data"]["a"].append(2)
    call.values["data"]["a"][1]["b"].append(3)
    admitted("total_repaired", given)

    assert ({"items": "[1, 2]"}, before) == (given, deep)


def test_a_repeated_attempt_gets_values_of_its_own():
    """
    ARG-02: what the first attempt's body did with them must not reach the second.
    """
    first = admit(TABLE, LIMITS, "total", '{"items": [1, 2]}')
    first.values["items"].append(3)
    second = again(first)

    assert {"items": [1, 2]} == second.values == second.arguments
    assert second.values["items"] is not first.arguments["items"]


@dataclasses.dataclass
class Record:
    a: int = 1


NOT_JSON = [
    ({1: 2}, "the name of a member is a string, not int", "$"),
    ({"data": {None: 2}}, "the name of a member is a string, not NoneType", "$.data"),
    ({"data": {1, 2}}, "a value of type set is not JSON data", "$.data"),
    ({"data": [b"x"]}, "a value of type bytes is not JSON data", "$.data[0]"),
    (
        {"data": dt.date(2026, 1, 2)},
        "a value of type date is not JSON data",
        "$.data",
    ),
    ({"data": uuid.UUID(int=1)}, "a value of type UUID is not JSON data", "$.data"),
    (
        {"data": decimal.Decimal(1)},
        "a value of type Decimal is not JSON data",
        "$.data",
    ),
    ({"data": Record()}, "a value of type Record is not JSON data", "$.data"),
    ({"data": int}, "a value of type type is not JSON data", "$.data"),
    ({"data": {}.keys()}, "a value of type dict_keys is not JSON data", "$.data"),
    (
        {"data": (x for x in [1])},
        "a value of type generator is not JSON data",
        "$.data",
    ),
    ({"data": [{"x": math.nan}]}, "NaN and Infinity have no JSON form", "$.data[0].x"),
    ({"data": -math.inf}, "NaN and Infinity have no JSON form", "$.data"),
    (
        {"data": 2**64},
        "a number is too large to be exchanged safely",
        "$.data",
    ),
    (
        {"data": 10**5000},
        "a number is too large to be exchanged safely",
        "$.data",
    ),
    (
        {"data": ["\ud800"]},
        "half of a surrogate pair stands for no character",
        "$.data[0]",
    ),
    (
        {"data": {"\udfff": 1}},
        "half of a surrogate pair stands for no character",
        '$.data["\\udfff"]',
    ),
    (7, "arguments are a mapping, JSON text or None, not int", "$"),
    ([["a", 1]], "arguments are a mapping, JSON text or None, not list", "$"),
    (
        bytearray(b"{}"),
        "arguments are a mapping, JSON text or None, not bytearray",
        "$",
    ),
    (Record(), "arguments are a mapping, JSON text or None, not Record", "$"),
    (dict, "arguments are a mapping, JSON text or None, not type", "$"),
]


@pytest.mark.parametrize(
    ("given", "reason", "path"),
    [pytest.param(*case, id=str(place)) for place, case in enumerate(NOT_JSON)],
)
def test_what_is_not_json_data_is_refused_by_type_and_path(given, reason, path):
    """
    ARG-06, R72: whoever built the mapping learns what to change, and nothing escapes.
    """
    error = refusal("anything", given, kind=MalformedJSONError)

    assert (reason, path) == (error.reason, error.path)


def holding_itself():
    """
    Return mappings that have no end.
    """
    own: dict[str, Any] = {}
    own["data"] = own
    through: dict[str, Any] = {"data": []}
    through["data"].append((through,))

    return [own, through]


@pytest.mark.parametrize("given", holding_itself(), ids=["dict", "list"])
def test_a_mapping_without_an_end_is_refused(given):
    """
    ARG-06: neither a hang nor a RecursionError.
    """
    error = refusal("anything", given, kind=MalformedJSONError)

    assert "it is nested deeper than the limit of 64 levels" == error.reason
    assert len(str(error)) < 400


def test_depth_is_the_same_through_either_door():
    """
    A mapping that passes is sent on as text, so the text would have passed.
    """
    limits = JSONLimits(max_depth=4)
    fits, deep = {"data": [[{}]]}, {"data": [[{"a": []}]]}

    assert fits == admitted("anything", fits, limits)
    assert fits == admitted("anything", json.dumps(fits), limits)
    for given in (deep, json.dumps(deep)):
        error = refusal("anything", given, limits, kind=MalformedJSONError)

        assert "it is nested deeper than the limit of 4 levels" == error.reason


def test_length_is_the_same_through_either_door():
    """
    GATE-06: the limit is on what would be sent, whatever it is built of.
    """
    limits = JSONLimits(max_chars=30)
    fits, long = {"data": "x" * 15}, {"data": "x" * 30}

    assert fits == admitted("anything", fits, limits)
    for given in (long, json.dumps(long), {"data": [0] * 31}):
        error = refusal("anything", given, limits, kind=MalformedJSONError)

        assert "the text is longer than the limit of 30 characters" == error.reason


def test_data_that_shares_its_parts_is_bounded():
    """
    GATE-06: sixty lists can stand for more values than any machine can write.
    """
    data: list[Any] = [1]
    for _ in range(60):
        data = [data, data]
    limits = JSONLimits(max_chars=10_000)
    error = refusal("anything", {"data": data}, limits, kind=MalformedJSONError)

    assert "the text is longer than the limit of 10000 characters" == error.reason


class Hostile(Mapping[str, Any]):
    """
    A mapping whose items raise, or repeat a name.
    """

    def __init__(self, error=None):
        self.error = error

    def __getitem__(self, key):
        return 1

    def __iter__(self):
        if self.error is not None:
            raise self.error
        return iter(["a", "a"])

    def __len__(self):
        return 2


@pytest.mark.parametrize("error", [ValueError("hidden"), RecursionError()], ids=repr)
@pytest.mark.parametrize(
    "wrap", [lambda m: m, lambda m: {"data": m}], ids=["outside", "inside"]
)
def test_a_mapping_that_raises_is_refused(error, wrap):
    """
    ARG-06: the call has its answer; the host finds the cause, the model does not.
    """
    found = refusal("anything", wrap(Hostile(error)), kind=MalformedJSONError)

    assert "hidden" not in str(found)
    assert found.reason in (
        "reading them raised ValueError",
        "it is too deep to be read here",
    )


def test_what_must_not_be_contained_escapes_the_gate():
    """
    A person's Ctrl-C and an exhausted machine are nobody's arguments.
    """
    for error in (KeyboardInterrupt(), MemoryError()):
        with pytest.raises(type(error)):
            admit(TABLE, LIMITS, "anything", Hostile(error))


def test_a_mapping_that_repeats_a_name_is_refused():
    """
    R69: a mapping of a strange class is no way around the rule.
    """
    error = refusal("anything", {"data": Hostile()}, kind=MalformedJSONError)

    assert ("a member is given twice", "$.data.a") == (error.reason, error.path)


def test_classes_do_not_decide_what_is_sent():
    """
    R73: what a subclass makes of its methods is not what the mapping holds.
    """

    class Text(str):
        __slots__ = ()

        def __str__(self):
            return "another"

    class Number(int):
        def __index__(self):
            return 7

    class Members(dict[str, Any]):
        def items(self):
            return {"data": "another"}.items()

    data = [Text("own"), Number(1), Members(a=Text("b"))]

    assert {"data": ["own", 1, {"a": "b"}]} == admitted("anything", Members(data=data))


def test_no_room_on_the_stack_ends_in_a_refusal():
    """
    ARG-06: a tool that calls a client deep inside of a recursion gets an answer.
    """
    data: list[Any] = []
    for _ in range(60):
        data = [data]

    def deeper(room):
        if room:
            return deeper(room - 1)
        return refusal("anything", {"data": data}, kind=MalformedJSONError)

    error = deeper(sys.getrecursionlimit() - 120)

    assert "it is too deep to be read here" == error.reason


def named(names):
    """
    Return a table of tools with these names.
    """
    entry = TABLE.entry("ping")
    metas = [dataclasses.replace(entry.meta, name=name) for name in names]

    return ToolTable(dataclasses.replace(entry, meta=meta) for meta in metas)


def test_an_unknown_tool_is_answered_with_all_names_where_there_are_few():
    """
    GATE-07, R125: best first, so that the next call can be right.
    """
    error = refusal("exec", {}, kind=UnknownToolError)

    assert set(error.nearest) == set(TABLE)
    assert str(refusal("look_up", {}, kind=UnknownToolError)) == (
        "There is no tool named 'look_up'. Use one of: 'lookup', 'total_repaired', "
        "'ping', 'total', 'scalars', 'read', 'anything'."
    )


def test_an_empty_table_says_so():
    """
    GATE-07: there is nothing to be offered.
    """
    error = refusal("exec", None, table=ToolTable.assemble([]), kind=UnknownToolError)

    assert "There is no tool named 'exec'. No tools are available." == str(error)


WORDS = "get set list fetch order user invoice file search create".split()
MANY = named([f"{a}_{b}_{c}" for a in WORDS for b in WORDS for c in ("one", "two")])
CAPITALS = named([f"{a}_{b}".upper() for a in WORDS for b in WORDS])


@pytest.mark.parametrize(
    "name",
    [
        "fetch_ordr_one",
        "fetch_orders_one",
        "etch_order_one",
        "fetch-order-one",
        "Fetch_Order_One",
        "functions.fetch_order_one",
    ],
)
def test_the_right_name_is_among_the_nearest_of_many(name):
    """
    R125: of 200 tools, one letter off; the text stays short.
    """
    error = refusal(name, "{}", table=MANY, kind=UnknownToolError)

    assert "fetch_order_one" == error.nearest[0]
    assert 5 == len(error.nearest)
    assert len(str(error)) < 1_000


def test_capitals_do_not_hide_a_name():
    """
    R125: models and hosts disagree on them more than on anything else.
    """
    error = refusal("search_file", "{}", table=CAPITALS, kind=UnknownToolError)

    assert "SEARCH_FILE" == error.nearest[0]


HOSTILE_NAMES = {
    "empty": "",
    "blank": "   ",
    "huge": "a" * 1_000_000,
    "escapes": "\x00\x1b[31m" * 50,
    "wide escapes": "\U000e0001" * 500,
    "surrogates": "\ud800" * 200,
    "quotes": "'\"" * 100,
    "path": "../../etc/passwd",
}


@pytest.mark.parametrize("name", HOSTILE_NAMES.values(), ids=HOSTILE_NAMES)
@pytest.mark.parametrize("count", [3, 10_000])
def test_hostile_names_get_a_short_answer(name, count, tables):
    """
    R125: whatever was sent, the text fits, can be sent, and offers at least one name.
    """
    error = refusal(name, {}, table=tables(count), kind=UnknownToolError)

    assert len(str(error)) < 1_000
    assert str(error).isprintable()
    assert str(error).encode()
    assert 1 <= len(error.nearest) <= 5


@pytest.fixture(scope="module")
def tables():
    """
    Return tables of so many tools, with the longest of names, made once.
    """
    made = {}

    def of(count):
        if count not in made:
            made[count] = named([f"{'tool' * 15}{i:04}" for i in range(count)])
        return made[count]

    return of


@pytest.mark.parametrize(
    "name", [None, 7, b"ping", ["ping"], {"ping": 1}, ping], ids=repr
)
def test_a_name_that_is_no_text_is_no_tool(name):
    """
    GATE-05, GATE-07: not an error of the host's, and never another tool.
    """
    error = refusal(name, {}, kind=UnknownToolError)

    assert f"<{type(name).__name__}>" == error.name


def test_a_whole_request_is_taken_apart():
    """
    GATE-09: and nothing but what stands in it is passed on.
    """
    assert ("ping", {}) == split_request('{"tool": "ping", "arguments": {}}', LIMITS)
    assert ("x", {"a": [1]}) == split_request(
        b' {"arguments": {"a": [1]}, "tool": "x"}\n', LIMITS
    )
    assert ("", None) == split_request('{"tool": "", "arguments": null}', LIMITS)


REQUESTS = [
    (
        '{"tool": "ping", "arguments": {}, "user": "root"}',
        'a request has "tool" and "arguments" and no such member',
        "$.user",
    ),
    ('{"arguments": {}}', 'the request has no "tool"', "$"),
    ('{"tool": "ping"}', 'the request has no "arguments"', "$"),
    ("{}", 'the request has no "tool"', "$"),
    ("", 'the request has no "tool"', "$"),
    (
        '{"tool": 7, "arguments": {}}',
        "a string was expected, not a number",
        "$.tool",
    ),
    (
        '{"tool": null, "arguments": {}}',
        "a string was expected, not null",
        "$.tool",
    ),
    (
        '{"tool": "ping", "arguments": []}',
        "an object was expected, not an array",
        "$.arguments",
    ),
    (
        '{"tool": "ping", "arguments": "{}"}',
        "an object was expected, not a string",
        "$.arguments",
    ),
    (
        '{"tool": "ping", "tool": "read", "arguments": {}}',
        "a member is given twice",
        "$.tool",
    ),
    (
        '{"tool": "read", "arguments": {"topic": "a", "topic": "b"}}',
        "a member is given twice",
        "$.arguments.topic",
    ),
    (
        '{"tool": "ping", "arguments": {}} {}',
        "there is more text after the JSON value",
        None,
    ),
    ('["ping", {}]', "an object was expected, not an array", "$"),
    (7, "a request is JSON text, not int", None),
    ({"tool": "ping", "arguments": {}}, "a request is JSON text, not dict", None),
    (None, "a request is JSON text, not NoneType", None),
]


@pytest.mark.parametrize(
    ("request_", "reason", "path"),
    [pytest.param(*case, id=str(place)) for place, case in enumerate(REQUESTS)],
)
def test_a_request_of_another_shape_is_refused(request_, reason, path):
    """
    GATE-01, GATE-02, GATE-03, GATE-05: exactly two members, each of its kind.
    """
    with pytest.raises(MalformedJSONError) as refused:
        split_request(request_, LIMITS)

    assert (reason, path) == (refused.value.reason, refused.value.path)


def test_the_arguments_of_a_request_may_be_as_deep_as_any():
    """
    A call that passes one door passes the other.
    """
    limits = JSONLimits(max_depth=3)
    text = '{"tool": "anything", "arguments": {"data": [[]]}}'
    name, arguments = split_request(text, limits)

    assert {"data": [[]]} == admitted(name, arguments, limits)
    with pytest.raises(MalformedJSONError):
        split_request(text.replace("[[]]", "[[[]]]"), limits)


@pytest.mark.parametrize("max_depth", [1, 64, 200])
def test_the_deepest_text_that_passes_is_read_by_the_validator_too(max_depth):
    """
    ARG-02: the validator's own parser has a limit, and it must not be met first.
    """
    levels = max_depth - 1
    text = '{"data": ' + "[" * levels + "]" * levels + "}" if levels else "{}"
    limits = JSONLimits(max_depth=max_depth)
    name = "anything" if levels else "ping"

    assert json.loads(text) == admitted(name, text, limits)
    assert json.loads(text) == admitted(name, json.loads(text), limits)
