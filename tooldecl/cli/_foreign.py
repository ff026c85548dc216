"""
Run the code of others: whatever it raises becomes a message of the command line.
"""

from __future__ import annotations

import importlib
import os
import traceback

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .. import DeclarationError
from ._words import plain


if TYPE_CHECKING:
    import click


@contextmanager
def foreign(what: str) -> Generator[None, None, None]:
    """
    Turn whatever the code of others raises into a message that begins with *what*.

    Raises:
        click.ClickException: In the place of what was raised.
        KeyboardInterrupt, MemoryError: As they are.
    """
    import click

    try:
        yield
    except (click.ClickException, MemoryError, KeyboardInterrupt):
        raise
    except ExceptionGroup as group:
        faults = "".join(f"\n  {summary(error)}" for error in group.exceptions)
        raise failure(f"{what}: {group.message}{faults}") from group
    except BaseException as error:
        raise failure(f"{what}: {summary(error)}") from error


def summary(error: BaseException) -> str:
    """
    Say what was raised, and where in code that is neither ours nor Python's import.
    """
    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, DeclarationError):
        words = " ".join([str(error), *getattr(error, "__notes__", ())])
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(("<", importlib.__file__, _PACKAGE))
    ]

    return f"{words} ({frames[-1].filename}:{frames[-1].lineno})" if frames else words


_PACKAGE = f"{Path(__file__).parent.parent}{os.sep}"


def failure(text: str) -> click.ClickException:
    """
    Say what did not succeed.
    """
    import click

    return click.ClickException(plain(text, lines=True))


def misuse(text: str) -> click.UsageError:
    """
    Say what was typed and cannot be meant.
    """
    import click

    return click.UsageError(plain(text))
