"""
Tools that end in every way there is, and the client of those who watch them.
"""

from __future__ import annotations

import asyncio

from typing import Any

from tooldecl import NotFound, ToolClient, ToolError, tool


RUNS: list[str] = []


@tool
def look_up(key: str) -> dict[str, str]:
    """Look something up."""
    RUNS.append(key)
    if key == "nothing":
        raise NotFound
    if key == "no order":
        raise NotFound(f"There is no order {key}.")
    if key == "closed":
        raise ToolError("The shop is closed.", error_class="environment")
    if key == "secret":
        raise RuntimeError("postgres://ann:hunter2@db")
    if key == "exit":
        raise SystemExit(3)
    if key == "exit with words":
        raise SystemExit("hunter2")
    if key == "cancelled":
        raise asyncio.CancelledError
    if key == "stop":
        raise StopIteration(5)
    if key == "timeout":
        raise TimeoutError("hunter2")
    if key == "deep":
        return look_up("deep")
    if key == "assert":
        raise AssertionError("hunter2")
    if key == "import":
        raise ModuleNotFoundError("hunter2")
    if key == "group":
        raise ExceptionGroup("hunter2", [KeyError("hunter2"), OSError("hunter2")])
    if key == "mixed":
        raise ExceptionGroup("hunter2", [ToolError("Shop A is closed."), OSError()])
    if key == "group of nothing":
        raise ExceptionGroup("", [NotFound("Not in A."), NotFound("Not in B.")])

    return {key: "found"}


@tool(result_limit=10)
def talk() -> str:
    """Say too much."""
    RUNS.append("talk")

    return "x" * 11


@tool
def strange() -> object:
    """Return what has no JSON form."""
    RUNS.append("strange")

    return object()


def client_with(*filters: Any, **options: Any) -> ToolClient:
    """
    Build a client of these three.
    """
    return ToolClient([look_up, talk, strange], filters=filters, **options)
