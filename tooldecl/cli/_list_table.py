"""
Rows for people: a table where it fits, a paragraph for each tool where it does not.
"""

from __future__ import annotations

import io

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from ._words import plain


if TYPE_CHECKING:
    from rich.console import Console

Row: TypeAlias = dict[str, str]

_GAP = 2
_LEAST = 30  # columns for the parameters
_ALWAYS = ("tool", "parameters", "kind", "timeout", "declared")


def aligned(rows: Sequence[Row]) -> str:
    """
    Return one line for each tool, with the same columns every time.
    """
    heads = {name: name.upper() for name in rows[0]}
    lines = [heads, *map(_shown, rows)]
    widths = {name: max(len(line[name]) for line in lines) for name in heads}
    gap = " " * _GAP

    return "\n".join(
        gap.join(cell.ljust(widths[name]) for name, cell in line.items()).rstrip()
        for line in lines
    )


def _shown(row: Row) -> Row:
    return {name: plain(cell) for name, cell in row.items()}


def table(rows: Sequence[Row], width: int) -> str:
    """
    Return a table for a terminal, without columns that say nothing of any tool.
    """
    rows = [*map(_shown, rows)]
    kept = [n for n in rows[0] if n in _ALWAYS or any(r[n] != "-" for r in rows)]
    fixed = [name for name in kept if name != "parameters"]
    taken = sum(max(len(name), *(len(r[name]) for r in rows)) + _GAP for name in fixed)
    drawn = io.StringIO()
    console = _console(drawn, width)
    if width - taken < _LEAST:
        _paragraphs(console, rows, kept)
    else:
        _columns(console, rows, kept)

    return drawn.getvalue()


def _console(file: io.StringIO, width: int) -> Console:
    from rich.console import Console

    return Console(
        file=file,
        width=width,
        force_terminal=True,
        highlight=False,
        markup=False,
        emoji=False,
    )


def _columns(console: Console, rows: Sequence[Row], kept: Sequence[str]) -> None:
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="dim")
    for name in kept:
        grid.add_column(
            name,
            style="bold" if name == "tool" else "",
            no_wrap=name != "parameters",
            overflow="fold",
            ratio=1 if name == "parameters" else None,
        )
    for row in rows:
        grid.add_row(*(Text(row[name]) for name in kept))
    console.print(grid)


def _paragraphs(console: Console, rows: Sequence[Row], kept: Sequence[str]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    indent = _GAP if console.width >= _LEAST else 0
    about = [name for name in kept if name not in ("tool", "parameters", "kind")]
    for row in rows:
        facts = [row["kind"], *(f"{n} {row[n]}" for n in about if row[n] != "-")]
        head = Text(row["tool"], style="bold")
        console.print(head + Text(row["parameters"], style="not bold"))
        about_it = Text(", ".join(facts), style="dim")
        console.print(Padding(about_it, (0, 0, 0, indent)))
