"""
Keep what happened: in memory, or in a file of one JSON line for each event.

Each line is one write to a file that is opened for appending. So a crash in the middle
leaves every line before it readable, several threads need no lock, and several processes
may write to one file.
"""

from __future__ import annotations

import itertools
import json
import os
import weakref

from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Self, TypeGuard, final

from ..telemetry import Event
from ._entries import Entry, Fields, Scribe
from ._reading import is_sound


@final
class Recorder:
    """
    A hook that keeps what happened in memory, as entries of plain data.

    It takes as much memory as there are events. Iterating over it gives the entries so
    far.

    Args:
        contents: Keep arguments, results and messages too, except those of tools that
            are declared *sensitive* and of calls whose tool is unknown; otherwise only
            their kinds and lengths.
    """

    __slots__ = ("_count", "_entries", "_scribe")

    def __init__(self, *, contents: bool = False) -> None:
        self._scribe = Scribe(contents=contents)
        self._count = itertools.count()
        self._entries: list[Entry] = []

    def __call__(self, event: Event) -> None:
        if not next(self._count):
            self._entries.append(self._scribe.head(event.at))
        self._entries.append(self._scribe.entry(event))

    def __iter__(self) -> Iterator[Entry]:
        return iter(tuple(self._entries))

    def __len__(self) -> int:
        return len(self._entries)


@final
class Journal:
    """
    A hook that appends what happened to a file, one JSON line for each event.

    The file is made for its owner alone, and several clients may share a journal. What
    happens after `close` is not kept. `render` takes a journal as it takes its path.

    Args:
        path: The file; what is in it stays.
        contents: As of `Recorder`.

    Raises:
        OSError: The file cannot be opened.

    Attributes:
        path: The file.
    """

    __slots__ = ("__weakref__", "_count", "_file", "_scribe", "_torn", "path")

    def __init__(self, path: str | os.PathLike[str], *, contents: bool = False) -> None:
        self.path = Path(path)
        self._scribe = Scribe(contents=contents)
        self._count = itertools.count()
        self._torn = _ends_in_a_line(self.path)
        self._file = FileIO(self.path, "ab", opener=_private)
        finalizer = weakref.finalize(self, self._file.close)
        finalizer.atexit = False

    def __call__(self, event: Event) -> None:
        if self._file.closed:
            return
        entry = self._scribe.entry(event)
        lines = [entry] if next(self._count) else [self._scribe.head(event.at), entry]
        self._write(b"".join(map(_line, lines)))

    def __fspath__(self) -> str:
        return str(self.path)

    def close(self) -> None:
        """
        Close the file; what happens later is not kept.
        """
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _write(self, lines: bytes) -> None:
        torn, self._torn = self._torn, False
        written = 0
        try:
            written = self._file.write(b"\n" + lines if torn else lines)
        finally:
            # What comes next must not be glued to a half of this.
            self._torn = written < len(lines) + torn
        if self._torn:
            raise OSError(f"Only {written} of {len(lines)} bytes could be written.")


def _ends_in_a_line(path: Path) -> bool:
    """
    Tell whether the last line in a file has no end: whoever wrote it crashed.
    """
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            if not file.seek(0, os.SEEK_END):
                return False
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"
    except OSError:  # it may be written and not be read
        return False


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _line(entry: Fields) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode() + b"\n"


def read_journal(path: str | os.PathLike[str]) -> Iterator[Entry]:
    """
    Give the entries of a journal, one after another.

    A line that is no entry is given as ``{"event": "unreadable", "line": number}``: the
    last one of a process that crashed, or one without a time that a clock may have.

    Raises:
        OSError: The file cannot be read; raised when the first entry is asked for.
    """
    with Path(path).open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _entry(line) or {"event": "unreadable", "line": number}


def _entry(line: bytes) -> Entry | None:
    try:
        found: object = json.loads(line)
    except (ValueError, RecursionError):
        return None

    return found if _is_entry(found) and is_sound(found) else None


def _is_entry(found: object) -> TypeGuard[Entry]:
    match found:
        case {"event": str()}:
            return True
        case _:
            return False
