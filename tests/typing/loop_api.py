"""
Right use of loops, as type checkers see it (R139): checked, never run.
"""

from __future__ import annotations

import threading

from collections.abc import Awaitable, Callable
from typing import Any, Literal, assert_type

from tooldecl import (
    Budget,
    LoopResult,
    Model,
    ModelRequest,
    StopReason,
    Suspension,
    ToolCall,
    ToolClient,
    ToolLoop,
    ToolResult,
    Turn,
)
from tooldecl.exceptions import SubRunError
from tooldecl.filters import Again, Approved, Proceed
from tooldecl.testing import ScriptedModel


class Own:
    def respond(self, request: ModelRequest, /) -> Turn:
        return Turn(calls=[ToolCall(t["name"]) for t in request.tools])

    async def arespond(self, request: ModelRequest, /) -> Turn:
        return self.respond(request)


def as_model(model: Model) -> Model:
    return model


client = ToolClient([])
as_model(ScriptedModel([Turn("x"), ValueError()]))
loop = ToolLoop(
    client,
    as_model(Own()),
    max_turns=3,
    budget=Budget(calls=5),
    failures="raise",
    eligible=lambda turn: not turn.truncated,
    on_environment_error="pause",
)


def told(result: LoopResult) -> None: ...


async def runs(ends: list[LoopResult]) -> None:
    assert_type(loop.run("Hi"), LoopResult)
    assert_type(loop.run([{"role": "user", "content": "Hi"}]), LoopResult)
    assert_type(await loop.arun("Hi", stop=threading.Event()), LoopResult)
    loop.run("Hi", on_end=ends.append, deps=object())
    loop.run("Hi", on_end=told)


async def results(result: LoopResult) -> None:
    assert_type(result.stop_reason, StopReason)
    assert_type(result.results, tuple[ToolResult, ...])
    assert_type(result.messages, list[dict[str, Any]])
    assert_type(result.suspension, Suspension | None)
    assert_type(result.truncated, bool)
    assert_type(
        result.stopped_by, Literal["calls", "per_tool", "seconds", "repeats"] | None
    )
    if result.suspension is not None:
        assert_type(loop.resume(result.suspension, {"a": Approved()}), LoopResult)
        assert_type(
            await loop.aresume(result.suspension, {"a": Again(), "b": Proceed()}),
            LoopResult,
        )
    assert_type(ToolLoop.close_transcript(result.messages), list[dict[str, Any]])


def tools() -> None:
    one = loop.as_tool(name="ask", description="Ask.", timeout=5, retry=2)
    several = loop.fan_out(name="scout", description="Scout.", max_concurrency=2)
    assert_type(one, Callable[[str], Awaitable[str]])
    assert_type(several, Callable[[list[str]], Awaitable[list[dict[str, str]]]])
    ToolClient([one, several])


def errors(error: SubRunError) -> None:
    assert_type(error.stop_reason, str)
