"""
Put a text where a path leads: as a whole or not at all, and in the place of files alone.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat

from pathlib import Path


def write_whole(path: Path, text: str, *, private: bool) -> None:
    """
    Write a file; of one that was there the links and the mode stay as they are.

    Args:
        path: The file, or a link to it.
        text: What is in it afterwards.
        private: Whether a file that is new is for its owner alone.

    Raises:
        OSError: It cannot be written, or something else than a file is there. It names
            the path as it was given.
    """
    try:
        _write(Path(os.path.realpath(path)), text, private=private)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def _write(target: Path, text: str, *, private: bool) -> None:
    before = _mode(target)
    made = target.parent / f".{secrets.token_hex(8)}.tmp"
    allowed = 0o666 if before is None and not private else 0o600
    number = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, allowed)
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
            if before is not None:
                os.fchmod(number, before)
        made.replace(target)
    finally:
        made.unlink(missing_ok=True)


def _mode(target: Path) -> int | None:
    """
    Return the mode of a file that is there; None where nothing is.
    """
    try:
        found = target.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(found):
        raise OSError(errno.EINVAL, "It is no regular file, and is not replaced")

    return stat.S_IMODE(found)
