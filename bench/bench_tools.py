"""
The tools of the bench, in a module of their own so that workers can import them.
"""

from __future__ import annotations

import asyncio
import time

from typing import Any

from tooldecl import Retry, ToolContext, tool


TEXT = '{"path": "some/long/file.txt", "limit": 30, "tags": ["alpha", "beta"]}'
ARGUMENTS = {"path": "some/long/file.txt", "limit": 30, "tags": ["alpha", "beta"]}

# Seconds of the bodies that sleep.
NAP = 0.05
# The limit of a body that runs into it: a thousand have to begin before the first is over.
LONG = 1.0
SHORT = 0.1
FOREVER = 3600


def read(path: str, limit: int, tags: list[str]) -> int:
    """Count."""
    return limit + len(tags)


async def aread(path: str, limit: int, tags: list[str]) -> int:
    """Count."""
    return limit + len(tags)


plain = tool(name="plain")(read)
limited = tool(name="limited", timeout=60)(read)
retried = tool(name="retried", retry=Retry())(read)
awaited = tool(name="awaited")(aread)
awaited_limited = tool(name="awaited_limited", timeout=60)(aread)


@tool(isolation="process")
def apart(path: str, limit: int, tags: list[str]) -> int:
    """Count in a worker."""
    return limit + len(tags)


@tool(isolation="process", timeout=60)
def apart_limited(path: str, limit: int, tags: list[str]) -> int:
    """Count in a worker, within a limit."""
    return limit + len(tags)


@tool
def nap(number: int) -> int:
    """Sleep."""
    time.sleep(NAP)

    return number


@tool
async def anap(number: int) -> int:
    """Sleep without a thread."""
    await asyncio.sleep(NAP)

    return number


@tool
async def echo(number: int) -> int:
    """Return what was given, after a turn of the loop."""
    await asyncio.sleep(0)

    return number


@tool(timeout=LONG)
async def late_task(ctx: ToolContext) -> None:
    """Run into the limit."""
    ctx.deps.append(ctx.deadline)
    await asyncio.sleep(FOREVER)


@tool(timeout=LONG)
def late_thread(ctx: ToolContext) -> None:
    """Run into the limit, and end some time later."""
    ctx.deps.append(ctx.deadline)
    time.sleep(LONG + 2)


@tool(isolation="process", timeout=SHORT)
def asleep() -> None:
    """Be killed while asleep."""
    time.sleep(FOREVER)


@tool(isolation="process", timeout=SHORT)
def busy() -> None:
    """Be killed while busy."""
    while True:
        pass


@tool
def length(text: str) -> int:
    """Measure a text."""
    return len(text)


@tool
def entries(items: list[Any]) -> int:
    """Count entries."""
    return len(items)


def long_text(size: int) -> str:
    """Return a long text."""
    return "x" * size


text_of = tool(name="text_of")(long_text)


LARGE = [{"id": n, "name": f"entry {n}", "score": n / 7} for n in range(78_000)]


@tool
def rows() -> list[dict[str, Any]]:
    """Return a large structure."""
    return LARGE
