"""
Whose limits hold for a tool: its own before those of its engine or its client.
"""

from __future__ import annotations

from tooldecl import ToolMeta
from tooldecl._ways import resolve_limits


def test_the_limits_of_a_tool_come_before_the_clients():
    """
    One limit at one place, and the author of a tool knows its results best.
    """
    own = ToolMeta(name="f", description="F.", result_limit=9, on_overflow="truncate")
    none = ToolMeta(name="f", description="F.", result_limit=None)
    neither = ToolMeta(name="f", description="F.")

    assert [(9, "truncate"), (None, "fail"), (5, "fail")] == [
        resolve_limits(meta, 5, "fail") for meta in (own, none, neither)
    ]
