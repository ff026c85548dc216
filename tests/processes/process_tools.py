"""
Tools that run in worker processes.
"""

from __future__ import annotations

import asyncio
import ctypes
import functools
import os
import signal
import sys
import threading
import time

from pathlib import Path
from typing import Any

from tooldecl import ToolClient, ToolContext, tool


apart = functools.partial(tool, isolation="process")


@apart()
def add(a: int, b: int) -> int:
    """
    Add.
    """
    return a + b


@apart()
def pid() -> int:
    """
    Say which process it runs in.
    """
    return os.getpid()


@apart()
def parent() -> int:
    """
    Say which process started it.
    """
    return os.getppid()


@apart()
async def echo(text: str) -> str:
    """
    Give the text back, from a loop.
    """
    await asyncio.sleep(0)

    return text


@apart()
def wait_for(go: str, ctx: ToolContext) -> int:
    """
    Say which process it runs in, and wait to be let go.
    """
    ctx.progress(os.getpid())
    with Path(go).open(encoding="ascii") as pipe:
        pipe.readline()

    return os.getpid()


@apart()
def end(how: str) -> str:
    """
    End the process that it runs in.
    """
    if how == "exit":
        os._exit(3)
    elif how == "zero":
        os._exit(0)
    elif how == "segfault":
        ctypes.string_at(0)
    elif how == "abort":
        os.abort()
    elif how == "in a thread":
        threading.Thread(target=os._exit, args=[4]).start()
    else:
        os.kill(os.getpid(), getattr(signal, how))
    time.sleep(60)

    return "unreachable"


@apart()
def rest() -> None:
    """
    Sleep.
    """
    time.sleep(60)


COUNT = 0


@apart()
def count() -> int:
    """
    Count its calls in its module.
    """
    global COUNT  # noqa: PLW0603 (that is what it is about)
    COUNT += 1

    return COUNT


@apart()
def take_memory(megabytes: int) -> int:
    """
    Take memory, all of it at once.
    """
    return len(bytearray(b"x") * (megabytes * 2**20))


@apart()
def take_crumbs(megabytes: int) -> int:
    """
    Take memory in small pieces, until there is none left.
    """
    held = [bytearray(100) for _ in range(megabytes * 2**20 // 200)]

    return len(held)


@apart()
def say(text: str) -> str:
    """
    Write to the output in all ways there are.
    """
    print(text)  # noqa: T201
    print(text, file=sys.__stdout__)
    os.write(1, text.encode())
    os.system(f"echo {text}")  # noqa: S605 (it inherits all that is open)
    sys.stdout.write("no line")

    return sys.stdin.read()


@apart()
def close_everything() -> str:
    """
    Close all descriptors, as what becomes a daemon does.
    """
    os.closerange(3, 256)

    return "closed"


@apart()
def fork_in_body() -> str:
    """
    Come back twice, once in a copy of the process.
    """
    return "parent" if os.fork() else "child"


@apart()
def big(size: int) -> str:
    """
    Return a long text.
    """
    return "x" * size


@apart()
def length(text: str) -> int:
    """
    Measure a text.
    """
    return len(text)


@apart(timeout=0.3)
def measure(text: str) -> int:
    """
    Measure a text, soon.
    """
    return len(text)


@apart(timeout=20)
def nested() -> list[Any]:
    """
    Call a tool of its own, in a worker of its own.
    """
    with ToolClient([add, end]) as client:
        died = client.invoke("end", {"how": "exit"})

        return [client.invoke("add", {"a": 1, "b": 2}).value, died.status]


TOOLS = [
    add,
    pid,
    parent,
    echo,
    wait_for,
    rest,
    end,
    count,
    take_memory,
    take_crumbs,
    say,
    close_everything,
    fork_in_body,
    big,
    length,
    measure,
]
