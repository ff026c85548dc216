"""
Tools whose arguments and results show what crosses into a worker, and back.
"""

from __future__ import annotations

import enum
import threading

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from processes.process_tools import apart
from tooldecl import tool


class Colour(enum.Enum):
    """
    A choice.
    """

    RED = "red"


class Word(enum.StrEnum):
    """
    A choice of texts.
    """

    HELLO = "hello"
    NOTHING = ""


@dataclass(frozen=True)
class Point:
    """
    A place.
    """

    x: Decimal
    on: date


class Shape(BaseModel):
    """
    A model with other types inside.
    """

    points: list[Point]
    colour: Colour
    tags: set[str]


@apart()
def look(
    shape: Shape,
    by_name: dict[str, Point],
    number: Decimal,
    when: datetime,
    key: UUID,
    raw: bytes,
    pair: tuple[int, Colour],
    maybe: Point | None = None,
) -> dict[str, str]:
    """
    Name the types of the arguments, and of what is inside.
    """
    values = {
        "shape": shape,
        "shape.points.0": shape.points[0],
        "shape.points.0.x": shape.points[0].x,
        "shape.colour": shape.colour,
        "shape.tags": shape.tags,
        "by_name.a": by_name["a"],
        "by_name.a.on": by_name["a"].on,
        "number": number,
        "when": when,
        "key": key,
        "raw": raw,
        "pair": pair,
        "pair.1": pair[1],
        "maybe": maybe,
    }

    return {name: type(value).__name__ for name, value in values.items()}


VALUES: dict[str, Any] = {
    "none": None,
    "true": True,
    "number": 17,
    "large number": 2**200,
    "float": 1.5,
    "text": "plain",
    "text that is JSON": '{"a": 1}',
    "no text": "",
    "wide text": "Ü \U0001f600 \u2028 \x00",
    "decimal": Decimal("1.10"),
    "decimals": [Decimal("1E+3"), {"x": Decimal(0)}],
    "bytes": b"abc",
    "raw bytes": b"\xff\x00",
    "set": {3, 1, 2},
    "set of texts": frozenset({"b", "a"}),
    "tuple": (1, (2, "x")),
    "deque": deque([1]),
    "dict": {"b": 1, "a": {"c": [None]}},
    "number keys": {1: "a", 2.5: "b", None: "c"},
    "date": date(2024, 1, 2),
    "datetime": datetime(2024, 1, 2, 3, 4, tzinfo=UTC),
    "timedelta": timedelta(seconds=90),
    "uuid": UUID(int=5),
    "path": PurePosixPath("/a/b"),
    "enum": Colour.RED,
    "text enum": Word.HELLO,
    "text enum without text": Word.NOTHING,
    "dataclass": Point(Decimal("0.1"), date(2024, 1, 1)),
    "model": Shape(
        points=[Point(Decimal(1), date(2024, 1, 1))], colour=Colour.RED, tags={"b", "a"}
    ),
    "nan": float("nan"),
    "lambda": lambda: 1,
    "lock": threading.Lock(),
    "object": object(),
    "half a character": "\ud800",
    "same keys": {1: "a", "1": "b"},
    "exception": ValueError("x"),
    "type": int,
}
LOOP: list[Any] = []
LOOP.append(LOOP)
VALUES["itself"] = LOOP
DEEP: list[Any] = []
for _ in range(150):
    DEEP = [DEEP]
VALUES["deep"] = DEEP


@apart()
def give(what: str) -> Any:
    """
    Return one of the values.
    """
    return VALUES[what]


@tool
def give_here(what: str) -> Any:
    """
    Return one of the values, in the host's process.
    """
    return VALUES[what]


@apart()
def count_up(text: bool) -> Iterator[Any]:
    """
    Yield, some text or some numbers.
    """
    for number in range(3):
        yield f"{number} " if text else number


@apart()
async def acount_up() -> Any:
    """
    Yield from a loop.
    """
    for number in range(3):
        yield number


@apart(result_limit=10)
def yield_too_much() -> Iterator[str]:
    """
    Yield for ever.
    """
    while True:
        yield "xxx"
