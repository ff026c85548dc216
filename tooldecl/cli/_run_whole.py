"""
A file of calls is one batch to whoever keeps it, also with lines that are no calls.
"""

from __future__ import annotations

import dataclasses
import threading

from collections.abc import Sequence
from typing import final

from ..telemetry import BatchFinished, BatchStarted, CallStarted, Event, Hook
from ._run_lines import Line


@final
class Whole:
    """
    A hook that tells others of one batch with all lines in it, in their order.

    The gate refuses what is no call before the batch begins; what is told of that is
    held back until then.

    Args:
        lines: The lines of the file.
        hooks: Who is told.
    """

    def __init__(self, lines: Sequence[Line], hooks: Sequence[Hook]) -> None:
        self._lines = lines
        self._hooks = hooks
        self._lock = threading.RLock()
        self._held: list[Event] = []
        self._ids: dict[tuple[str, ...], tuple[str, ...]] = {}

    def __call__(self, event: Event) -> None:
        with self._lock:
            if self._ids:
                self._tell(event)
            elif isinstance(event, BatchStarted):
                self._begin(event)
            else:
                self._held.append(event)

    def end(self) -> None:
        """
        Tell what is held back still: there was no batch.
        """
        with self._lock:
            self._let_go()

    def _begin(self, event: BatchStarted) -> None:
        refused = (e.call_id for e in self._held if isinstance(e, CallStarted))
        calls = iter(event.call_ids)
        whole = tuple(
            next(refused if line.call is None else calls, line.call_id)
            for line in self._lines
        )
        self._ids[event.call_ids] = whole
        at = self._held[0].at if self._held else event.at
        self._tell(dataclasses.replace(event, at=at))
        self._let_go()

    def _let_go(self) -> None:
        held, self._held = self._held, []
        for event in held:
            self._tell(event)

    def _tell(self, event: Event) -> None:
        if isinstance(event, BatchStarted | BatchFinished):
            ids = self._ids.get(event.call_ids, event.call_ids)
            event = dataclasses.replace(event, call_ids=ids)
        for hook in self._hooks:
            hook(event)
