"""
A process that goes on with what another one has left: it knows the JSON, and nothing else.

``python resuming_process.py STEP DIRECTORY`` takes the text from its standard input and
writes what is left, and the results, to its standard output.
"""

from __future__ import annotations

import json
import os
import signal
import sys

from pathlib import Path
from typing import Any

from tooldecl import Suspension, ToolCall, ToolClient, ToolContext, tool
from tooldecl.engines import ThreadEngine
from tooldecl.filters import Approval, Approved, Denied, Suspend


def note(where: str, word: str) -> None:
    """
    Append a line to the file of runs; one write, on the disk before it goes on.
    """
    fd = os.open(Path(where) / "runs", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(fd, f"{word}\n".encode())
        os.fsync(fd)
    finally:
        os.close(fd)


@tool
def book(where: str, ctx: ToolContext) -> str:
    """Book."""
    note(where, "book")
    ctx.write("booked", True)

    return "booked"


@tool(sensitive=True)
def pay(where: str, amount: int, ctx: ToolContext) -> str:
    """Pay."""
    note(where, f"pay {amount}")
    if (Path(where) / "die").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    ctx.write("paid", amount)

    return f"{amount} {ctx.idempotency_key}"


@tool(external=True)
def click(where: str) -> int:
    """Click."""
    note(where, "click")

    return 0


def dying(request: Any) -> Any:
    """
    Die before the body, where that is wanted.
    """
    if (Path(request.arguments["where"]) / "die_before").exists():
        os.kill(os.getpid(), signal.SIGKILL)

    return (yield request)


def client() -> ToolClient:
    """
    Build the client, as every process of the host would.
    """
    return ToolClient(
        [book, pay, click],
        engine=ThreadEngine(),
        filters=[dying, Approval(lambda _: Suspend())],
    )


def calls(where: str) -> list[ToolCall]:
    """
    Return the calls of the batch.
    """
    return [
        ToolCall("book", {"where": where}, "b"),
        ToolCall("pay", {"where": where, "amount": 5}, "p"),
        ToolCall("pay", {"where": where, "amount": 7}, "q"),
        ToolCall("click", {"where": where}, "c"),
    ]


DECISIONS = {
    "first": {"p": Approved()},
    "second": {"q": Denied("no"), "c": 42},
    "all": {"p": Approved(), "q": Denied("no"), "c": 42},
}


def main(step: str, where: str) -> None:
    """
    Do one step, and tell of it.
    """
    with client() as c:
        if step == "begin":
            batch = c.invoke_batch(calls(where))
        else:
            suspension = Suspension.from_json(sys.stdin.read())
            batch = c.resume(suspension, DECISIONS[step])
        left = batch.suspension
        json.dump(
            {
                "left": None if left is None else left.to_json(),
                "results": [result.to_dict() for result in batch],
                "state": dict(c.state),
                "pid": os.getpid(),
            },
            sys.stdout,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
