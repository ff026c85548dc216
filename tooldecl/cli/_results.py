"""
Standard output, for results alone: whatever else is printed meanwhile goes to stderr.

A module may print while it is imported, and a tool while it runs; so may an abandoned
body while the program ends. That must not get between the results.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import sys

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO, final

from ._exits import Exit
from ._words import in_json, plain


if TYPE_CHECKING:
    import click


_STDOUT, _STDERR = 1, 2
_USUAL = 80


@final
class Results:
    """
    Writes results.

    Attributes:
        stream: Where they go, or None where standard output is closed.
        is_terminal: Whether somebody reads them as they are written.
        width: Columns of that terminal.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self.stream = stream
        self.is_terminal = stream is not None and stream.isatty()
        self.width = _width(stream)

    def text(self, text: str) -> None:
        """
        Write a text and the end of its last line; a terminal is not let be moved by it.
        """
        shown = plain(text, lines=True) if self.is_terminal else text
        self.drawn(shown if shown.endswith("\n") else f"{shown}\n")

    def json(self, value: object) -> None:
        """
        Write plain data as JSON, on several lines.
        """
        text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
        self.drawn(f"{in_json(text, self._encoding)}\n")

    def drawn(self, text: str) -> None:
        """
        Write a text as it stands, which may move the cursor.

        Raises:
            SystemExit: Nobody reads it any more.
            click.ClickException: It cannot be written.
        """
        if self.stream is None:
            raise _failure("standard output is closed")
        try:
            self.stream.write(text)
            self.stream.flush()
        except BrokenPipeError:
            forget(self.stream)
            raise SystemExit(Exit.NOBODY_READS) from None
        except OSError as error:
            forget(self.stream)
            raise _failure(error.strerror or str(error)) from None

    @property
    def _encoding(self) -> str:
        return "utf-8" if self.stream is None else self.stream.encoding


def forget(stream: TextIO | None) -> None:
    """
    Let nothing of what is unwritten be tried again while the interpreter ends.
    """
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        if stream is not None:
            os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _width(stream: TextIO | None) -> int:
    """
    Return the columns of a terminal, or of one as most are.
    """
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        found = 0 if stream is None else os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        found = 0

    return found or _USUAL


@contextmanager
def results() -> Generator[Results, None, None]:
    """
    Give standard output to the results; what anything else prints goes to stderr.

    In a process of its own that stays so until its end.
    """
    ours = sys.stdout
    if ours is None or not _is_real(ours):
        with contextlib.redirect_stdout(sys.stderr):
            yield Results(ours)
        return
    stream = _taken(ours)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield Results(stream)
    finally:
        with contextlib.suppress(OSError):
            stream.close()


def _is_real(stream: TextIO) -> bool:
    try:
        return stream is sys.__stdout__ and stream.fileno() == _STDOUT
    except (OSError, ValueError):
        return False


def _taken(stream: TextIO) -> TextIO:
    """
    Take standard output from everybody else: they get standard error in its place.
    """
    stream.flush()
    # Not under the number of a standard stream that is closed.
    taken = fcntl.fcntl(_STDOUT, fcntl.F_DUPFD_CLOEXEC, _STDERR + 1)
    try:
        os.dup2(_STDERR, _STDOUT)
    except OSError:  # there is no standard error
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, _STDOUT)
        os.close(nowhere)
    # What the encoding does not have is written as an escape, like any other oddity.
    errors = "backslashreplace"

    buffer = io.BufferedWriter(io.FileIO(taken, "w"))

    return io.TextIOWrapper(buffer, encoding=stream.encoding, errors=errors)


def _failure(reason: str) -> click.ClickException:
    import click

    return click.ClickException(f"The results cannot be written: {reason}.")
