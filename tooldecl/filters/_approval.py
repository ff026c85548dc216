"""
Ask somebody before a sensitive tool runs.
"""

from __future__ import annotations

import inspect
import io
import json
import os
import sys
import termios
import threading

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, TextIO, TypeAlias, final

from .._calls import ToolRequest
from .._decisions import Approved, Decision, Denied
from .._forking import watch
from .._meta import check_seconds
from .._policy import shown
from ..exceptions import DeclarationError


__all__ = ["Approval", "Approver", "TerminalApprover", "approve_all", "deny_all"]

Approver: TypeAlias = Callable[[ToolRequest], Decision | Awaitable[Decision]]


@final
class Approval:
    """
    A filter that asks before a tool declared ``sensitive`` runs.

    It is the last one before the body, wherever it stands in the list, and sees the
    arguments that the body gets. Several of them all have to approve. Its time is its
    own: the tool's timeout does not run meanwhile.

    Args:
        approver: Takes the request and returns a decision, or something to be awaited
            for one. What it raises, or any other answer, blocks the call.
        expires: Seconds to decide in, or None. A decision that comes later does nothing.

    Raises:
        DeclarationError: One of them does not fit.
    """

    __slots__ = ("approver", "expires", "is_async")

    def __init__(
        self, approver: Approver, *, expires: float | timedelta | None = None
    ) -> None:
        given: object = approver
        if not callable(given) or isinstance(given, type):
            raise DeclarationError(
                f"Approval takes a callable of one request, got {shown(given)}."
            )
        self.approver = approver
        self.expires = (
            None if expires is None else check_seconds(expires, "Approval(expires=...)")
        )
        call = getattr(type(approver), "__call__", None)  # noqa: B004 (its kind)
        self.is_async = inspect.iscoroutinefunction(
            approver
        ) or inspect.iscoroutinefunction(call)

    def __repr__(self) -> str:
        return f"<Approval by {_name(self.approver)}>"

    @property
    def name(self) -> str:
        """
        What logs and errors call it.
        """
        return _name(self.approver)


def _name(approver: Any) -> str:
    return getattr(approver, "__qualname__", None) or type(approver).__name__


def approve_all(_request: ToolRequest, /) -> Decision:
    """
    Approve every call: whoever wants sensitive tools to run unasked says so with this.
    """
    return Approved()


def deny_all(_request: ToolRequest, /) -> Decision:
    """
    Deny every call.
    """
    return Denied("Nobody is there to approve it.")


@final
class TerminalApprover:
    """
    Ask on the terminal; where there is none, go by a rule that is said.

    It shows the arguments to whoever sits at the terminal, also those of a sensitive tool.
    One question is asked at a time; one that has expired stays there until it is answered.
    Anything but ``y`` or ``yes`` denies the call, and is its reason.

    Args:
        otherwise: Decides where there is no terminal; `deny_all` unless told otherwise.
        tell: Called with a line that says how it was decided there.
    """

    def __init__(
        self,
        *,
        otherwise: Callable[[ToolRequest], Decision] = deny_all,
        tell: Callable[[str], object] | None = None,
    ) -> None:
        self._otherwise = otherwise
        self._tell = tell
        self._one_at_a_time = threading.Lock()
        watch(self)

    def forget_parent(self) -> None:
        """
        Start anew in a forked child, where whoever is asking is no more.
        """
        self._one_at_a_time = threading.Lock()

    def __call__(self, request: ToolRequest) -> Decision:
        with self._one_at_a_time:
            return self._decide(request)

    def _decide(self, request: ToolRequest) -> Decision:
        terminal = _terminal()
        if terminal is None:
            decision = self._otherwise(request)
            if self._tell is not None:
                word = type(decision).__name__.lower()
                rule = _name(self._otherwise)
                self._tell(
                    f"No terminal to ask at: {request.name} is {word} by the rule {rule}."
                )
            return decision
        with terminal:
            return _ask(terminal, request)


def _terminal() -> TextIO | None:
    """
    Open the terminal of this process, where somebody sits at its standard input.
    """
    try:
        if sys.stdin is None or not sys.stdin.isatty():
            return None
        fd = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except (OSError, ValueError):  # there is none, or standard input is closed
        return None
    # What was typed before the question was there is no answer to it.
    termios.tcflush(fd, termios.TCIFLUSH)

    return io.TextIOWrapper(io.FileIO(fd, "w+"), encoding="utf-8", write_through=True)


def _ask(terminal: TextIO, request: ToolRequest) -> Decision:
    # In ASCII, so that no argument can draw anything else over the question.
    arguments = json.dumps(request.arguments)
    terminal.write(
        f"\nThe model wants to call {request.name}({arguments}).\n"
        "Run it? y, or n and a reason: "
    )
    words = terminal.readline().strip()
    if words.lower() in ("y", "yes"):
        return Approved()
    answer, _, reason = words.partition(" ")

    return Denied(reason.strip() if answer.lower() in ("n", "no") else words)
