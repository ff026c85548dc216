"""
Approvers of either colour, a sensitive tool that notes its runs, and what they share.
"""

from __future__ import annotations

import asyncio
import functools

from collections.abc import Callable
from typing import Any

from tooldecl import ToolClient, tool


COLOURS = ("sync", "async", "awaitable")

RUNS: list[int] = []


@tool(sensitive=True)
def pay(amount: int, to: str = "shop") -> str:
    """Pay."""
    RUNS.append(amount)

    return f"paid {amount}"


@tool
def look(at: str) -> str:
    """Look."""
    return f"looked at {at}"


def approver(colour: str, decide: Callable[[Any], Any]) -> Any:
    """
    Make an approver of a colour; ``"awaitable"`` is a sync one that gives a coroutine.
    """

    async def ask(request: Any) -> Any:
        await asyncio.sleep(0)
        return decide(request)

    kinds: dict[str, Any] = {
        "sync": decide,
        "async": ask,
        "awaitable": functools.partial(_call, ask),
    }

    return kinds[colour]


def _call(function: Callable[[Any], Any], request: Any) -> Any:
    return function(request)


def client_with(*filters: Any, tools: Any = (), **options: Any) -> ToolClient:
    """
    Make a client of `pay`, `look` and other tools.
    """
    return ToolClient([pay, look, *tools], filters=filters, **options)
