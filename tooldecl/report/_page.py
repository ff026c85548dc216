"""
The whole page: what is counted, the pictures, the table, and how it may not be misused.
"""

from __future__ import annotations

import base64
import hashlib

from collections import Counter
from datetime import UTC, datetime

from ._drawing import drawn, legend
from ._fold import Fold
from ._rows import Row, Session
from ._spans import Picture, pictures
from ._style import STYLE
from ._table import table
from ._words import duration, outcome, plural, safe, tone


# A page of more rows would be for nobody, and slow; everything is counted all the same.
MOST_ROWS = 2000


def page(fold: Fold, title: str) -> str:
    """
    Return the HTML of one report.
    """
    found = [p for session in fold.sessions for p in pictures(session)]
    shown, left_out = _shown(found)
    style = STYLE + _grids(shown)

    written = f"Written by tooldecl from {plural(fold.events, 'event')}."

    return "".join(
        [
            _head(title, style),
            _counts(fold, title),
            "<main>",
            _pictures(fold, shown, left_out),
            _calls(shown),
            _notes(fold),
            "</main>",
            f"<footer><p>{written}</p></footer></body></html>\n",
        ]
    )


def _shown(found: list[Picture]) -> tuple[list[Picture], int]:
    """
    Keep to as many rows as a page can have.
    """
    room, left_out = MOST_ROWS, 0
    shown: list[Picture] = []
    for picture in found:
        left_out += max(0, len(picture.rows) - room)
        picture.rows = picture.rows[:room]
        room -= len(picture.rows)
        if picture.rows:
            shown.append(picture)

    return shown, left_out


def _grids(shown: list[Picture]) -> str:
    """
    Give each picture the grid of its own seconds.
    """
    return "".join(
        f".p{number} .bars{{background-size:"
        f"{100 * picture.step / (picture.end - picture.start):.4f}% 100%}}"
        for number, picture in enumerate(shown, 1)
    )


def _head(title: str, style: str) -> str:
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; "
        "form-action 'none'"
    )

    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{safe(title)}</title><style>{style}</style></head><body>"
        '<a class="skip" href="#calls">Skip to the table of calls</a>'
    )


def _counts(fold: Fold, title: str) -> str:
    rows = fold.rows
    counted = Counter((outcome(row), tone(row)) for row in rows)
    figures = [("Calls", "", len(rows))]
    figures += [(words, colour, n) for (words, colour), n in counted.most_common()]
    outlived = sum(row.outlived for row in rows)
    still = sum(row.outlived_its_batch for row in rows)
    figures += [
        ("Outlived their deadline", "late" if outlived else "", outlived),
        ("Still running after the batch returned", "late" if still else "", still),
    ]
    items = "".join(
        f'<div><dt class="{colour or "quiet"}">{safe(words)}</dt><dd>{n:,}</dd></div>'
        for words, colour, n in figures
    )

    return (
        f"<header><h1>{safe(title)}</h1><p>{safe(_when(fold))}</p>"
        f'<dl class="counts">{items}</dl>{_still(rows)}</header>'
    )


def _when(fold: Fold) -> str:
    walls = [session.wall for session in fold.sessions if session.wall]
    said = plural(len(fold.rows), "call")
    batches = sum(len(session.batches) for session in fold.sessions)
    if batches:
        said += f" in {plural(batches, 'batch', 'batches')}"
    if walls:
        said += f", from {_time_of_day(min(walls))} on"

    return f"{said}."


def _time_of_day(wall: str) -> str:
    try:
        return f"{datetime.fromisoformat(wall).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError):
        return wall


def _still(rows: list[Row]) -> str:
    """
    Say what nobody can know: whether bodies that were given up are running still.
    """
    unseen = sum(row.never_seen_to_end for row in rows)
    if not unseen:
        return ""
    those = plural(unseen, "call has a body", "calls have bodies")

    return (
        f'<p class="late">{those} that nobody saw end: it may still be running, and may '
        "still take effect.</p>"
    )


def _pictures(fold: Fold, shown: list[Picture], left_out: int) -> str:
    parts: list[str] = []
    first = 1
    for number, picture in enumerate(shown, 1):
        head = _heading(picture, number) if len(shown) > 1 else ""
        parts.append(f'<div class="p{number}">{head}{drawn(picture, first)}</div>')
        first += len(picture.rows)
    note = "" if shown else "<p>There were no calls.</p>"
    if left_out:
        note = f"<p>{left_out:,} more calls are counted above and not shown.</p>"
    if fold.unreadable:
        lines = plural(fold.unreadable, "line")
        note += f"<p>{lines} of the journal could not be read.</p>"

    key = "<p>Each row leads to the same call in the table below.</p>"

    return (
        '<section aria-labelledby="time"><h2 id="time">Time line</h2>'
        f"{legend() + key if shown else ''}{note}{''.join(parts)}</section>"
    )


def _heading(picture: Picture, number: int) -> str:
    calls, length = len(picture.rows), duration(picture.end - picture.start)
    session = picture.session
    process = f", process {session.process}" if session.process else ""

    return f"<h3>{number}. {plural(calls, 'call')} in {safe(length)}{process}</h3>"


def _calls(shown: list[Picture]) -> str:
    rows = [(row, picture.start) for picture in shown for row in picture.rows]
    numbered = [(number, row, start) for number, (row, start) in enumerate(rows, 1)]
    inside = table(numbered, "Every call of the time line, in the same order.")

    return (
        '<section aria-labelledby="calls"><h2 id="calls" tabindex="-1">Calls</h2>'
        f"{inside if numbered else '<p>There were no calls.</p>'}</section>"
    )


def _notes(fold: Fold) -> str:
    items = [
        f"<li>after {safe(duration(at - _origin(session)))}: {safe(note)}</li>"
        for session in fold.sessions
        for at, note in session.notes
    ]
    if not items:
        return ""

    return (
        '<section aria-labelledby="notes"><h2 id="notes">Also</h2>'
        f"<ul>{''.join(items)}</ul></section>"
    )


def _origin(session: Session) -> float:
    return min((row.begins for row in session.rows), default=session.wall_at)
