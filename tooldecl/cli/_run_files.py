"""
Which files a batch is made of, and that what is kept of it is written over none of them.

Two paths are one file where they lead to one: by another folder, a link, or another case.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import IO

from ._words import plain


def behind(stream: IO[bytes] | IO[str] | None) -> os.stat_result | None:
    """
    Return which file a stream is; None where it is a terminal, a pipe, or closed.
    """
    if stream is None:
        return None

    return _regular(lambda: os.fstat(stream.fileno()))


def found_at(path: str) -> os.stat_result | None:
    """
    Return which file is there; None where nothing is, or something else.
    """
    return _regular(Path(path).stat)


def _regular(look: Callable[[], os.stat_result]) -> os.stat_result | None:
    with contextlib.suppress(OSError, ValueError):
        found = look()
        if stat.S_ISREG(found.st_mode):
            return found

    return None


def is_module(path: str) -> bool:
    """
    Tell whether a module was imported from the file that is there.
    """
    there = found_at(path)
    if there is None:
        return False
    modules = [m for m in list(sys.modules.values()) if _is_module(m)]
    files = [vars(module).get("__file__") for module in modules]
    found = [found_at(file) for file in files if isinstance(file, str)]

    return any(own is not None and os.path.samestat(own, there) for own in found)


def _is_module(found: object) -> bool:
    return isinstance(found, ModuleType)  # anything may stand among them


def are_one(first: str, second: str) -> bool:
    """
    Tell whether two paths lead to one file, or would if there were one.
    """
    there, other = found_at(first), found_at(second)
    if there is not None and other is not None:
        return os.path.samestat(there, other)

    # On some file systems names that differ in case alone are one.
    return _folded(first) == _folded(second)


def _folded(path: str) -> str:
    return os.path.realpath(path).casefold()


def why_not_written(path: str) -> str:
    """
    Try whether a page could be put where a path leads, and say why not; "" if it could.

    Nothing that is there is touched, and nothing is left.
    """
    try:
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISREG(Path(path).stat().st_mode):
                return f"{plain(path)} is no regular file."
        folder = Path(os.path.realpath(path)).parent
        with tempfile.NamedTemporaryFile(dir=folder, prefix="."):
            return ""
    except OSError as error:
        reason = error.strerror or str(error)
        return f"{plain(path)} cannot be written: {plain(reason)}."
