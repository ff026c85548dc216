"""
Loops of a scripted model that adds, fails and answers directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import loops

from tooldecl import LoopResult, ToolCall, ToolClient, ToolError, ToolLoop, Turn, tool
from tooldecl.testing import ScriptedModel


RUNS: list[Any] = []


@tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    RUNS.append((a, b))

    return a + b


@tool
def boom() -> None:
    """Fail."""
    RUNS.append("boom")
    raise ValueError("no")


@tool(return_direct=True)
def direct(word: str) -> str:
    """Answer directly."""
    RUNS.append(word)
    if word == "fail":
        raise ToolError("No.")

    return word


def adding(a: Any, b: Any, call_id: str | None = None) -> ToolCall:
    """
    Make a call of the adder.
    """
    return ToolCall("add", {"a": a, "b": b}, call_id)


def run(
    front: str,
    script: Sequence[Turn | Exception],
    messages: Any = "Hi",
    *,
    client: ToolClient | None = None,
    **options: Any,
) -> tuple[LoopResult, ScriptedModel]:
    """
    Run a loop of a scripted model by either front; return its result and the model.
    """
    model = ScriptedModel(script)
    loop = ToolLoop(client or ToolClient([add, boom, direct]), model, **options)

    return loops.run(front, loop, messages), model


def check(messages: Sequence[Any]) -> None:
    """
    Check what a strict provider checks, and that no id stands for two calls of a run.
    """
    loops.check(messages)
    ids = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    assert len(ids) == len(set(ids))
