"""
Loops that are tools of others, and calls of them.
"""

from __future__ import annotations

from typing import Any

from fronts import call
from loops import calls
from tooldecl import ToolCall, ToolClient, ToolLoop, ToolResult


def sub(loop: ToolLoop, **options: Any) -> Any:
    """
    Make a tool of a loop.
    """
    return loop.as_tool(name="research", description="Research something.", **options)


def ask(front: str, loop: ToolLoop, **options: Any) -> ToolResult:
    """
    Call a loop as a tool, once.
    """
    return call(front, ToolClient([sub(loop, **options)]), "research", {"task": "x"})


def one_call(name: str = "note", arguments: Any = None) -> list[ToolCall]:
    """
    Make a turn with one call.
    """
    return calls(("c", name, {"word": "w"} if arguments is None else arguments))
