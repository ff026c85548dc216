"""
Where everything lies on a time line: one picture for calls that belong together.
"""

from __future__ import annotations

import math

from collections.abc import Iterator
from dataclasses import dataclass

from ._rows import Batch, Row, Run, Session


# A pause of so many seconds in which nothing is open divides two pictures: over a night
# every bar would be a hair.
PAUSE = 60.0

_STEPS = (1, 2, 5)
_MOST_TICKS = 6


@dataclass(slots=True)
class Picture:
    """
    Calls on one time line.

    Attributes:
        start: Its left edge.
        end: Its right edge.
        step: Seconds between two lines of its grid.
    """

    session: Session
    rows: list[Row]
    batches: list[Batch]
    runs: list[Run]
    start: float
    end: float
    step: float

    def share(self, at: float) -> float:
        """
        Return how far a moment is from the left edge, in percent.
        """
        inside = min(max(at, self.start), self.end)

        return 100 * (inside - self.start) / (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        """
        Return the moments of the grid's lines, in seconds from the left edge.
        """
        last = math.floor((self.end - self.start) / self.step + 1e-9)

        return [number * self.step for number in range(last + 1)]


def pictures(session: Session) -> Iterator[Picture]:
    """
    Divide what one session has seen.
    """
    rows = sorted(session.rows, key=lambda row: row.order)
    group: list[Row] = []
    until = -math.inf
    for row in rows:
        if group and row.begins > until + PAUSE and not _in_a_run(session, row.begins):
            yield _picture(session, group)
            group, until = [], -math.inf
        group.append(row)
        until = max(until, _ends(session, row))
    if group:
        yield _picture(session, group)


def _in_a_run(session: Session, at: float) -> bool:
    """
    Whether a loop is in the middle of its run: the pause is its model's.
    """
    return any(
        run.started < at <= (session.last if run.ended is None else run.ended)
        for run in session.runs
    )


def _ends(session: Session, row: Row) -> float:
    if row.answered is None:
        return session.last
    late = [t.late for t in row.tried if t.late is not None]

    return max([row.answered, *late])


def _picture(session: Session, rows: list[Row]) -> Picture:
    start = min(row.begins for row in rows)
    end = max(_ends(session, row) for row in rows)
    ids = {id(row.batch) for row in rows}
    batches = [batch for batch in session.batches if id(batch) in ids]
    runs = [
        run
        for run in session.runs
        if run.started <= end and (run.ended is None or run.ended >= start)
    ]
    start = min([start, *(b.started for b in batches), *(r.started for r in runs)])
    ends = [b.ended for b in batches if b.ended is not None]
    ends += [r.ended for r in runs if r.ended is not None]
    end = max([end, *ends])
    width = max(end - start, 1e-4)
    if any(row.never_seen_to_end or row.answered is None for row in rows):
        width *= 1.08  # what has no end is seen to go on
    step = _step(width)

    return Picture(
        session=session,
        rows=rows,
        batches=batches,
        runs=runs,
        start=start,
        end=start + width * 1.01,
        step=step,
    )


def _step(width: float) -> float:
    """
    Return a round distance for the lines of a grid.
    """
    power = 10.0 ** math.floor(math.log10(width / _MOST_TICKS))
    for factor in (*_STEPS, 10):
        if width / (power * factor) <= _MOST_TICKS:
            return power * factor
    raise AssertionError("unreachable")
