"""
Make the page of what happened, and write it to a file.
"""

from __future__ import annotations

import os

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from ..telemetry import Event
from ._entries import CONTENTS, Entry, Scribe
from ._fold import Fold
from ._journal import read_journal
from ._page import page
from ._writing import write_whole


Happened: TypeAlias = str | os.PathLike[str] | Iterable[Event | Entry]

TITLE = "Run report"


def render(happened: Happened, *, title: str = TITLE) -> str:
    """
    Return what happened as one HTML page, which needs no network and no scripts.

    What is in it is what was kept: of a journal with contents, the contents.

    Args:
        happened: The path of a journal; or a `Recorder`, or any events or entries.
        title: The heading of the page.

    Raises:
        OSError: The journal cannot be read.
    """
    if isinstance(happened, str | os.PathLike):
        happened = read_journal(happened)

    return page(Fold(_entries(happened)), title)


def write_report(
    path: str | os.PathLike[str], happened: Happened, *, title: str = TITLE
) -> Path:
    """
    Write what happened as one HTML file, and return its path; as `render`.

    The file is there as a whole or not at all. One that was there before is replaced,
    and keeps its mode; a link stays, and what it leads to is replaced. A new file is for
    its owner alone where contents were kept, and has the usual mode where none were.

    Raises:
        OSError: The journal cannot be read, or the file not be written; also where the
            path leads to something that is no regular file, such as a device.
    """
    target = Path(path)
    if isinstance(happened, str | os.PathLike):
        happened = read_journal(happened)
    kept: set[str] = set()
    text = page(Fold(_noted(_entries(happened), kept)), title)
    write_whole(target, text, private=not kept.isdisjoint(CONTENTS))

    return target


def _noted(entries: Iterable[Entry], keys: set[str]) -> Iterator[Entry]:
    for entry in entries:
        keys.update(entry)
        yield entry


def _entries(happened: Iterable[Event | Entry]) -> Iterator[Entry]:
    scribe = Scribe(contents=False)
    for thing in happened:
        yield scribe.entry(thing) if isinstance(thing, Event) else thing
