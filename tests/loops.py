"""
Run loops by either front, and check transcripts as a strict provider does.
"""

from __future__ import annotations

import asyncio
import json

from collections.abc import Iterable
from typing import Any

from tooldecl import LoopResult, Suspension, ToolCall, ToolLoop, Turn
from tooldecl.testing import ScriptedModel


def run(front: str, loop: ToolLoop, messages: Any = "Hi", **options: Any) -> LoopResult:
    """
    Run a loop from a script without an event loop, or from one.
    """
    if front == "sync":
        return loop.run(messages, **options)

    return asyncio.run(loop.arun(messages, **options))


def resume(
    front: str, loop: ToolLoop, suspension: Any, decisions: Any, **options: Any
) -> LoopResult:
    """
    Go on with a run by either front.
    """
    if front == "sync":
        return loop.resume(suspension, decisions, **options)

    return asyncio.run(loop.aresume(suspension, decisions, **options))


def scripted(*turns: Any) -> ScriptedModel:
    """
    Make a model that says each of *turns*: a text, a list of calls, or a Turn.
    """
    return ScriptedModel(
        [
            turn
            if isinstance(turn, (Turn, Exception))
            else Turn(turn)
            if isinstance(turn, str)
            else Turn(calls=turn)
            for turn in turns
        ]
    )


def calls(*entries: Any) -> list[ToolCall]:
    """
    Make calls of (id, tool, arguments), or of (id, tool).
    """
    return [ToolCall(name, *arguments, id=i) for i, name, *arguments in entries]


def stored(suspension: Any) -> Suspension:
    """
    Return what is left of a suspension after it was written down and read.
    """
    return Suspension.from_json(suspension.to_json())


def outcomes(result: LoopResult) -> list[tuple[str, str]]:
    """
    List the ids and statuses of a run's results.
    """
    return [(one.call_id, one.status.value) for one in result.results]


def check(messages: Iterable[Any]) -> None:
    """
    Check what a strict provider checks: each call has one answer, right after its turn.
    """
    open_ids: list[str] = []
    for message in json.loads(json.dumps(list(messages), allow_nan=False)):
        if message["role"] == "tool":
            open_ids.remove(message["tool_call_id"])
            assert message["content"]
            continue
        assert [] == open_ids
        open_ids = [call["id"] for call in message.get("tool_calls", ())]
        assert len(open_ids) == len(set(open_ids))
    assert [] == open_ids
