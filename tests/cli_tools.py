"""
Tools for the command line: each ends in another way. Copied as it stands, never imported.
"""

from __future__ import annotations

import sys
import time

from datetime import date
from enum import Enum
from typing import Any

from tooldecl import Budget, NotFound, ToolClient, ToolError, ToolSpec, tool
from tooldecl.filters import Approval, approve_all


sys.stdout.write("printed while it is imported\n")


class Color(Enum):
    """
    A choice.
    """

    RED = "red"
    ONE = 1


@tool
def echo(
    text: str = "",
    number: int = 0,
    ratio: float = 0.0,
    flag: bool = False,
    maybe: int | None = None,
    either: int | str = 0,
    names: list[str] | None = None,
    counts: dict[str, int] | None = None,
    day: date | None = None,
    color: Color = Color.RED,
    free: Any = None,
) -> list[str]:
    """
    Return what came, by type and value.
    """
    given = [text, number, ratio, flag, maybe, either, names, counts, day, color, free]
    sys.stdout.write("printed while it runs\n")

    return [f"{type(value).__name__} {value}" for value in given]


@tool
def say(text: str) -> str:
    """
    Say a text.
    """
    return text


@tool
def sum_of(a: int, b: int) -> int:
    """
    Add two numbers.
    """
    return a + b


@tool
def raises(password: str) -> str:
    """
    Raise an error of its own.
    """
    raise KeyError("no such \x1b[31mkey")


@tool
def explains() -> str:
    """
    Raise an error with words for the model.
    """
    raise ToolError("Try tomorrow.")


@tool(sensitive=True)
def raises_secretly(password: str) -> str:
    """
    Raise an error that quotes an argument.
    """
    raise KeyError(password)


@tool
def finds_nothing() -> str:
    """
    Find nothing.
    """
    raise NotFound("There is none.")


@tool(timeout=0.2)
def overruns() -> str:
    """
    Take longer than it may.
    """
    time.sleep(1_000)
    return "late"


@tool
def hangs() -> str:
    """
    Take for ever, and say when it has begun.
    """
    sys.stderr.write("begun\n")
    sys.stderr.flush()
    time.sleep(1_000)
    return "late"


@tool(timeout=0.2)
async def overruns_async() -> str:
    """
    Take longer than it may, on a loop.
    """
    import asyncio

    await asyncio.sleep(1_000)
    return "late"


@tool(result_limit=10)
def too_much() -> str:
    """
    Return more than it may.
    """
    return "x" * 1_000


@tool
def no_json() -> object:
    """
    Return what has no JSON form.
    """
    return object()


@tool(isolation="process")
def dies() -> str:
    """
    End its process.
    """
    import os

    os._exit(9)


@tool(sensitive=True)
def wipes(path: str) -> str:
    """
    Wipe something.
    """
    return f"wiped {path}"


@tool(external=True)
def signs(order: int) -> bool:
    """
    Let somebody sign.
    """
    raise NotImplementedError


@tool
async def waits(text: str) -> str:
    """
    Return a text from a loop.
    """
    return text


def in_order(given: dict[str, Any]) -> list[str]:
    """
    Return what was given, by name.
    """
    return sorted(given)


def fails(request):
    """
    Fail, as a filter.
    """
    raise RuntimeError("no filter")
    yield request


def spent():
    """
    Make a client whose budget is over.
    """
    client = ToolClient([say], budget=Budget(calls=1))
    client.invoke("say", {"text": "once"})
    return client


poor = spent()
asking = ToolClient([wipes, say], filters=[Approval(approve_all)])
guarded = ToolClient([say], filters=[fails])
closed = ToolClient([say])
closed.close()
stopping = ToolClient([raises], stop_on=[KeyError])
given = ToolClient(
    [
        ToolSpec(
            name="given",
            description="Take anything.",
            input_schema={"type": "object", "additionalProperties": True},
            handler=in_order,
        )
    ]
)
