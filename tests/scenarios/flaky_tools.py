"""
Tools that fail some times, and calls of them on a clock that costs no time.
"""

from __future__ import annotations

from typing import Any

from fronts import call
from tooldecl import ToolClient, ToolResult, tool
from tooldecl.testing import FakeClock


def half() -> float:
    """
    Spread nothing.
    """
    return 0.5


def failing(times: int, error: BaseException, **options: Any) -> tuple[Any, list[int]]:
    """
    Declare a tool that fails some times and then returns how often it ran.
    """
    runs: list[int] = []

    @tool(**options)
    def flaky() -> int:
        """Fail some times."""
        runs.append(len(runs) + 1)
        if len(runs) <= times:
            raise error
        return len(runs)

    return flaky, runs


def run(
    front: str, declared: Any, *, clock: FakeClock | None = None, **options: Any
) -> ToolResult:
    """
    Run the one tool of a client.
    """
    client = ToolClient([declared], clock=clock or FakeClock(), rng=half, **options)

    return call(front, client, next(iter(client.table)))
