"""
Tools that are served, and that a server in another process finds by this module.

They tell of themselves through files in the directory that ``STAGE`` names.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading

from dataclasses import dataclass
from pathlib import Path

from tooldecl import Budget, NotFound, ToolClient, ToolContext, ToolError, tool
from tooldecl.engines import AsyncioEngine
from tooldecl.filters import Approval, Denied


HANGS_AFTER = 30

print("printed by the import of the module")  # noqa: T201 (what must not be sent)


@dataclass
class Sum:
    """
    What `add_up` finds.
    """

    total: int
    count: int


def stage() -> Path:
    """
    Return the directory of the test.
    """
    return Path(os.environ["STAGE"])


def mark(name: str) -> None:
    """
    Leave a file that says that something happened.
    """
    (stage() / name).touch()


@tool(idempotent=True)
def add(a: int, b: int) -> int:
    """
    Add two integers.
    """
    return a + b


@tool
def add_up(numbers: list[int]) -> Sum:
    """
    Add up a list of integers.
    """
    return Sum(total=sum(numbers), count=len(numbers))


@tool
def look_up(key: str) -> str:
    """
    Look something up that is not there.
    """
    raise NotFound(f"There is no {key}.")


@tool
def fail(text: str) -> str:
    """
    Fail, in these words.
    """
    raise ToolError(text)


@tool
def break_down() -> str:
    """
    Fail with an exception that is not for the model.
    """
    raise KeyError("a secret of the host")


@tool(timeout=0.2)
async def late_task() -> None:
    """
    Wait for ever, in a task.
    """
    await asyncio.Event().wait()


@tool(timeout=0.2)
def late_thread(ctx: ToolContext) -> None:
    """
    Wait in a thread, until it is told that nobody waits for it any more.
    """
    while not ctx.cancelled:
        pause()


def pause() -> None:
    """
    Let a moment pass in a loop that waits for a flag.
    """
    threading.Event().wait(0.01)


@tool(timeout=1, isolation="process")
def late_process() -> None:
    """
    Wait in a process.
    """
    threading.Event().wait(HANGS_AFTER)


@tool
async def wait_here(name: str) -> None:
    """
    Wait until it is cancelled, and say so in files.
    """
    mark(f"{name}-begun")
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        mark(f"{name}-cancelled")
        raise


@tool
def step(ctx: ToolContext) -> str:
    """
    Take three steps, and tell of each; also what the protocol does not want.
    """
    ctx.progress(1, 3, "one")
    ctx.progress(1, 3, "one again")
    ctx.progress(2, 3)
    ctx.progress(float("nan"))
    ctx.progress(3, 3, "three")

    return "done"


@tool
def chatter(words: int) -> str:
    """
    Print in every way there is, and return how many words.
    """
    for _ in range(words):
        print("print")  # noqa: T201
        sys.stdout.write("sys.stdout\n")
        os.write(1, b"descriptor 1\n")
        print("the stream of the interpreter", file=sys.__stdout__)
    sys.stdout.flush()
    subprocess.run(["/bin/echo", "a program"], check=True)
    rest = sys.stdin.read() if sys.stdin else ""

    return f"{words} words, {len(rest)} read"


@tool(serial=True)
async def alone(name: str) -> bool:
    """
    Run alone, and say whether anybody else was there.
    """
    mark(f"{name}-begun")
    found = [path.name for path in stage().glob("*-here")]
    await asyncio.sleep(0)

    return not found


@tool
async def with_others(name: str) -> None:
    """
    Be there until a file says that it may go.
    """
    mark(f"{name}-here")
    while not (stage() / f"{name}-go").exists():  # noqa: ASYNC110 (another process)
        await asyncio.sleep(0.05)
    (stage() / f"{name}-here").unlink()


tools = [
    add,
    add_up,
    look_up,
    fail,
    break_down,
    late_task,
    late_thread,
    late_process,
    wait_here,
    step,
    chatter,
    alone,
    with_others,
]


def make() -> ToolClient:
    """
    Make a client of all of them, for as many calls at once as there are.
    """
    return ToolClient(tools, engine=AsyncioEngine(max_concurrency=None))


client = make()


@tool(sensitive=True)
def pay(amount: int) -> str:
    """
    Pay an amount.
    """
    return f"paid {amount}"


def small_sums(request):
    """
    Refuse what is more than ten.
    """
    if request.arguments["amount"] > 10:
        return Denied("more than ten")

    from tooldecl.filters import Approved

    return Approved()


cashier = ToolClient([pay], filters=[Approval(small_sums)], budget=Budget(calls=3))
sensitive = [pay]
