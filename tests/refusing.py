"""
What no framework could keep, and the errors that say so when an adapter is made.
"""

from __future__ import annotations

from typing import Any

from tooldecl import Budget, ToolClient, tool
from tooldecl.engines import ThreadEngine


@tool
def fine() -> str:
    """
    Have nothing about it.
    """
    return "fine"


@tool(return_direct=True, tags=["odd"])
def direct() -> str:
    """
    Be the answer.
    """
    return "direct"


@tool(external=True, tags=["odd"])
def click() -> str:
    """
    Be run by somebody else.
    """


def whole_turns() -> list[tuple[ToolClient, str]]:
    """
    List clients that look at a turn as a whole, with the errors that they meet.
    """
    return [
        (
            ToolClient([fine], budget=Budget(per_turn=3)),
            "the client has a Budget(per_turn=3), and the framework makes its calls one "
            "by one, so no turn is ever seen. Limit calls, per_tool, seconds or repeats "
            "instead.",
        ),
        (
            ToolClient(
                [fine], engine=ThreadEngine(max_concurrency=2, over_limit="sequential")
            ),
            "the client's ThreadEngine has over_limit='sequential', and the framework "
            "makes its calls one by one, so no batch is ever too large. Use 'queue' or "
            "'reject'.",
        ),
    ]


def refusals(convert: Any) -> list[str]:
    """
    List what an adapter says of a client that asks for everything at once.
    """
    client = ToolClient([fine, direct, click], budget=Budget(per_turn=3))
    try:
        convert(client)
    except ExceptionGroup as group:
        return [str(fault) for fault in group.exceptions]

    return []
