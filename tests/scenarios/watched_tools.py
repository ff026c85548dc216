"""
Tools whose calls give every kind of event, and what a hook has seen.
"""

from __future__ import annotations

from tooldecl import Retry, ToolContext, tool
from tooldecl.testing import RecordingHook


@tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@tool(retry=Retry(attempts=2, delay=1, jitter=0))
def flaky(ctx: ToolContext) -> str:
    """Fail once."""
    ctx.progress(ctx.attempt, 2, "trying")
    if ctx.attempt == 1:
        raise ConnectionError("no route")

    return "done"


@tool
def write(ctx: ToolContext) -> None:
    """Write."""
    ctx.write("x", 1)


def kinds(hook: RecordingHook) -> list[type]:
    """
    List the types of the events so far.
    """
    return [type(event) for event in hook.events]
