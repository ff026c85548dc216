"""
The table below the pictures: the same facts in words and numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from ._reading import count, text, texts
from ._rows import Row, Tried
from ._words import attempt, body, duration, named, outcome, safe, tone


_HEADS = [
    ("Call", True),
    ("Tool", False),
    ("Outcome", False),
    ("Body", False),
    ("Attempts", True),
    ("Came in after", True),
    ("Waited for its turn", True),
    ("Waited for a person", True),
    ("Answered within", True),
    ("Details", False),
]


def table(numbered: list[tuple[int, Row, float]], caption: str) -> str:
    """
    Show calls with their numbers and the left edges of their pictures.
    """
    heads = "".join(
        f'<th scope="col"{_figure(is_figure)}>{safe(head)}</th>'
        for head, is_figure in _HEADS
    )
    rows = "".join(_row(number, row, start) for number, row, start in numbered)

    return (
        '<div class="scroll" role="region" aria-labelledby="calls-caption" tabindex="0">'
        f'<table><caption id="calls-caption">{safe(caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _figure(is_figure: bool) -> str:
    return ' class="figure"' if is_figure else ""


def _row(number: int, row: Row, start: float) -> str:
    answered = "none" if row.answered is None else duration(row.answered - row.begins)
    figures = [
        str(row.attempts if row.answered is not None else len(row.tried)),
        duration(row.begins - start),
        duration(row.waited),
        duration(row.waited_for_people),
        answered,
    ]

    return (
        f'<tr id="call-{number}" tabindex="-1"><th scope="row" class="figure">{number}'
        f'</th><td class="name"><bdi>{safe(named(row))}</bdi></td>'
        f'<td class="{tone(row)}">{safe(outcome(row))}</td><td>{safe(body(row))}</td>'
        + "".join(f'<td class="figure">{safe(figure)}</td>' for figure in figures)
        + f"<td>{_details(number, row, start)}</td></tr>"
    )


def _details(number: int, row: Row, start: float) -> str:
    items = "".join(
        f"<dt>{safe(head)}</dt><dd>{value}</dd>" for head, value in _facts(row, start)
    )

    return (
        f'<details><summary>Details<span class="unseen"> of call {number}</span>'
        f"</summary><dl>{items}</dl></details>"
    )


def _facts(row: Row, start: float) -> Iterator[tuple[str, str]]:
    """
    Give what else is known of a call, escaped.
    """
    yield "Id", f"<bdi>{safe(row.call_id)}</bdi>"
    if original := text(row.facts, "original_id"):
        yield "Id as it was sent", f"<bdi>{safe(original)}</bdi>"
    if row.sensitive:
        yield "Arguments", "not kept: the tool is declared sensitive"
    elif row.arguments:
        yield "Arguments", f"<pre>{safe(row.arguments)}</pre>"
    elif row.arguments_shape:
        yield "Arguments", f"<bdi>{safe(row.arguments_shape)}</bdi>"
    for tried in row.tried:
        yield f"Attempt {tried.number}", safe(_attempt(tried))
    for asked in row.asked:
        took = (
            ""
            if asked.until is None
            else f" after {duration(asked.until - asked.since)}"
        )
        yield "Approval", safe((asked.decision or "no decision") + took)
    yield from _result(row)
    if row.notes:
        shown = sorted(row.notes)[-20:]
        lines = "\n".join(f"after {duration(at - start)}: {note}" for at, note in shown)
        yield "On the way", f"<pre>{safe(lines)}</pre>"


def _attempt(tried: Tried) -> str:
    took = "" if tried.ended is None else f" for {duration(tried.ended - tried.began)}"
    said = attempt(tried) + took
    if tried.outlived:
        seen = "was not seen to end"
        if tried.late is not None:
            seen = f"ended {duration(tried.late_by)} later"
        said += f"; its body was given up and {seen}"
    elif tried.fate in ("stopped", "killed"):
        said += f"; its body was {tried.fate}"
    if tried.why:
        said += f"; {tried.why}"

    return said


def _result(row: Row) -> Iterator[tuple[str, str]]:
    facts = row.facts
    failure = text(facts, "kind")
    if failure:
        classified = text(facts, "error_class")
        why = text(facts, "why")
        said = failure + (f" ({classified})" if classified else "")
        yield "Error", safe(said + (f": {why}" if why else ""))
    content = text(facts, "content")
    if content:
        yield "Text for the model", f"<pre>{safe(content)}</pre>"
    elif row.answered is not None:
        size = f"{count(facts, 'characters'):,} characters"
        if facts.get("truncated") is True:
            size += f", cut from {count(facts, 'original_size'):,}"
        shape = text(facts, "value_shape") if row.status == "ok" else ""
        yield "Text for the model", safe(size + (f", of {shape}" if shape else ""))
    if writes := texts(facts, "writes"):
        yield "Wrote", safe(", ".join(writes))
