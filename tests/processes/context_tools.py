"""
Tools that use their context from inside of a worker.
"""

from __future__ import annotations

import contextvars
import os
import threading

from typing import Any

from processes.process_tools import apart
from tooldecl import ToolContext, current_context


WHO = contextvars.ContextVar("who", default="nobody")


@apart(timeout=30)
def know(ctx: ToolContext) -> dict[str, Any]:
    """
    Tell what the context knows.
    """
    return {
        "call_id": ctx.call_id,
        "tool": ctx.tool,
        "attempt": ctx.attempt,
        "key": ctx.idempotency_key,
        "is current": current_context() is ctx,
        "cancelled": ctx.cancelled,
        "in time": 0 < (ctx.remaining() or 0) <= 30,
        "deps": ctx.deps,
        "previous": ctx.previous_error,
        "who": WHO.get(),
    }


@apart()
def use_deps(ctx: ToolContext) -> str:
    """
    Ask for what does not cross.
    """
    return str(ctx.deps)


@apart()
def read(slot: str, how: str, ctx: ToolContext) -> Any:
    """
    Read a slot of the state.
    """
    if how == "get":
        return ctx.state.get(slot, "default")
    if how == "change":
        ctx.state[slot]["b"] = 5  # type: ignore[index]

    return ctx.state[slot]


@apart()
def write(what: str, ctx: ToolContext) -> str:
    """
    Write to the state.
    """
    values: dict[str, Any] = {
        "plain": {"a": [1, "x"]},
        "pair": (1, {2}),
        "text": "5",
        "lambda": lambda: 1,
    }
    ctx.write("slot", values[what])
    ctx.write("other", 1)

    return "written"


@apart()
def write_and_fail(ctx: ToolContext) -> str:
    """
    Write, and raise.
    """
    ctx.write("slot", 1)
    raise ValueError


@apart()
def tell(ctx: ToolContext) -> str:
    """
    Say how far it is, in all ways.
    """
    ctx.progress(1)
    ctx.progress(0.5, 2, "half")
    ctx.progress(float("nan"), float("inf"), "odd")
    ctx.progress(3, 3, "\ud800")

    return "told"


@apart()
def tell_late(ctx: ToolContext, bypass: bool) -> int:
    """
    Go on to tell after the answer; with *bypass* even by what only we may use.
    """
    tell: Any = ctx._call.on_progress

    def go_on() -> None:
        for number in range(1000):
            if bypass:
                tell(ctx, number, None, "late")
            else:
                ctx.progress(number, None, "late")

    threading.Thread(target=go_on, daemon=True).start()

    return os.getpid()


class Deps:
    """
    An object of the host.
    """
