"""
The client's state: a read-only snapshot for a batch, and the fold of what it wrote.

Invariants:

1. A reducer runs with no lock held; what it gives counts only if none of the slots it was
   given has changed meanwhile, else it is asked again.
2. A reducer that raises loses its one write, and nothing else.
"""

from __future__ import annotations

import logging
import threading

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import iscoroutinefunction
from typing import Any, TypeAlias, final

from ._forking import watch
from ._policy import shown
from ._readonly import ReadOnlyDict, freeze, frozen_mapping
from ._records import record
from .exceptions import DeclarationError


__all__ = ["Reducer"]

logger = logging.getLogger("tooldecl")

Writes: TypeAlias = Sequence[tuple[str, Mapping[str, object]]]
Failure: TypeAlias = tuple[str, str, BaseException]

_ABSENT = object()


@final
@record(frozen=True, slots=True)
class Reducer:
    """
    How the writes of several calls to one slot become one value.

    ``fn`` may be asked more than once for one write, where another batch has changed the
    slot meanwhile: it returns a new value, and changes nothing. What it is given and what
    it returns is read-only at every depth.

    Attributes:
        init: The old value where the slot has none.
        fn: Makes the new value of the old one and of what a call wrote.

    Raises:
        DeclarationError: *fn* cannot be called, or would have to be awaited.
    """

    init: Any
    fn: Callable[[Any, Any], object]

    def __post_init__(self) -> None:
        fn: object = self.fn
        if not callable(fn) or iscoroutinefunction(fn):
            rule = "a callable of the old and the new value that waits for nothing"
            raise DeclarationError(f"Reducer(fn=...) takes {rule}, got {shown(fn)}.")
        object.__setattr__(self, "init", freeze(self.init))


@final
class State:
    """
    Slots and their values; safe to use from any thread.
    """

    __slots__ = ("__weakref__", "_initial", "_lock", "_reducers", "_slots")

    def __init__(
        self, initial: Mapping[str, Any], reducers: Mapping[str, Reducer] | None = None
    ) -> None:
        self._lock = threading.Lock()
        watch(self)
        self._slots: Mapping[str, Any] = frozen_mapping(initial)
        self._initial = self._slots
        self._reducers: Mapping[str, Reducer] = {} if reducers is None else reducers

    def forget_parent(self) -> None:
        """
        Start anew in a forked child, where whoever held the lock is no more.
        """
        self._lock = threading.Lock()

    def snapshot(self) -> Mapping[str, Any]:
        """
        Return the slots as they are now; later writes do not show in it.
        """
        return self._slots

    def adopt(self, slots: Mapping[str, Any]) -> None:
        """
        Begin where another process has ended, unless something was written here.
        """
        with self._lock:
            if self._slots is self._initial:
                self._slots = frozen_mapping(slots)

    def copy(self) -> State:
        """
        Return a state that begins with these slots and goes its own way.
        """
        return State(self._slots, self._reducers)

    def fold(
        self, writes: Iterable[tuple[str, Mapping[str, object]]]
    ) -> dict[str, tuple[str, ...]]:
        """
        Take over the writes of a batch, in call order.

        A slot with a reducer takes every write; of the others the last one wins.

        Args:
            writes: For each successful call its id and what it wrote.

        Returns:
            Slots without a reducer that were written by more than one call, with the
            ids of those calls.
        """
        given = list(writes)
        writers: dict[str, list[str]] = {}
        fresh: dict[str, object] = {}
        for call_id, slots in given:
            for slot, value in slots.items():
                if slot not in self._reducers:
                    fresh[slot] = value
                    writers.setdefault(slot, []).append(call_id)
        self._take_over(given, fresh)

        return {slot: tuple(ids) for slot, ids in writers.items() if len(ids) > 1}

    def _take_over(self, writes: Writes, fresh: Mapping[str, object]) -> None:
        while True:
            before = self._slots
            made, failures = self._reduced(before, writes)
            if not made and not fresh:
                break
            with self._lock:
                now = self._slots
                if all(_same(now, before, slot) for slot in made):
                    self._slots = ReadOnlyDict({**now, **fresh, **made})
                    break
        for slot, call_id, error in failures:
            text = "The reducer of the slot %r failed: the write of call %s is dropped."
            logger.warning(text, slot, call_id, exc_info=error)

    def _reduced(
        self, before: Mapping[str, Any], writes: Writes
    ) -> tuple[dict[str, object], list[Failure]]:
        """
        Return the new values of the slots with a reducer, and what went wrong.
        """
        made: dict[str, object] = {}
        failures: list[Failure] = []
        for call_id, slots in writes:
            for slot, value in slots.items():
                reducer = self._reducers.get(slot)
                if reducer is None:
                    continue
                old = made.get(slot, before.get(slot, reducer.init))
                try:
                    made[slot] = freeze(reducer.fn(old, value))
                except (KeyboardInterrupt, MemoryError):
                    raise
                except BaseException as error:  # the host's own code may raise anything
                    failures.append((slot, call_id, error))

        return made, failures


def _same(now: Mapping[str, Any], before: Mapping[str, Any], slot: str) -> bool:
    return now.get(slot, _ABSENT) is before.get(slot, _ABSENT)
