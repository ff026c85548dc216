"""
``tooldecl report``: a journal as one HTML page.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..report import write_report
from ._exits import Exit
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
        tooldecl.report.Journal. The page needs no network and runs no scripts.
        """
        target = Path(journal).with_suffix(".html") if output is None else Path(output)
        if target.exists() and target.samefile(journal):
            raise click.UsageError(f"{plain(str(target))} is the journal itself.")
        try:
            made = write_report(target, journal, title=title)
        except OSError as error:
            where = plain(str(error.filename or target))
            raise click.FileError(where, error.strerror or str(error)) from None
        click.echo(plain(str(made)))

        return Exit.OK

    return report
