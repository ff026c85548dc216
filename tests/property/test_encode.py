"""
Results of any make: what goes out is JSON, the same every time, and within its limit.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import enum
import json
import math
import types
import unicodedata

from decimal import Decimal
from typing import Any

import pydantic
import pytest

from hypothesis import given, settings
from hypothesis import strategies as st

from tooldecl import JSONLimits
from tooldecl._encode import Fitted, encode, fit
from tooldecl._strictjson import loads_any
from tooldecl.exceptions import ResultTooLargeError, UnencodableResultError


LIMITS = JSONLimits(max_chars=10_000_000, max_depth=200)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)


class Colour(enum.Enum):
    RED = "red"
    BLUE = 2


@dataclasses.dataclass(frozen=True)
class Pair:
    left: Any
    right: Any = None


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True)

    inside: Any
    words: frozenset[str] = frozenset()


def json_data(inner):
    """
    Make what JSON has of *inner*.
    """
    return st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3)


JSON_DATA = st.recursive(SCALARS, json_data, max_leaves=12)

LEAVES = (
    SCALARS
    | st.sampled_from(Colour)
    | st.dates()
    | st.datetimes(timezones=st.none() | st.just(dt.UTC))
    | st.timedeltas()
    | st.uuids()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | TEXTS.map(
        str.encode
    )  # other bytes are a model's own business: it may refuse them
    | st.frozensets(SCALARS, max_size=4)
    | st.sets(TEXTS, max_size=4)
)


def anything(inner):
    """
    Make all that has a form of *inner*.
    """
    return (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.lists(inner, max_size=3).map(collections.deque)
        | st.dictionaries(TEXTS, inner, max_size=3)
        | st.dictionaries(TEXTS, inner, max_size=3).map(types.MappingProxyType)
        | st.builds(Pair, inner, inner)
        | st.builds(Model, inside=inner, words=st.frozensets(TEXTS, max_size=3))
    )


VALUES = st.recursive(LEAVES, anything, max_leaves=10)
FAULTS = st.sampled_from(
    [math.nan, math.inf, object(), int, Decimal("NaN"), "\ud800", {1: 1, "1": 2}]
)
KINDS_OF_FAULTS = {"float", "object", "type", "Decimal", "str", "dict"}


@settings(max_examples=500, deadline=None)
@given(JSON_DATA.filter(lambda value: not isinstance(value, str)))
def test_json_data_comes_back_as_it_was(value):
    """
    R112: nothing is rounded, renamed or dropped on the way.
    """
    assert repr(value) == repr(json.loads(encode(value, tool="find")))


@settings(max_examples=800, deadline=None)
@given(VALUES)
def test_whatever_has_a_form_is_strict_json(value):
    """
    R111, R113: what goes out would pass our own gate, and is the same the next time.
    """
    text = encode(value, tool="find")

    assert text
    assert text == encode(value, tool="find")
    if not isinstance(value, str):
        loads_any(text, LIMITS)


@settings(max_examples=500, deadline=None)
@given(VALUES, FAULTS, st.data())
def test_one_fault_at_any_depth_is_enough(value, fault, data):
    """
    R111, R113: no container hides what has no form.
    """
    wrappers = [
        lambda x: [value, x],
        lambda x: (x,),
        lambda x: {"a": value, "b": x},
        lambda x: Pair(value, x),
        lambda x: Model(inside=x),
        lambda x: types.MappingProxyType({"a": x}),
    ]
    for wrap in data.draw(st.lists(st.sampled_from(wrappers), max_size=5)):
        fault = wrap(fault)
    with pytest.raises(UnencodableResultError) as refused:
        encode(fault, tool="find")

    assert refused.value.type_name in KINDS_OF_FAULTS


CHARACTERS = st.characters() | st.sampled_from(
    "ab\r\n\u0301\u0323\u200d\ufe0f\u20e3👩👍🏽🇫🇷❤\u0915\u093e\u1112\u1161\u11ab"
)
MARKS = ("Mn", "Me", "Mc")


def fitted_or_none(content, limit):
    """
    Cut, or return None where the limit has no room for the mark and a character.
    """
    try:
        return fit(content, tool="find", limit=limit, overflow="truncate")
    except ResultTooLargeError:
        return None


@settings(max_examples=1_000, deadline=None)
@given(st.text(CHARACTERS, min_size=30, max_size=120), st.integers(1, 130))
def test_a_cut_keeps_both_ends_and_its_promise(content, limit):
    """
    R115, R116, RES-02: within the limit, marked once, and never inside of a character.
    """
    size = len(content)
    mark = f"[text cut, {size} chars in all]"
    fitted = fitted_or_none(content, limit)
    if fitted is None:
        assert size > limit
        return
    if size <= limit:
        assert Fitted(content=content) == fitted
        return
    head, found, tail = fitted.content.partition(mark)

    assert found
    assert (True, size) == (fitted.truncated, fitted.original_size)
    assert len(fitted.content) <= limit
    assert content.startswith(head)
    assert content.endswith(tail)
    for place in {len(head), size - len(tail)} - {0, size}:
        assert unicodedata.category(content[place]) not in MARKS
        assert content[place] != "\u200d" != content[place - 1]
        assert content[place - 1 : place + 1] != "\r\n"
