"""
What a batch of the command line is told while it runs: its results, and its progress.
"""

from __future__ import annotations

import threading

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, final

from .. import Fate, Status, ToolClient, ToolResult
from ..exceptions import CallCancelledError
from ..telemetry import (
    ApprovalAsked,
    ApprovalDecided,
    BatchStarted,
    CallFinished,
    CallStarted,
    Event,
)
from ._notices import tell
from ._run_lines import Line


if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


@final
class Board:
    """
    A hook that keeps the result of each line, whatever ends the batch.

    Args:
        lines: The lines of the batch.

    Attributes:
        calls: What they ask for, without those that ask for nothing.
    """

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        self._lock = threading.Lock()
        self._refused: dict[int, ToolResult] = {}
        self._results: dict[str, ToolResult] = {}
        self._begun: set[str] = set()
        self._ids: tuple[str, ...] = ()
        self.calls = [line.call for line in lines if line.call is not None]

    def refuse(self, client: ToolClient) -> None:
        """
        Let the gate say what is wrong with each line that is no call.
        """
        taken = {call.id for call in self.calls}
        for line in self._lines:
            if line.call is None:
                call_id = None if line.call_id in taken else line.call_id
                self._refused[line.number] = client.invoke_json(
                    line.text, call_id=call_id
                )
                taken.add(line.call_id)

    def __call__(self, event: Event) -> None:
        with self._lock:
            match event:
                case BatchStarted() if not self._ids:
                    self._ids = event.call_ids
                    self._begun.clear()
                    self._results.clear()
                case CallStarted():
                    self._begun.add(event.call_id)
                case CallFinished():
                    self._results[event.call_id] = event.result
                case _:
                    pass

    def results(self) -> list[ToolResult]:
        """
        Return one result for each line, also where the batch was ended before it.
        """
        with self._lock:
            ids = iter(self._ids)
            return [_named(self._result(line, ids), line) for line in self._lines]

    def _result(self, line: Line, ids: Iterator[str]) -> ToolResult:
        if line.call is None:
            found = self._refused.get(line.number)
            return found or _cancelled(line.call_id, "", begun=False)
        call_id = next(ids, line.call_id)
        found = self._results.get(call_id)

        return found or _cancelled(
            call_id, line.call.name, begun=call_id in self._begun
        )


def _named(result: ToolResult, line: Line) -> ToolResult:
    """
    Let a result say the id of its line, where it has another one.
    """
    if result.call_id == line.call_id or result.original_id is not None:
        return result

    return result.replace(original_id=line.call_id)


def _cancelled(call_id: str, name: str, *, begun: bool) -> ToolResult:
    fate = Fate.ABANDONED if begun else Fate.NOT_STARTED
    error = CallCancelledError(tool=name, fate=fate)

    return ToolResult(
        call_id=call_id,
        name=name,
        status=Status.CANCELLED,
        content=str(error),
        error=error,
        fate=fate,
    )


@final
class Lines:
    """
    A hook that says each call's end on a line of its own.
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        if not isinstance(event, CallFinished):
            return
        with self._lock:
            self._done += 1
            place = f"[{self._done:>{len(str(self._total))}}/{self._total}]"
            tell(f"{place} {said(event.result)}")


def said(result: ToolResult) -> str:
    """
    Say how a call ended; its text may be anything, and is not said.
    """
    name = result.name or "(no tool)"
    words = f"{name} {result.call_id}: {result.status}, {result.elapsed:.2f} s"
    if result.fate in (Fate.ABANDONED, Fate.KILLED, Fate.STOPPED):
        words += f", {result.fate}"
    if result.attempts > 1:
        words += f", {result.attempts} attempts"

    return words


@final
class Bar:
    """
    A hook that moves a progress bar, and makes room for whoever is asked something.
    """

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task
        self._lock = threading.Lock()
        self._asked = 0
        self._running = 0
        self._failed = 0

    def __call__(self, event: Event) -> None:
        with self._lock:
            match event:
                case ApprovalAsked():
                    self._asked += 1
                    self._progress.stop()
                case ApprovalDecided():
                    self._asked = max(0, self._asked - 1)
                    if not self._asked:
                        self._progress.start()
                case CallStarted():
                    self._running += 1
                case CallFinished():
                    self._finished(event.result)
                case _:
                    return
            self._progress.update(
                self._task, running=self._running, failed=self._failed
            )

    def _finished(self, result: ToolResult) -> None:
        self._running = max(0, self._running - 1)
        self._progress.advance(self._task)
        if not result.ok:
            self._failed += 1
            self._progress.console.print(said(result), markup=False, highlight=False)


@contextmanager
def progress(total: int) -> Generator[Lines | Bar, None, None]:
    """
    Show how far a batch is: as a bar on a terminal, else line by line.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines(total)
        return
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[running]} running, {task.fields[failed]} not ok"),
    )
    # What tools print goes past it, to standard error, as always.
    with Progress(*columns, console=console, redirect_stdout=False) as shown:
        yield Bar(shown, shown.add_task("", total=total, running=0, failed=0))
