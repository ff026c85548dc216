"""
One result, that went well or did not.
"""

from __future__ import annotations

from tooldecl import Fate, Status, ToolResult
from tooldecl.exceptions import ToolFailedError


def result(**changes: object) -> ToolResult:
    """
    Make a result with some fields of one's own.
    """
    fields = {
        "call_id": "c1",
        "name": "pay",
        "status": Status.OK,
        "content": '{"paid":5}',
        "value": {"paid": 5},
        "fate": Fate.COMPLETED,
        "attempts": 1,
    }

    return ToolResult(**fields | changes)


FAILURE = result(
    status=Status.TOOL_ERROR,
    content="Tool 'pay' failed: KeyError.",
    value=None,
    error=ToolFailedError(tool="pay", type_names=["KeyError"]),
    error_class="semantic",
)
