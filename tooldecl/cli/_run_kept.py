"""
What ``tooldecl run`` keeps of a batch: a journal, a page, or both.
"""

from __future__ import annotations

import os

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, TextIO, final

from ..report import Journal, Recorder, write_report
from ..telemetry import Event, Hook
from ._run_files import are_one, behind, found_at, is_module, why_not_written
from ._words import plain


if TYPE_CHECKING:
    import click


@final
class Kept:
    """
    The files that were asked for.

    Args:
        journal: The path of the journal, or None.
        report: The path of the page, or None.
        contents: Whether arguments and results are kept too.
    """

    def __init__(
        self, journal: str | None, report: str | None, *, contents: bool
    ) -> None:
        self._journal = journal
        self._report = report
        self._contents = contents

    def check(self, batch: IO[bytes], results: TextIO | None) -> None:
        """
        Refuse before a long batch what could not be written after it.

        Args:
            batch: Where the calls were read from.
            results: Where their results go.

        Raises:
            click.UsageError: A path leads nowhere, or to what must not be written over.
        """
        journal, report = self._journal, self._report
        if journal is not None and report is not None and are_one(journal, report):
            raise _misuse("--journal and --report are one file.")
        for option, path in self._named():
            if not Path(path).parent.is_dir():
                folder = plain(str(Path(path).parent))
                raise _misuse(f"{option}: there is no folder {folder}.")
            there = found_at(path)
            for stream, what in (
                (batch, "is the batch itself"),
                (results, "is where the results go"),
            ):
                taken = behind(stream)
                if there and taken and os.path.samestat(there, taken):
                    raise _misuse(f"{option}: {plain(path)} {what}.")
        if report is not None and (reason := why_not_written(report)):
            raise _misuse(f"--report: {reason}")

    def check_modules(self) -> None:
        """
        Refuse a path that leads to a module of the tools, now that they are imported.

        Raises:
            click.UsageError: One does.
        """
        for option, path in self._named():
            if is_module(path):
                words = "is a module that the tools need"
                raise _misuse(f"{option}: {plain(path)} {words}.")

    def _named(self) -> list[tuple[str, str]]:
        both = (("--journal", self._journal), ("--report", self._report))

        return [(option, path) for option, path in both if path is not None]

    @contextmanager
    def hooks(self, title: str) -> Generator[list[Hook], None, None]:
        """
        Give the hooks that keep what happens, and write at the end what is left to write.

        Raises:
            click.ClickException: Something could not be kept; it names each.
        """
        import click

        keeper = None if self._journal is None else Keeper(self._opened(self._journal))
        seen = None if self._report is None else Recorder(contents=self._contents)
        try:
            yield [hook for hook in (keeper, seen) if hook is not None]
        finally:
            faults = [] if keeper is None else keeper.ended()
            if self._report is not None and seen is not None:
                try:
                    write_report(self._report, seen, title=title)
                except OSError as error:
                    faults.append(_fault("report", self._report, error))
            if faults:
                raise click.ClickException("\n".join(faults))

    def _opened(self, path: str) -> Journal:
        import click

        try:
            return Journal(path, contents=self._contents)
        except OSError as error:
            raise click.FileError(plain(path), error.strerror or str(error)) from None


@final
class Keeper:
    """
    A hook that keeps what happens in a journal, and remembers what it could not keep.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._faults: list[OSError] = []

    def __call__(self, event: Event) -> None:
        try:
            self._journal(event)
        except OSError as error:
            self._faults.append(error)

    def ended(self) -> list[str]:
        """
        Close the journal, and say what is not in it.
        """
        try:
            self._journal.close()
        except OSError as error:
            self._faults.append(error)
        if not self._faults:
            return []
        lacks = f"events that are not in it: {len(self._faults)}"

        return [_fault("journal", str(self._journal.path), self._faults[-1], lacks)]


def _fault(what: str, path: str, error: OSError, more: str = "") -> str:
    words = f"The {what} {path} could not be written: {error.strerror or error}".rstrip(
        "."
    )

    return plain(f"{words}; {more}" if more else words)


def _misuse(text: str) -> click.UsageError:
    import click

    return click.UsageError(text)
