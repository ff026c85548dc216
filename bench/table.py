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
    Return the table, the floors in words, and what the machine was.
    """
    rows = [HEADS, *(cells(line) for line in lines)]
    widths = [max(len(row[n]) for row in rows) for n in range(len(HEADS))]
    text = [machine, ""]
    for row in rows:
        first, *others = row
        parts = [first.ljust(widths[0])]
        parts += [
            cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)
        ]
        text.append("  ".join(parts))
    text += ["", "Floors:"]
    for what, titles in floors(lines).items():
        text.append(f"  {what}: {'; '.join(titles)}")

    return "\n".join(text)


def cells(line: Line) -> list[str]:
    """
    Return what stands in a line.
    """
    row, scale = line.row, UNITS[line.row.unit]
    floor, ratio, met = line.floor, line.ratio, line.met

    return [
        row.title,
        f"{figure(line.median * scale)} {row.unit}",
        "" if floor is None else f"{figure(floor * scale)} {row.unit}",
        "" if ratio is None else f"{ratio:.2f}x",
        target(row),
        "" if met is None else "yes" if met else "NO",
    ]


def target(row: Row) -> str:
    """
    Say what is to be reached.
    """
    parts = []
    if row.most is not None:
        parts.append(f"<= {row.most:g}x")
    if row.least is not None:
        parts.append(f">= {row.least:g}x")
    if row.limit is not None:
        parts.append(f"<= {row.limit:g} {row.unit}")

    return ", ".join(parts)


def figure(value: float) -> str:
    """
    Show three digits that mean something.
    """
    if abs(value) >= 100:
        return f"{value:,.0f}"

    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def floors(lines: Sequence[Line]) -> dict[str, list[str]]:
    """
    Return which rows have which floor.
    """
    found: dict[str, list[str]] = {}
    for line in lines:
        if line.row.what:
            found.setdefault(line.row.what, []).append(line.row.title)

    return found


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
