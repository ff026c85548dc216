"""
The demo's report on the terminal, at any width, in any encoding, with or without colour.
"""

from __future__ import annotations

import sys

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TextIO, final

from .. import Fate, Status, ToolResult
from ._demo_checks import Verdict
from ._demo_journal import Episode, Journal
from ._results import Results


if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

_NARROWEST = 78
_WIDEST = 110  # a line that is longer is hard to follow

_STATUS_STYLES = {Status.OK: "green", Status.NOT_FOUND: "cyan"}
_FATE_STYLES = {
    Fate.NOT_STARTED: "dim",
    Fate.STOPPED: "cyan",
    Fate.ABANDONED: "bold red",
}


def report_on(out: Results) -> Report:
    """
    Return a report that is the result.
    """
    return Report(_console(out.stream), out.drawn)


def report_beside() -> Report:
    """
    Return a report on standard error, where the result is another.
    """
    import click

    return Report(_console(sys.stderr), partial(click.echo, nl=False, err=True))


def _console(stream: TextIO | None) -> Console:
    from rich.console import Console

    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    # Below this the columns would be cut; a terminal that is narrower wraps the lines.
    console.width = max(console.width, _NARROWEST)

    return console


@final
class Report:
    """
    Writes the report, part by part, while the demo runs.

    Args:
        console: Draws it, for where it is written.
        write: Writes what was drawn.
    """

    def __init__(self, console: Console, write: Callable[[str], object]) -> None:
        self._console = console
        self._write = write
        self._width = min(console.width, _WIDEST)

    def line(self, text: str = "", *, style: str = "", indent: int = 0) -> None:
        """
        Write a paragraph.
        """
        from rich.text import Text

        room = self._width - indent
        for shown in Text(self._safe(text), style=style).wrap(self._console, room):
            shown.rstrip()
            self._print(Text(" " * indent) + shown, soft_wrap=True)

    def heading(self, text: str) -> None:
        """
        Write the heading of a part.
        """
        self.line()
        self.line(text.upper(), style="bold")
        self.line("-" * self._width, style="dim")

    def pairs(self, pairs: Iterable[tuple[str, str]]) -> None:
        """
        Write names, each with what there is to say about it.
        """
        table = self._grid(2)
        for name, text in pairs:
            table.add_row(self._safe(name), self._safe(text))
        self._print(table, width=self._width)

    def columns(self) -> None:
        """
        Write what the columns of the calls are called.
        """
        table = self._calls()
        heads = ("tool", "arguments", "status", "fate", "attempts", "time")
        table.add_row(*heads, style="dim")
        self._print(table, width=self._width)

    def episode(self, episode: Episode, journal: Journal, *, explain: bool) -> None:
        """
        Write one part of the demo, call by call.

        Args:
            explain: Write what the model reads of calls that did not succeed, too.
        """
        self.line()
        self.line(episode.title, style="bold")
        for result in episode.results:
            table = self._calls()
            self._add(table, result, journal.shapes.get(result.call_id, ""))
            self._print(table, width=self._width)
            if explain and not result.ok:
                text = " ".join(result.content.split())
                self.line(f"the model reads: {text}", style="dim", indent=4)
        if episode.remark:
            self.line(episode.remark, indent=2)

    def remark(self, title: str, text: str) -> None:
        """
        Write one part of the demo that has no calls.
        """
        self.line()
        self.line(title, style="bold")
        self.line(text, indent=2)

    def verdicts(self, verdicts: Sequence[Verdict]) -> None:
        """
        Write what was checked, and whether it held.
        """
        table = self._grid(3)
        for verdict in verdicts:
            table.add_row(
                _styled("held" if verdict.held else "BROKEN", verdict.held),
                self._safe(verdict.claim),
                self._safe(verdict.evidence),
            )
        self._print(table, width=self._width)

    def _print(
        self, drawn: Text | Table, *, soft_wrap: bool = False, width: int | None = None
    ) -> None:
        with self._console.capture() as captured:
            self._console.print(drawn, soft_wrap=soft_wrap, width=width)
        self._write(captured.get())

    def _add(self, table: Table, result: ToolResult, shape: str) -> None:
        from rich.text import Text

        table.add_row(
            Text(self._safe(result.name)),
            Text(self._safe(shape)),
            Text(
                result.status.value, style=_STATUS_STYLES.get(result.status, "yellow")
            ),
            Text(result.fate.value, style=_FATE_STYLES.get(result.fate, "")),
            str(result.attempts),
            _duration(result.elapsed),
        )

    def _calls(self) -> Table:
        """
        Return a table for calls; all of them have the same columns.
        """
        table = self._grid(0)
        table.expand = True
        table.add_column(width=13, overflow="fold")
        table.add_column(ratio=1, overflow="fold")
        for width in (16, 11):
            table.add_column(width=width, overflow="fold")
        for width in (8, 6):
            table.add_column(width=width, justify="right", overflow="fold")

        return table

    def _grid(self, columns: int) -> Table:
        """
        Return a table without lines: they would be noise, and in ASCII more so.
        """
        from rich.table import Table

        table = Table.grid(padding=(0, 2, 0, 0), pad_edge=False)
        for _ in range(columns):
            table.add_column(overflow="fold")

        return table

    def _safe(self, text: str) -> str:
        """
        Replace what the console's encoding cannot show.
        """
        encoding = self._console.encoding

        return text.encode(encoding, "replace").decode(encoding)


def _duration(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 0.01 else f"{seconds:.2f} s"


def _styled(text: str, good: bool) -> Text:
    from rich.text import Text

    return Text(text, style="green" if good else "bold red")
