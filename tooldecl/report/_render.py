"""
Make the page of what happened, and write it to a file.
"""

from __future__ import annotations

import os
import tempfile

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from ..telemetry import Event
from ._entries import Entry, Scribe
from ._fold import Fold
from ._journal import read_journal
from ._page import page


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

    The file is there as a whole or not at all: one that was there before is replaced.

    Raises:
        OSError: The journal cannot be read, or the file not be written.
    """
    target, text = Path(path), render(happened, title=title)
    number, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(target)
    finally:
        Path(name).unlink(missing_ok=True)

    return target


def _entries(happened: Iterable[Event | Entry]) -> Iterator[Entry]:
    scribe = Scribe(contents=False)
    for thing in happened:
        yield scribe.entry(thing) if isinstance(thing, Event) else thing
