"""
Tools that a cluster runs; each says on a lifeline where it is.
"""

from __future__ import annotations

import os
import sys
import time

from collections.abc import Awaitable
from pathlib import Path

from processes import hanging_tools
from processes.executor_tools import hold_on
from tooldecl import ToolContext, tool


@tool
def hang_for_good(how: str, line: str, ctx: ToolContext) -> Awaitable[None] | None:
    """
    Hang in one of the ways that there are, without a limit.
    """
    hold_on(line)
    hanging: Awaitable[None] | None = getattr(hanging_tools, how)(ctx)

    return hanging


@tool
def mark_one(folder: str, number: int, line: str) -> int:
    """
    Leave a mark for each time that this number has come; the last ones wait for their end.
    """
    fd = os.open(Path(folder) / "marks", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, f"{number}\n".encode())
    os.close(fd)
    if line:
        hold_on(line)
        time.sleep(hanging_tools.FOREVER)
    else:
        time.sleep(0.01)

    return number


@tool
def shout(text: str) -> None:
    """
    Say something on both streams.
    """
    sys.stdout.write(f"out {text}\n")
    sys.stderr.write(f"err {text}\n")


@tool
def surroundings(names: list[str]) -> dict[str, str | None]:
    """
    Say what is in the environment.
    """
    return {name: os.environ.get(name) for name in names}


@tool
def count_to(number: int, ctx: ToolContext) -> int:
    """
    Say how far it is, each time.
    """
    for done in range(number):
        ctx.progress(done, number, f"step {done}")

    return number


@tool
def repeat(text: str, times: int) -> str:
    """
    Say much.
    """
    return text * times
