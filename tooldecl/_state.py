"""
The client's state: a read-only snapshot for a batch, and the fold of what it wrote.
"""

from __future__ import annotations

import threading

from collections.abc import Iterable, Mapping
from typing import Any, final

from ._readonly import ReadOnlyDict, frozen_mapping


@final
class State:
    """
    Slots and their values; safe to use from any thread.
    """

    __slots__ = ("_lock", "_slots")

    def __init__(self, initial: Mapping[str, Any]) -> None:
        self._lock = threading.Lock()
        self._slots: Mapping[str, Any] = frozen_mapping(initial)

    def snapshot(self) -> Mapping[str, Any]:
        """
        Return the slots as they are now; later writes do not show in it.
        """
        return self._slots

    def fold(
        self, writes: Iterable[tuple[str, Mapping[str, object]]]
    ) -> dict[str, tuple[str, ...]]:
        """
        Take over the writes of a batch, in call order; the last one to a slot wins.

        Args:
            writes: For each successful call its id and what it wrote.

        Returns:
            Slots written by more than one call, with the ids of those calls.
        """
        writers: dict[str, list[str]] = {}
        fresh: dict[str, object] = {}
        for call_id, slots in writes:
            for slot, value in slots.items():
                fresh[slot] = value
                writers.setdefault(slot, []).append(call_id)
        if fresh:
            with self._lock:
                self._slots = ReadOnlyDict({**self._slots, **fresh})

        return {slot: tuple(ids) for slot, ids in writers.items() if len(ids) > 1}
