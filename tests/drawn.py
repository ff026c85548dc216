"""
Draw types of parameters, and values that fit them or nearly.
"""

from __future__ import annotations

import enum
import json

from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Optional, Union, get_args, get_origin

from hypothesis import strategies as st
from pydantic import BaseModel
from typing_extensions import TypedDict


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
