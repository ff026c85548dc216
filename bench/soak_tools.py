"""
The tools of the soak, in a module of their own so that workers can import them.

A body that hangs says first until when it may, as its progress; what no process ends is
ended by `release`.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import threading
import time

from tooldecl import ToolContext, tool


FOREVER = 3600

# Seconds for a body that is to hang: long enough to begin, short enough to wait for.
BRIEF = 0.02
# The same where a thousand have to begin before the first is over.
LONG = 1.0

_events = [threading.Event()]
_held: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []


def release() -> None:
    """
    End every body that hangs in this process, and let the next ones hang again.
    """
    held, events = _held[:], _events[:]
    _held.clear()
    _events[:] = [threading.Event()]
    for event in events:
        event.set()
    for loop, flag in held:
        try:
            loop.call_soon_threadsafe(flag.set)
        except RuntimeError:  # it has ended with its loop
            pass


def wait(ctx: ToolContext) -> None:
    """Hang, whatever one does."""
    ctx.progress(ctx.deadline)
    _events[-1].wait(FOREVER)


async def swallow(ctx: ToolContext) -> None:
    """Hang, and refuse to be cancelled."""
    event = asyncio.Event()
    _held.append((asyncio.get_running_loop(), event))
    ctx.progress(ctx.deadline)
    while not event.is_set():
        try:
            await event.wait()
        except asyncio.CancelledError:
            continue


async def yield_up(ctx: ToolContext) -> None:
    """Hang until cancelled."""
    ctx.progress(ctx.deadline)
    await asyncio.sleep(FOREVER)


hung_task = tool(name="hung_task", timeout=BRIEF)(swallow)
hung_thread = tool(name="hung_thread", timeout=BRIEF)(wait)
hung_loop = tool(name="hung_loop", timeout=BRIEF, isolation="thread")(swallow)
long_task = tool(name="long_task", timeout=LONG)(yield_up)
long_swallow = tool(name="long_swallow", timeout=LONG)(swallow)
long_thread = tool(name="long_thread", timeout=LONG)(wait)


@tool(timeout=BRIEF, isolation="process")
def hung_process(ctx: ToolContext) -> None:
    """Sleep in a process."""
    ctx.progress(ctx.deadline)
    time.sleep(FOREVER)


@tool(timeout=BRIEF, isolation="process")
def spin_process(ctx: ToolContext) -> None:
    """Use up a processor."""
    ctx.progress(ctx.deadline)
    while True:
        pass


@tool(timeout=LONG, isolation="process")
def long_process(ctx: ToolContext) -> None:
    """Sleep longer in a process."""
    ctx.progress(ctx.deadline)
    time.sleep(FOREVER)


@tool(timeout=0.1, isolation="process")
def hung_parent(marker: str, ctx: ToolContext) -> None:
    """Start a program in a session of its own, then sleep."""
    ctx.progress(ctx.deadline)
    with start(marker, apart=True):
        time.sleep(FOREVER)


@tool(isolation="process")
def work(number: int, marker: str, victim: bool, ctx: ToolContext) -> list[int]:
    """Work with a program for a moment; a victim waits for its end."""
    program = start(marker, apart=number % 2 == 0)
    ctx.progress(os.getpid())
    if victim:
        time.sleep(FOREVER)
    time.sleep(0.005)
    program.kill()
    program.wait()

    return [number, os.getpid()]


def start(marker: str, *, apart: bool) -> subprocess.Popen[bytes]:
    """
    Start a program that sleeps, known by its argument.
    """
    return subprocess.Popen(["sleep", marker], start_new_session=apart)  # noqa: S607


@tool
def quick_sync() -> int:
    """Return at once."""
    return 1


@tool
async def quick_async() -> int:
    """Return at once."""
    return 1


@tool(isolation="thread")
async def quick_loop() -> int:
    """Return at once, on a loop of its own."""
    return 1


@tool(isolation="process")
def quick_process() -> int:
    """Return at once, in a worker."""
    return 1


@tool
async def echo(number: int) -> int:
    """Return what was given, after a turn of the loop."""
    await asyncio.sleep(0)

    return number


@tool(serial="group")
async def echo_alone(number: int) -> int:
    """Return what was given, one call after the other."""
    await asyncio.sleep(0)

    return number


@tool
async def echo_late(number: int) -> int:
    """Return what was given, each call at another moment."""
    await asyncio.sleep(0.2 + number * 3e-4)

    return number
