"""
Tools behind filters, a filter that fails, and calls through any of them.
"""

from __future__ import annotations

from typing import Any

from fronts import call
from tooldecl import ToolClient, ToolResult, tool


RUNS: list[int] = []


@tool
def pay(amount: int) -> str:
    """Pay."""
    RUNS.append(amount)

    return "paid"


@tool
async def apay(amount: int) -> str:
    """Pay."""
    RUNS.append(amount)

    return "paid"


@tool
def broken(amount: int) -> str:
    """Fail."""
    raise ValueError("no money")


def recurse() -> None:
    """
    Exhaust the stack.
    """
    return recurse()


def raising(error: Any, *, after: bool) -> Any:
    """
    Make a filter that raises before or after the body.
    """

    def fail(request: Any) -> Any:
        if after:
            yield request
        if error is RecursionError:
            recurse()
        raise error
        yield request

    return fail


def run(
    front: str,
    *filters: Any,
    name: str = "pay",
    amount: int = 5,
    tools: Any = (),
    **options: Any,
) -> ToolResult:
    """
    Run one call through some filters.
    """
    with ToolClient([pay, apay, broken, *tools], filters=filters, **options) as client:
        return call(front, client, name, {"amount": amount})
