"""
The table, as text and as data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from measuring import UNITS, Line, Row


HEADS = ["row", "median", "floor", "ratio", "target", "met"]


def show(lines: Sequence[Line], machine: str) -> str:
    """
    Return what the machine was, the table, and its floors in words.
    """
    floors = list(dict.fromkeys(line.row.what for line in lines if line.row.what))
    rows = [HEADS, *(cells(line, floors) for line in lines)]
    widths = [max(len(row[n]) for row in rows) for n in range(len(HEADS))]
    text = [machine, ""]
    for row in rows:
        first, *others = row
        parts = [first.ljust(widths[0])]
        parts += [
            cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)
        ]
        text.append("  ".join(parts).rstrip())
    text.append("")
    text += [f"[{number}] {what}" for number, what in enumerate(floors, 1)]

    return "\n".join(text)


def cells(line: Line, floors: Sequence[str]) -> list[str]:
    """
    Return what stands in a line; floors go by their number.
    """
    row, scale = line.row, UNITS[line.row.unit]
    floor, ratio = line.floor, line.ratio
    number = f" [{floors.index(row.what) + 1}]" if row.what else ""

    return [
        row.title,
        f"{figure(line.median * scale)} {row.unit}",
        "" if floor is None else f"{figure(floor * scale)} {row.unit}{number:>5}",
        "" if ratio is None else f"{ratio:.2f}x",
        target(row),
        line.met,
    ]


def target(row: Row) -> str:
    """
    Say what is to be reached.
    """
    if row.most is not None:
        return f"<= {row.most:.3g}x"
    if row.least is not None:
        return f">= {row.least:.3g}x"

    return "" if row.limit is None else f"<= {row.limit:g} {row.unit}"


def figure(value: float) -> str:
    """
    Show three digits that mean something.
    """
    if abs(value) >= 100:
        return f"{value:,.0f}"

    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def as_data(lines: Sequence[Line], machine: str) -> dict[str, Any]:
    """
    Return everything as plain data, each sample included.
    """
    return {
        "machine": machine,
        "rows": [
            {
                "row": line.row.title,
                "unit": line.row.unit,
                "median": line.median,
                "best": line.best,
                "floor": line.floor,
                "floor is": line.row.what,
                "ratio": line.ratio,
                "target": target(line.row),
                "met": line.met,
                "samples": [sample[line.row.value] for sample in line.samples],
            }
            for line in lines
        ],
    }
