"""
The same twelve tools and the same calls, for every way of calling them.

A driver is ``async def drive(client, calls) -> list[Answer]``: it makes the calls as one
turn of a model and gives the answers in the order of the calls. Each session that has
another driver compares it with `bare`.
"""

from __future__ import annotations

import asyncio
import datetime
import threading

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from tooldecl import (
    NotFound,
    Retry,
    ToolCall,
    ToolClient,
    ToolContext,
    ToolError,
    tool,
)
from tooldecl.filters import Approval, Approved, Denied


class Answer(NamedTuple):
    """
    What a model is told of one call: whether it went well, and the text.
    """

    well: bool
    content: str


Driver: TypeAlias = Callable[[ToolClient, Sequence[ToolCall]], Awaitable[list[Answer]]]


async def bare(client: ToolClient, calls: Sequence[ToolCall]) -> list[Answer]:
    """
    Make the calls as a batch of the client itself.
    """
    batch = await client.ainvoke_batch(calls)

    return [Answer(r.status in ("ok", "not_found"), r.content) for r in batch]


def tools() -> list[Any]:
    """
    Return twelve tools that have no memory but that of this list.
    """
    fails = iter([ConnectionError("the line is down"), TimeoutError("too slow")])
    hung = threading.Event()

    @tool
    def add(a: int, b: int) -> int:
        """
        Add two integers.
        """
        return a + b

    @tool
    async def later(text: str) -> str:
        """
        Give a text back, in a moment.
        """
        await asyncio.sleep(0)
        return text

    @tool
    def today() -> datetime.date:
        """
        Say which day it is.
        """
        return datetime.date(2026, 12, 1)

    @tool
    def plan(
        days: list[datetime.date], mode: Literal["fast", "slow"] = "fast"
    ) -> dict[str, Any]:
        """
        Plan some days.
        """
        return {"days": days, "mode": mode}

    @tool
    def find(name: str) -> str:
        """
        Find somebody.
        """
        raise NotFound(f"Nobody is called {name}.")

    @tool
    def refuse(reason: str) -> str:
        """
        Fail with a word for the model.
        """
        raise ToolError(f"Not today: {reason}.")

    @tool
    async def leak() -> str:
        """
        Fail with something that nobody should read.
        """
        raise ValueError("token-1234")

    @tool(timeout=0.5)
    def hang() -> str:
        """
        Take long.
        """
        hung.wait(1.5)
        return "late"

    @tool(retry=Retry(attempts=3, delay=0), idempotent=True)
    def flaky() -> str:
        """
        Fail twice, and then no more.
        """
        for failure in fails:
            raise failure
        return "at last"

    @tool(result_limit=20, on_overflow="truncate")
    def long(length: int) -> str:
        """
        Return a long text.
        """
        return "x" * length

    @tool(sensitive=True)
    def pay(amount: int) -> str:
        """
        Pay something.
        """
        return f"paid {amount}"

    @tool(serial=True)
    def write(line: str, context: ToolContext) -> str:
        """
        Write a line, alone.
        """
        return f"{context.tool}: {line}"

    return [add, later, today, plan, find, refuse, leak, hang, flaky, long, pay, write]


def make_client() -> ToolClient:
    """
    Make a client of fresh tools, which pays up to 100.
    """

    def approver(request: Any) -> Approved | Denied:
        if request.arguments["amount"] <= 100:
            return Approved()
        return Denied("it is too much")

    return ToolClient(tools(), filters=[Approval(approver)])


Turn: TypeAlias = list[tuple[str, Any]]

# By name, the calls of one turn; what a parser has made of the text is enough for these.
PARSED: dict[str, Turn] = {
    "one call": [("add", {"a": 1, "b": 2})],
    "several calls": [("add", {"a": n, "b": n}) for n in range(5)],
    "async": [("later", {"text": "hello"}), ("later", {"text": "ünïcode 🙂"})],
    "nothing to send": [("today", {})],
    "rich types": [("plan", {"days": ["2026-12-24"]}), ("plan", {"days": []})],
    "nothing found": [("find", {"name": "Ada"})],
    "a word for the model": [("refuse", {"reason": "it is late"})],
    "an ordinary error": [("leak", {}), ("add", {"a": 1, "b": 1})],
    "too slow": [("hang", {}), ("add", {"a": 2, "b": 2})],
    "tried again": [("flaky", {})],
    "too long": [("long", {"length": 1000}), ("long", {"length": 20})],
    "approved and denied": [("pay", {"amount": 7}), ("pay", {"amount": 700})],
    "alone": [("write", {"line": "a"}), ("add", {"a": 0, "b": 0})],
    "wrong type": [("add", {"a": "1", "b": 2}), ("add", {"a": True, "b": 1.0})],
    "missing and unknown": [("add", {"a": 1, "c": 2}), ("add", {})],
    "wrong in a list": [("plan", {"days": ["tomorrow"], "mode": "soon"})],
    "hidden argument": [("write", {"line": "a", "context": {}})],
    "names of a framework": [
        ("add", {"a": 1, "b": 2, name: 1})
        for name in ("self", "config", "run_manager", "ctx", "callbacks", "args")
    ],
}

# What only the text itself shows.
RAW: dict[str, Turn] = {
    "text": [("add", '{"a": 1, "b": 2}'), ("add", ' {"b":2,"a":1} ')],
    "no text": [("today", ""), ("today", "null"), ("today", "{}")],
    "a member twice": [("add", '{"a": 1, "a": 9, "b": 2}')],
    "not finite": [("add", '{"a": NaN, "b": 1e400}')],
    "no object": [("add", "[1, 2]"), ("add", '"x"')],
    "cut": [
        ("add", '{"a": 1,'),
        ("add", "{'a': 1, 'b': 2}"),
        ("add", '{"a":1,"b":2} x'),
    ],
    "a lone surrogate": [("later", '{"text": "\\ud800"}')],
    "a control character": [("later", '{"text": "a\nb"}')],
    "deep": [("plan", '{"days": ' + "[" * 100 + "]" * 100 + "}")],
    "a large number": [("add", '{"a": ' + "9" * 400 + ', "b": 1}')],
}


def calls_of(turn: Turn) -> list[ToolCall]:
    """
    Make the calls of a turn, each with an id.
    """
    return [
        ToolCall(name, arguments, f"call_{place}")
        for place, (name, arguments) in enumerate(turn)
    ]


async def compare(drive: Driver, turn: Turn) -> None:
    """
    Make the calls of a turn both ways, each with fresh tools, and compare the answers.
    """
    calls = calls_of(turn)
    async with make_client() as first, make_client() as second:
        expected = await bare(first, calls)
        assert expected == await drive(second, calls)
