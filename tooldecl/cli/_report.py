"""
``tooldecl report``: a journal as one HTML page.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..report import read_journal, write_report
from ._exits import Exit
from ._notices import tell
from ._words import plain


if TYPE_CHECKING:
    import click


def command() -> click.Command:
    """
    Return the command, for the group of all.
    """
    import click

    @click.command("report", short_help="Show a journal as one HTML page.")
    @click.argument("journal", type=click.Path(exists=True, dir_okay=False))
    @click.option(
        "-o",
        "--output",
        type=click.Path(dir_okay=False),
        help="The page; without it, the name of the journal with .html.",
    )
    @click.option(
        "--title", default="Run report", show_default=True, help="Its heading."
    )
    def report(journal: str, *, output: str | None, title: str) -> Exit:
        """
        Show what a journal tells, as one HTML page, and write the path of the page.

        JOURNAL is a file that `tooldecl run --journal` has written, or a
        tooldecl.report.Journal. The page needs no network and runs no scripts. Lines
        that cannot be read are counted on it and on standard error; where none can,
        nothing is written.
        """
        target = Path(journal).with_suffix(".html") if output is None else Path(output)
        if target.exists() and target.samefile(journal):
            raise click.UsageError(f"{plain(str(target))} is the journal itself.")
        try:
            made = write_report(target, _entries(journal), title=title)
        except OSError as error:
            where = plain(str(error.filename or target))
            raise click.FileError(where, error.strerror or str(error)) from None
        click.echo(plain(str(made)))

        return Exit.OK

    return report


def _entries(journal: str) -> list[Mapping[str, object]]:
    """
    Read a journal, which may be empty, and say how much of it cannot be read.

    Raises:
        click.ClickException: Nothing that is in it can.
    """
    import click

    entries = list(read_journal(journal))
    lost = sum(entry["event"] == "unreadable" for entry in entries)
    if lost and lost == len(entries):
        raise click.ClickException(
            f"{plain(journal)} is no journal: no line of it can be read."
        )
    if lost:
        tell(f"{plain(journal)}: {lost} of {len(entries)} lines cannot be read.")

    return entries
