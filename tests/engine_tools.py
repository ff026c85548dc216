"""
Tools that any engine can run, in this process or in another.

They are found by their names in this module, and tell what they do through files and
pipes in a directory that the test gives them (`engine_stage.Stage`).
"""

from __future__ import annotations

import asyncio
import os
import select
import sys

from pathlib import Path

from tooldecl import NotFound, ToolContext, tool


HANGS_AFTER = 30
# Long enough for a busy machine, short enough for the controls, which wait in vain.
VAIN = 0.5


def note(where: str, line: str) -> None:
    """
    Append a line to the journal; one write, so that lines never mix.
    """
    fd = os.open(Path(where) / "journal", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(fd, f"{line}\n".encode())
    finally:
        os.close(fd)


def post(where: str, box: str, count: int = 1) -> None:
    """
    Put tokens into a box.
    """
    fd = os.open(Path(where) / box, os.O_WRONLY | os.O_NONBLOCK)
    try:
        os.write(fd, b"." * count)
    finally:
        os.close(fd)


def take(where: str, box: str, seconds: float = HANGS_AFTER) -> None:
    """
    Wait for a token in a box, and take it out.
    """
    fd = os.open(Path(where) / box, os.O_RDONLY | os.O_NONBLOCK)
    try:
        while select.select([fd], [], [], seconds)[0]:
            try:
                if os.read(fd, 1):
                    return
            except BlockingIOError:  # somebody else was quicker
                continue
            break
    finally:
        os.close(fd)

    raise TimeoutError(f"Nothing came to {box}.")


def passed(where: str, word: str) -> str:
    """
    Arrive, be held until the test lets one go, and leave.
    """
    note(where, f"in {word}")
    post(where, "arrived")
    take(where, "go")
    note(where, f"out {word}")

    return word.upper()


@tool
def work(where: str, word: str) -> str:
    """Come and go."""
    note(where, f"in {word}")
    note(where, f"out {word}")
    post(where, "done")

    return word.upper()


@tool
async def awork(where: str, word: str) -> str:
    """Come and go."""
    note(where, f"in {word}")
    await asyncio.sleep(0)
    note(where, f"out {word}")
    post(where, "done")

    return word.upper()


@tool(serial=True)
def alone(where: str, word: str) -> str:
    """Come and go alone."""
    note(where, f"in {word}")
    note(where, f"out {word}")
    post(where, "done")

    return word.upper()


@tool
def hold(where: str, word: str) -> str:
    """Be held."""
    return passed(where, word)


@tool
async def ahold(where: str, word: str) -> str:
    """Be held, without holding a loop."""
    return await asyncio.to_thread(passed, where, word)


@tool(serial=True)
def hold_alone(where: str, word: str) -> str:
    """Be held alone."""
    return passed(where, word)


@tool(serial="disk")
def hold_disk(where: str, word: str) -> str:
    """Be held, one of its group."""
    return passed(where, word)


@tool(serial="tape")
def hold_tape(where: str, word: str) -> str:
    """Be held, one of another group."""
    return passed(where, word)


@tool
def meet(where: str, mine: str, other: str, seconds: float = HANGS_AFTER) -> str:
    """Meet another call, which has to be inside at the same time."""
    post(where, mine)
    take(where, other, seconds)

    return mine


@tool
async def ameet(where: str, mine: str, other: str, seconds: float = HANGS_AFTER) -> str:
    """Meet another call, which has to be inside at the same time."""
    post(where, mine)
    await asyncio.to_thread(take, where, other, seconds)

    return mine


@tool
def boom(where: str, word: str) -> str:
    """Fail."""
    note(where, f"in {word}")
    raise ValueError(word)


@tool
def nothing(where: str, word: str) -> str:
    """Find nothing."""
    raise NotFound("There is none.")


@tool
def recurse(where: str, word: str) -> str:
    """Exhaust the stack."""
    return recurse(where, word)


@tool
def leave(where: str, word: str) -> str:
    """Ask the interpreter to end."""
    sys.exit(3)


@tool
def fatal(where: str, word: str) -> str:
    """Raise what means stop."""
    note(where, f"in {word}")
    raise {"memory": MemoryError, "keyboard": KeyboardInterrupt}[word]("out")


@tool
async def afatal(where: str, word: str) -> str:
    """Raise what means stop."""
    note(where, f"in {word}")
    await asyncio.sleep(0)
    raise {"memory": MemoryError, "keyboard": KeyboardInterrupt}[word]("out")


@tool
def put(where: str, slot: str, value: int, ctx: ToolContext) -> int:
    """Write a slot of the state."""
    ctx.write(slot, value)

    return value


@tool
def put_late(where: str, slot: str, value: int, ctx: ToolContext) -> int:
    """Write a slot of the state once somebody else is done."""
    take(where, "done")
    ctx.write(slot, value)

    return value


@tool
def put_early(where: str, slot: str, value: int, ctx: ToolContext) -> int:
    """Write a slot of the state, and let `put_late` or `look_late` go on."""
    ctx.write(slot, value)
    post(where, "done")

    return value


@tool
def put_and_fail(where: str, slot: str, value: int, ctx: ToolContext) -> int:
    """Write a slot of the state, and fail."""
    ctx.write(slot, value)
    raise ValueError(slot)


@tool
def look_late(where: str, slot: str, ctx: ToolContext) -> int | None:
    """Read a slot of the state once another call has written it."""
    take(where, "done")

    return ctx.state.get(slot)


@tool
def tell(number: int, ctx: ToolContext) -> list[object]:
    """Tell what the context says of this call."""
    return [number, ctx.call_id, ctx.attempt, ctx.idempotency_key]


TOOLS = [
    work,
    awork,
    alone,
    hold,
    ahold,
    hold_alone,
    hold_disk,
    hold_tape,
    meet,
    ameet,
    boom,
    nothing,
    recurse,
    leave,
    fatal,
    afatal,
    put,
    put_late,
    put_early,
    put_and_fail,
    look_late,
    tell,
]
