"""
Tools that name a slot, and that count in one.
"""

from __future__ import annotations

from tooldecl import ToolContext, tool


@tool
def write(slot: str) -> dict[str, str]:
    """Write to a slot."""
    return {"slot": slot}


@tool
def count(slot: str, ctx: ToolContext) -> int:
    """Count in a slot."""
    number = ctx.state.get(slot, 0) + 1
    ctx.write(slot, number)

    return number
