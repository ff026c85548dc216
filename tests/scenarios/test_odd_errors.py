"""
Whatever a tool raises, however odd, is one result: looking at it raises nothing itself.
"""

from __future__ import annotations

import asyncio
import urllib.error

import pytest

from fronts import call
from tooldecl import NotFound, Retry, ToolClient, ToolError, tool
from tooldecl.exceptions import CallError, ToolTimeoutError, UnknownToolError
from tooldecl.telemetry import LoggingHook
from tooldecl.testing import FakeClock


class MuteError(ToolError):
    """
    An error whose text cannot be read.
    """

    def __str__(self):
        raise RuntimeError("no text")


class MuteNotFound(NotFound):
    """
    A finding whose text cannot be read.
    """

    def __str__(self):
        raise RuntimeError("no text")


class OwnWayError(ToolError):
    """
    An error with a constructor that does not call ours.
    """

    def __init__(self, code):
        self.code = code


class HostileError(urllib.error.URLError):
    """
    An error that cannot be looked into.
    """

    reason = property(lambda self: 1 / 0, lambda self, value: None)


class SlottedError(Exception):
    """
    An error without room for anything.
    """

    __slots__ = ()


def in_a_circle():
    """
    Make an error that is its own cause, and a group that is in it.
    """
    error = ValueError("no")
    error.__cause__ = ExceptionGroup("", [error])

    return error


def deep_group():
    """
    Make a group inside of a thousand groups.
    """
    group = ExceptionGroup("", [ValueError("no")])
    for _ in range(1000):
        group = ExceptionGroup("", [group])

    return group


def wide_group():
    """
    Make a group of a thousand errors.
    """
    return ExceptionGroup("", [ValueError(n) for n in range(1000)])


ODD = [
    (MuteError("x"), "tool_error", "Tool 'odd' failed: MuteError."),
    (MuteNotFound("x"), "not_found", "Tool 'odd' ran and found nothing."),
    (OwnWayError(404), "tool_error", "404"),
    (HostileError("x"), "tool_error", "Tool 'odd' failed: HostileError."),
    (SlottedError(), "tool_error", "Tool 'odd' failed: SlottedError."),
    (OSError(["odd"], "x"), "tool_error", "Tool 'odd' failed: OSError."),
    (in_a_circle(), "tool_error", "Tool 'odd' failed: ValueError."),
    (deep_group(), "tool_error", "Tool 'odd' failed: ValueError."),
    (wide_group(), "tool_error", "Tool 'odd' failed: ValueError."),
    (StopIteration(), "tool_error", "Tool 'odd' failed: StopIteration."),
    (StopAsyncIteration(), "tool_error", "Tool 'odd' failed: StopAsyncIteration."),
    (
        BaseExceptionGroup("", [SystemExit(3), asyncio.CancelledError()]),
        "tool_error",
        "Tool 'odd' tried to end the program, with exit code 3. Tool 'odd' failed: "
        "something it waited for was cancelled.",
    ),
    (
        SystemExit(10**5000),
        "tool_error",
        "Tool 'odd' tried to end the program, with a message.",
    ),
    (
        SystemExit(None),
        "tool_error",
        "Tool 'odd' tried to end the program, with exit code 0.",
    ),
    (
        SystemExit(-1),
        "tool_error",
        "Tool 'odd' tried to end the program, with exit code -1.",
    ),
    (CallError("inner"), "tool_error", "Tool 'odd' failed: CallError."),
    (UnknownToolError(name="x"), "tool_error", "Tool 'odd' failed: UnknownToolError."),
    (
        ToolTimeoutError(tool="x", timeout=1, source="engine", fate="stopped"),
        "tool_error",
        "Tool 'odd' failed: ToolTimeoutError.",
    ),
    (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x"), "tool_error", None),
]


@pytest.mark.parametrize(("error", "status", "text"), ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("declared", [{}, {"timeout": 60}, {"retry": True}], ids=str)
def test_it_is_one_result(front, declared, error, status, text):
    """
    FAT-01 to FAT-03, RES-05: timed or not, retried or not, watched and logged, by either
    front.
    """

    @tool(**declared)
    def odd() -> None:
        """Raise something odd."""
        raise error

    client = ToolClient([odd], hooks=[LoggingHook()], clock=FakeClock())
    result = call(front, client, "odd")
    made = f" {result.attempts} attempts were made; each may have taken effect."
    expected = text or "Tool 'odd' failed: UnicodeDecodeError."

    assert (status, "completed") == (result.status, result.fate)
    assert expected + (made if result.attempts > 1 else "") == result.content


@pytest.mark.parametrize(("error", "status", "text"), ODD, ids=range(len(ODD)))
def test_it_is_one_result_from_an_async_body_too(front, error, status, text):
    """
    FAT-01: a coroutine turns some of them into something else, and still into one result.
    """

    @tool(retry=Retry(attempts=1))
    async def odd() -> None:
        """Raise something odd."""
        await asyncio.sleep(0)
        raise error

    result = call(front, ToolClient([odd]), "odd")

    assert (status, "completed", 1) == (result.status, result.fate, result.attempts)
