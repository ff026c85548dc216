"""
Tools that an executor runs; each holds a lifeline, and says on it where it runs.
"""

from __future__ import annotations

import os

from collections.abc import Awaitable
from pathlib import Path

from processes import hanging_tools
from tooldecl import Retry, ToolContext, tool


def hold_on(line: str) -> None:
    """
    Hold a lifeline until this process ends, and say whose it is.
    """
    os.write(os.open(line, os.O_WRONLY), f"{os.getpid()}\n".encode())


@tool(timeout=hanging_tools.SHORT)
def hang_as(how: str, line: str, ctx: ToolContext) -> Awaitable[None] | None:
    """
    Hang in one of the ways that there are.
    """
    hold_on(line)
    hanging: Awaitable[None] | None = getattr(hanging_tools, how)(ctx)

    return hanging


@tool
def hang(line: str) -> None:
    """
    Hang, without a limit of its own.
    """
    hold_on(line)
    while True:
        pass


@tool(retry=3)
def hang_first(line: str, marker: str) -> str:
    """
    Hang where nobody has been before.
    """
    return _hang_first(line, marker)


@tool(retry=3, idempotent=True)
def hang_first_again(line: str, marker: str) -> str:
    """
    Hang where nobody has been before; safe to run twice.
    """
    return _hang_first(line, marker)


def _hang_first(line: str, marker: str) -> str:
    before = Path(marker).exists()
    with Path(marker).open("a", encoding="ascii") as file:
        file.write("ran\n")
    if not before:
        hold_on(line)
        while True:
            pass

    return "done"


@tool
def mark(marker: str) -> str:
    """
    Leave a mark.
    """
    with Path(marker).open("a", encoding="ascii") as file:
        file.write("ran\n")

    return "marked"


@tool
def about(ctx: ToolContext) -> list[object]:
    """
    Say what is known of the call, and where.
    """
    return [ctx.call_id, ctx.attempt, dict(ctx.state), os.getpid(), os.getppid()]


@tool
def fail(kind: str) -> None:
    """
    Fail.
    """
    raise {"value": ValueError("no"), "exit": SystemExit(3)}[kind]


@tool(retry=Retry(attempts=3, delay=0.001, on=(ValueError,)))
def fail_often() -> None:
    """
    Fail, each time.
    """
    raise ValueError("no")


@tool(retry=3)
def note_again(path: str) -> None:
    """
    Note in a file that it runs; not safe to run twice.
    """
    with Path(path).open("a", encoding="utf-8") as file:
        file.write("ran\n")
