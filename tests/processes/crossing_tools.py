"""
Tools whose arguments and results show what crosses into a worker, and back.
"""

from __future__ import annotations

import asyncio
import enum
import os
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
from tooldecl import NotFound, Retry, ToolContext, ToolError, tool


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


class TwoArgumentsError(Exception):
    """
    An error that no pickle restores.
    """

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


class UnspeakableError(Exception):
    """
    An error without a text.
    """

    def __str__(self) -> str:
        raise RuntimeError("no text")


class StopTheRunError(Exception):
    """
    A signal of a host's own, whose constructor wants more than a text.
    """

    def __new__(cls, one: int, two: int) -> Any:
        """
        Refuse to be made of less.
        """
        return super().__new__(cls, one, two)

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"stop at {one} of {two}")


def _caused() -> ToolError:
    error = ToolError("Cannot reach it.")
    error.__cause__ = ConnectionRefusedError("refused")

    return error


ERRORS: dict[str, BaseException] = {
    "value": ValueError("secret 17"),
    "connection": ConnectionResetError("reset"),
    "timeout": TimeoutError("its own"),
    "permission": PermissionError(13, "denied"),
    "assertion": AssertionError(),
    "recursion": RecursionError("deep"),
    "import": ImportError("nothing"),
    "stop iteration": StopIteration(5),
    "two arguments": TwoArgumentsError("a", "b"),
    "unspeakable": UnspeakableError(),
    "half a character": ValueError("\ud800"),
    "long": ValueError("x" * 1_000_000),
    "words": ToolError("Take another date."),
    "words of a class": ToolError("Later.", error_class="transient"),
    "words with a cause": _caused(),
    "not found": NotFound("No such book."),
    "not found without words": NotFound(),
    "group": ExceptionGroup("g", [ValueError("a"), KeyError("b")]),
    "group of findings": ExceptionGroup("g", [NotFound("a"), NotFound("b")]),
    "group of words": ExceptionGroup("g", [ToolError("One."), ToolError("Two.")]),
    "exit": SystemExit(3),
    "exit with words": SystemExit("bye"),
    "cancelled": asyncio.CancelledError(),
    "lambda inside": ValueError(lambda: 1),
    "interrupt": KeyboardInterrupt(),
    "memory": MemoryError(),
    "generator exit": GeneratorExit(),
    "base": BaseException("base"),
    "group of fatal": BaseExceptionGroup("g", [ValueError(), KeyboardInterrupt()]),
    "stop": StopTheRunError(1, 2),
}


@apart()
def fail(what: str) -> str:
    """
    Raise one of the errors.
    """
    raise ERRORS[what]


@tool
def fail_here(what: str) -> str:
    """
    Raise one of the errors, in the host's process.
    """
    raise ERRORS[what]


@apart()
async def afail(what: str) -> str:
    """
    Raise one of the errors on a loop.
    """
    raise ERRORS[what]


class BusyError(Exception):
    """
    What one of the tools is repeated for.
    """


@apart(retry=Retry(attempts=3, delay=0, on=(BusyError,)))
def retry_by_type(ctx: ToolContext, other: bool = False) -> list[Any]:
    """
    Fail until the third attempt.
    """
    if ctx.attempt < 3:
        raise ValueError("no") if other else BusyError(f"attempt {ctx.attempt}")
    previous: Any = ctx.previous_error

    return [ctx.attempt, list(previous.type_names), previous.text]


def _is_short(error: BaseException) -> bool:
    if str(error) == "undecided":
        raise LookupError
    if str(error) == "stop":
        raise KeyboardInterrupt

    return len(str(error)) < 5


@apart(retry=Retry(attempts=3, delay=0, on=_is_short))
def retry_by_predicate(text: str) -> str:
    """
    Fail always.
    """
    raise ValueError(text)


@apart(retry=Retry(attempts=3, delay=0), idempotent=True, timeout=1)
def retry_elsewhere(ctx: ToolContext) -> list[Any]:
    """
    End the worker in every attempt but the last.
    """
    ctx.progress(os.getpid(), None, ctx.idempotency_key)
    if ctx.attempt < 3:
        os._exit(1)

    return [ctx.attempt, ctx.idempotency_key]
