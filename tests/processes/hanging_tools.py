"""
Bodies that no thread could be rid of; each says first which process it runs in.
"""

from __future__ import annotations

import asyncio
import ctypes
import functools
import os
import signal
import time

from collections.abc import Callable
from typing import Literal

from tooldecl import Retry, ToolContext, tool


SHORT = 0.2
FOREVER = 60

briefly = functools.partial(tool, isolation="process", timeout=SHORT)


@briefly()
def spin(ctx: ToolContext) -> None:
    """
    Loop for ever.
    """
    ctx.progress(os.getpid())
    while True:
        pass


@briefly()
def nap(ctx: ToolContext) -> None:
    """
    Sleep.
    """
    ctx.progress(os.getpid())
    time.sleep(FOREVER)


@briefly()
def hold_lock(ctx: ToolContext) -> None:
    """
    Run C code that never lets go of the interpreter's lock.
    """
    ctx.progress(os.getpid())
    sum(range(10**11))


@briefly()
def hold_lock_asleep(ctx: ToolContext) -> None:
    """
    Sleep with the interpreter's lock held.
    """
    ctx.progress(os.getpid())
    ctypes.PyDLL(None).sleep(FOREVER)


@briefly()
def swallow(ctx: ToolContext) -> None:
    """
    Swallow whatever is raised in it.
    """
    ctx.progress(os.getpid())
    while True:
        try:
            time.sleep(FOREVER)
        except BaseException:  # noqa: S112 (that is what it is about)
            continue


@briefly()
def ignore_signals(ctx: ToolContext) -> None:
    """
    Ignore every signal that can be ignored.
    """
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    ctx.progress(os.getpid())
    while True:
        pass


@tool(isolation="process", timeout=1.5)
def fat(ctx: ToolContext) -> None:
    """
    Hold half a gigabyte.
    """
    ctx.progress(os.getpid())
    held = bytearray(b"x") * (500 * 2**20)
    while held:
        pass


@briefly()
async def swallow_cancel(ctx: ToolContext) -> None:
    """
    Swallow cancellations.
    """
    ctx.progress(os.getpid())
    while True:
        try:
            await asyncio.sleep(FOREVER)
        except BaseException:  # noqa: S112 (that is what it is about)
            continue


@briefly()
async def block_loop(ctx: ToolContext) -> None:
    """
    Hold the loop.
    """
    ctx.progress(os.getpid())
    time.sleep(FOREVER)  # noqa: ASYNC251 (that is what it is about)


@briefly()
def tell_for_ever(ctx: ToolContext) -> None:
    """
    Say how far it is, without an end.
    """
    while True:
        ctx.progress(os.getpid())


@briefly()
def leave_group(ctx: ToolContext) -> None:
    """
    Leave the process group that it is killed by.
    """
    os.setpgid(0, os.getpgid(os.getppid()))
    ctx.progress(os.getpid())
    while True:
        pass


HANGING: dict[str, Callable[..., object]] = {
    found.__name__: found
    for found in (
        spin,
        nap,
        hold_lock,
        hold_lock_asleep,
        swallow,
        ignore_signals,
        fat,
        swallow_cancel,
        block_loop,
        tell_for_ever,
        leave_group,
    )
}

How = Literal["group", "session", "double"]


def start_other(how: How, line: str, go: str, marker: str) -> None:
    """
    Start a program that says its number, waits, and then leaves a mark.
    """
    said = os.open(line, os.O_WRONLY)
    pid = os.fork()
    if pid:
        if how == "double":
            os.waitpid(pid, 0)
        return
    try:
        if how != "group":
            os.setsid()
        if how == "double" and os.fork():
            os._exit(0)
        os.dup2(said, 9)
        script = f'echo $$ >&9; read x < "{go}"; echo > "{marker}"'
        os.execvp("/bin/sh", ["sh", "-c", script])  # noqa: S606 (it stays no child)
    finally:
        os._exit(1)


@briefly(timeout=1.0)  # in which the other program has to start, on a busy machine too
def start_and_hang(how: How, line: str, go: str, marker: str) -> None:
    """
    Start a program, and wait for ever.
    """
    start_other(how, line, go, marker)
    time.sleep(FOREVER)


@tool(isolation="process")
def start_and_wait(how: How, line: str, go: str, marker: str, ctx: ToolContext) -> None:
    """
    Start a program, and wait for ever, without a limit.
    """
    start_other(how, line, go, marker)
    ctx.progress(os.getpid())
    time.sleep(FOREVER)


@tool(isolation="process")
def start_and_die(how: How, line: str, go: str, marker: str) -> None:
    """
    Start a program, and end the process.
    """
    start_other(how, line, go, marker)
    os._exit(3)


@tool(isolation="process")
def start_and_return(how: How, line: str, go: str, marker: str) -> str:
    """
    Start a program, and leave it to itself.
    """
    start_other(how, line, go, marker)

    return "started"


@briefly(retry=Retry(attempts=2, delay=0, on=(TimeoutError,)))
def spin_again(ctx: ToolContext) -> None:
    """
    Loop for ever, in every attempt.
    """
    ctx.progress(os.getpid())
    while True:
        pass


@tool
def plain_nap() -> None:
    """
    Sleep, wherever the engine puts it.
    """
    time.sleep(FOREVER)


@tool(isolation="process", timeout=0.01)
def briefly_spin() -> None:
    """
    Loop for ever, under a tiny timeout.
    """
    while True:
        pass
