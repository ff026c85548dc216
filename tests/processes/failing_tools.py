"""
Tools that fail in every way there is, in a worker and in the host's process.
"""

from __future__ import annotations

import asyncio
import os

from typing import Any

from processes.process_tools import apart
from tooldecl import NotFound, Retry, ToolContext, ToolError, tool


class TwoArgumentsError(Exception):
    """
    An error that no pickle restores.
    """

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


class UnspeakableError(Exception):
    """
    An error without a text.
    """

    def __str__(self) -> str:
        raise RuntimeError("no text")


class StopTheRunError(Exception):
    """
    A signal of a host's own, whose constructor wants more than a text.
    """

    def __new__(cls, one: int, two: int) -> Any:
        """
        Refuse to be made of less.
        """
        return super().__new__(cls, one, two)

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"stop at {one} of {two}")


def _caused() -> ToolError:
    error = ToolError("Cannot reach it.")
    error.__cause__ = ConnectionRefusedError("refused")

    return error


ERRORS: dict[str, BaseException] = {
    "value": ValueError("secret 17"),
    "connection": ConnectionResetError("reset"),
    "timeout": TimeoutError("its own"),
    "permission": PermissionError(13, "denied"),
    "assertion": AssertionError(),
    "recursion": RecursionError("deep"),
    "import": ImportError("nothing"),
    "stop iteration": StopIteration(5),
    "two arguments": TwoArgumentsError("a", "b"),
    "unspeakable": UnspeakableError(),
    "half a character": ValueError("\ud800"),
    "long": ValueError("x" * 1_000_000),
    "words": ToolError("Take another date."),
    "words of a class": ToolError("Later.", error_class="transient"),
    "words with a cause": _caused(),
    "not found": NotFound("No such book."),
    "not found without words": NotFound(),
    "group": ExceptionGroup("g", [ValueError("a"), KeyError("b")]),
    "group of findings": ExceptionGroup("g", [NotFound("a"), NotFound("b")]),
    "group of words": ExceptionGroup("g", [ToolError("One."), ToolError("Two.")]),
    "exit": SystemExit(3),
    "exit with words": SystemExit("bye"),
    "cancelled": asyncio.CancelledError(),
    "lambda inside": ValueError(lambda: 1),
    "interrupt": KeyboardInterrupt(),
    "memory": MemoryError(),
    "generator exit": GeneratorExit(),
    "base": BaseException("base"),
    "group of fatal": BaseExceptionGroup("g", [ValueError(), KeyboardInterrupt()]),
    "stop": StopTheRunError(1, 2),
}


@apart()
def fail(what: str) -> str:
    """
    Raise one of the errors.
    """
    raise ERRORS[what]


@tool
def fail_here(what: str) -> str:
    """
    Raise one of the errors, in the host's process.
    """
    raise ERRORS[what]


@apart()
async def afail(what: str) -> str:
    """
    Raise one of the errors on a loop.
    """
    raise ERRORS[what]


class BusyError(Exception):
    """
    What one of the tools is repeated for.
    """


@apart(retry=Retry(attempts=3, delay=0, on=(BusyError,)))
def retry_by_type(ctx: ToolContext, other: bool = False) -> list[Any]:
    """
    Fail until the third attempt.
    """
    if ctx.attempt < 3:
        raise ValueError("no") if other else BusyError(f"attempt {ctx.attempt}")
    previous: Any = ctx.previous_error

    return [ctx.attempt, list(previous.type_names), previous.text]


def _is_short(error: BaseException) -> bool:
    if str(error) == "undecided":
        raise LookupError
    if str(error) == "stop":
        raise KeyboardInterrupt

    return len(str(error)) < 5


@apart(retry=Retry(attempts=3, delay=0, on=_is_short))
def retry_by_predicate(text: str) -> str:
    """
    Fail always.
    """
    raise ValueError(text)


@apart(retry=Retry(attempts=3, delay=0), idempotent=True, timeout=1)
def retry_elsewhere(ctx: ToolContext) -> list[Any]:
    """
    End the worker in every attempt but the last.
    """
    ctx.progress(os.getpid(), None, ctx.idempotency_key)
    if ctx.attempt < 3:
        os._exit(1)

    return [ctx.attempt, ctx.idempotency_key]
