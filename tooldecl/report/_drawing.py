"""
Draw one picture: a list of calls, each with its bars as an SVG.

Every place is in percent of the width, so that the picture fits any window. What a bar
means is told by its form and in words, never by its colour alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ._rows import Row, Tried
from ._spans import Picture
from ._words import attempt, duration, named, outcome, plural, safe, summary, tone


_HIGH = 22  # of a row's picture, in pixels
_MIDDLE = _HIGH / 2

LEGEND = [
    ("ran", "an attempt that ran to its end"),
    ("failed", "an attempt that failed"),
    ("timeout", "an attempt that ran out of time"),
    ("outlived", "a body that ran on after it was given up"),
    ("queued", "waits for its turn"),
    ("person", "waits for a person"),
    ("between", "waits for the next attempt"),
    ("around", "in filters, the gate, or unknown"),
]

_DEFINITIONS = """\
<defs>
<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" \
patternTransform="rotate(45)"><rect class="hatch-ground" width="6" height="6"/>\
<rect class="hatch-line" width="2.5" height="6"/></pattern>
</defs>"""


def legend() -> str:
    """
    Show what each form means.
    """
    items = [
        f'<li><svg class="key" width="34" height="{_HIGH}" aria-hidden="true" '
        f'focusable="false">{_sample(kind)}</svg>{safe(words)}</li>'
        for kind, words in LEGEND
    ]

    return (
        f'<svg class="hidden" aria-hidden="true" focusable="false" width="0" height="0">'
        f"{_DEFINITIONS}</svg>"
        f'<ul class="legend" aria-label="What the bars mean">{"".join(items)}</ul>'
    )


def _sample(kind: str) -> str:
    if kind in ("queued", "person", "between", "around"):
        return _line(kind, 4, 94)
    mark = _mark(kind, 76) if kind in ("failed", "timeout") else ""

    return _bar(kind, 4, 80) + mark


def drawn(picture: Picture, first: int) -> str:
    """
    Draw a picture whose rows are numbered from *first* on.
    """
    numbered = enumerate(picture.rows, first)
    items = [_item(picture, number, row) for number, row in numbered]

    return (
        f'<div class="picture">{_axis(picture)}'
        f'{_runs(picture)}<ol class="lanes" start="{first}">{"".join(items)}</ol></div>'
    )


def _axis(picture: Picture) -> str:
    """
    Show the seconds above the rows; each row says its times in words too.
    """
    labels = [
        f'<text x="{picture.share(picture.start + at):.3f}%" y="15">'
        f"{safe(_tick(at, picture.step))}</text>"
        for at in picture.ticks
    ]
    ends = [b.ended for b in picture.batches if b.ended is not None]
    if len(ends) == 1:
        early = " early" if picture.share(ends[0]) < 20 else ""
        labels.append(
            f'<text class="end{early}" x="{picture.share(ends[0]):.3f}%" y="31">'
            "batch answered</text>"
        )
    high = 36 if len(ends) == 1 else 20

    return (
        '<div class="axis" aria-hidden="true">'
        f'<svg class="bars" height="{high}" focusable="false">{"".join(labels)}</svg>'
        "</div>"
    )


def _tick(at: float, step: float) -> str:
    if step >= 60:
        return duration(at)
    if step >= 1:
        return f"{at:.0f} s"
    if step >= 0.001:
        return f"{at * 1000:.0f} ms" if step < 0.01 else f"{at:.2g} s"

    return f"{at * 1e6:.0f} µs"


def _runs(picture: Picture) -> str:
    """
    Show the runs of loops, and when their models were asked.
    """
    items: list[str] = []
    for run in picture.runs:
        until = picture.end if run.ended is None else run.ended
        name = f"loop run {run.run_id}" if run.run_id else "loop run"
        how = f"ended: {run.stop_reason}" if run.stop_reason else "no end recorded"
        words = f"{how}; the model was asked {plural(len(run.asked), 'time')}"
        marks = [
            f'<line class="asked" x1="{x:.3f}%" x2="{x:.3f}%" y1="4" y2="18"/>'
            for x in map(picture.share, run.asked)
        ]
        left, right = picture.share(run.started), picture.share(until)
        inside = _line("run", left, right) + "".join(marks)
        items.append(
            f'<li class="lane run"><span class="n"></span><span class="tool">'
            f'<bdi>{safe(name)}</bdi></span><span class="state quiet">{safe(words)}'
            f"</span>{_svg('Marks show when the model was asked.', words, inside)}</li>"
        )
    if not items:
        return ""

    return f'<ul class="lanes runs" aria-label="Runs of loops">{"".join(items)}</ul>'


def _item(picture: Picture, number: int, row: Row) -> str:
    title = f"{named(row)}: {outcome(row)}"
    inside = "".join(_pieces(picture, row))

    return (
        f'<li><a class="lane" href="#call-{number}">'
        f'<span class="n">{number}</span><span class="tool"><bdi>{safe(named(row))}</bdi>'
        f'</span><span class="state {tone(row)}">{safe(summary(row))}</span>'
        f"{_svg(title, told(picture, row), inside)}</a></li>"
    )


def _svg(title: str, description: str, inside: str) -> str:
    return (
        f'<svg class="bars" height="{_HIGH}" role="img" focusable="false">'
        f"<title>{safe(title)}</title><desc>{safe(description)}</desc>{inside}</svg>"
    )


def told(picture: Picture, row: Row) -> str:
    """
    Say in words what the bars of a row show.
    """
    start = picture.start
    parts = [f"Came in after {duration(row.begins - start)}."]
    if row.waited:
        parts.append(f"Waited {duration(row.waited)} for its turn.")
    if row.asked:
        decided = ", ".join(asked.decision or "no decision" for asked in row.asked)
        waited = duration(row.waited_for_people)
        parts.append(f"Waited {waited} for a person: {decided}.")
    parts += [_told(start, tried) for tried in row.tried]
    if row.answered is None:
        parts.append("No answer was recorded.")
    else:
        parts.append(f"Answered after {duration(row.answered - start)}.")

    return " ".join(parts)


def _told(start: float, tried: Tried) -> str:
    end = tried.ended
    span = f"from {duration(tried.began - start)}"
    if end is not None:
        span += f" to {duration(end - start)}"
    said = f"Attempt {tried.number} {attempt(tried)}, {span}."
    if tried.late is not None:
        said += f" Its body ended {duration(tried.late_by)} later."
    elif tried.outlived:
        said += " Its body was not seen to end."

    return said


def _pieces(picture: Picture, row: Row) -> Iterator[str]:
    """
    Draw the bars of one row, from the ground up.
    """
    share = picture.share
    until = picture.end if row.answered is None else row.answered
    for batch in picture.batches:
        if batch.ended is not None and len(picture.batches) == 1:
            yield _upright("end", share(batch.ended))
    yield _line("around", share(row.started), share(until))
    for since, to in row.queued:
        yield _line("queued", share(since), share(to))
    for asked in row.asked:
        decided = until if asked.until is None else asked.until
        yield _line("person", share(asked.since), share(decided))
    for tried, following in pairwise(row.tried):
        if tried.ended is not None:
            yield _line("between", share(tried.ended), share(following.began))
    if row.answered is not None:
        yield _upright("answer", share(row.answered))
    for tried in row.tried:
        yield _attempt(picture, tried)
    for tried in row.tried:
        if tried.outlived:
            yield _outlived(picture, tried, is_last=tried is row.tried[-1])
    if row.answered is None or row.never_seen_to_end:
        yield _onward(share(picture.end))


def _attempt(picture: Picture, tried: Tried) -> str:
    end = picture.share(picture.end if tried.ended is None else tried.ended)
    kind = tried.how if tried.how in ("ran", "failed", "timeout") else "cancelled"
    mark = _mark(kind, end) if kind in ("failed", "timeout") else ""

    return _bar(kind, picture.share(tried.began), end) + mark


def _outlived(picture: Picture, tried: Tried, *, is_last: bool) -> str:
    """
    Draw how long a body ran on; low, where another attempt went on beside it.
    """
    left = picture.share(picture.end if tried.ended is None else tried.ended)
    right = picture.share(picture.end if tried.late is None else tried.late)
    if is_last:
        return _bar("outlived", left, right) + _mark(tried.how, left)

    return _bar("outlived beside", left, right, y=13, high=7) + _mark(tried.how, left)


def _bar(kind: str, left: float, right: float, *, y: int = 4, high: int = 14) -> str:
    return (
        f'<rect class="{kind}" x="{left:.3f}%" y="{y}" '
        f'width="{max(0.0, right - left):.3f}%" height="{high}"/>'
    )


def _line(kind: str, left: float, right: float) -> str:
    if right <= left:
        return ""

    return (
        f'<line class="{kind}" x1="{left:.3f}%" x2="{right:.3f}%" '
        f'y1="{_MIDDLE:g}" y2="{_MIDDLE:g}"/>'
    )


def _upright(kind: str, at: float) -> str:
    return f'<line class="{kind}" x1="{at:.3f}%" x2="{at:.3f}%" y1="0" y2="{_HIGH}"/>'


def _mark(kind: str, at: float) -> str:
    """
    Put a cross, or the hands of a clock, where an attempt failed.
    """
    path = "M-3-3L3 3M3-3L-3 3" if kind == "failed" else "M0-4V0H3"

    return (
        f'<svg class="mark {kind}" x="{at:.3f}%" y="{_MIDDLE:g}">'
        f'<circle r="7"/><path d="{path}"/></svg>'
    )


def _onward(at: float) -> str:
    """
    Show that something goes on beyond the edge.
    """
    return (
        f'<svg class="mark onward" x="{at:.3f}%" y="{_MIDDLE:g}">'
        '<path d="M-5-5L0 0L-5 5"/></svg>'
    )
