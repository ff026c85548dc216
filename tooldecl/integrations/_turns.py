"""
Keep ``serial=True`` where somebody else starts calls one by one: a framework, a server.

What comes first goes first: a serial call waits until those before it have ended, and
those after it wait for it. Every call goes through, whether it is awaited or not.

1. The calls of one turn, or of one server, share a line, found by a key; the line is
   forgotten when nobody stands in it.
2. A call made inside of another one never stands in the line of that one, which would
   wait for itself: it has a line below it.
3. Whoever leaves, also by an exception or a cancellation, lets the next ones in.
"""

from __future__ import annotations

import asyncio
import threading

from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator, Hashable
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import final


__all__ = ["Turns"]


@final
class _Place:
    """
    The place of one call in a line.
    """

    __slots__ = ("admitted", "alone", "left", "owner", "wake")

    def __init__(self, owner: Turns, alone: bool, wake: Callable[[], object]) -> None:
        self.owner = owner
        self.alone = alone
        self.wake = wake
        self.admitted = self.left = False


# The calls that the running code is inside of, the innermost last.
_INSIDE: ContextVar[tuple[_Place, ...]] = ContextVar("_INSIDE", default=())


@final
class _Line:
    """
    Those that wait, and those that are through.
    """

    __slots__ = ("inside", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[_Place] = deque()
        self.inside: list[_Place] = []

    def admit(self) -> list[_Place]:
        """
        Let in whoever may go now, and return them.
        """
        admitted: list[_Place] = []
        while self.waiting:
            first = self.waiting[0]
            if self.inside and (first.alone or self.inside[0].alone):
                break
            self.waiting.popleft()
            self.inside.append(first)
            first.admitted = True
            admitted.append(first)

        return admitted


@final
class Turns:
    """
    The lines of one set of tools; safe from any thread and loop.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: dict[Hashable, _Line] = {}

    @contextmanager
    def taken(self, key: Hashable, alone: bool) -> Generator[None, None, None]:
        """
        Wait for a turn, and have it until the block is left.
        """
        event = threading.Event()
        place, line = self._join(key, alone, event.set)
        try:
            if not place.admitted:
                event.wait()
            before = _INSIDE.get()
            _INSIDE.set((*before, place))
            try:
                yield
            finally:
                _INSIDE.set(before)
        finally:
            self._leave(line, place)

    @asynccontextmanager
    async def ataken(self, key: Hashable, alone: bool) -> AsyncGenerator[None, None]:
        """
        As `taken`, without holding the loop.
        """
        loop = asyncio.get_running_loop()
        event = asyncio.Event()
        place, line = self._join(
            key, alone, lambda: loop.call_soon_threadsafe(event.set)
        )
        try:
            if not place.admitted:
                await event.wait()
            before = _INSIDE.get()
            _INSIDE.set((*before, place))
            try:
                yield
            finally:
                _INSIDE.set(before)
        finally:
            self._leave(line, place)

    def _join(
        self, key: Hashable, alone: bool, wake: Callable[[], object]
    ) -> tuple[_Place, Hashable]:
        outer = next((p for p in reversed(_INSIDE.get()) if p.owner is self), None)
        name = (outer, key)
        place = _Place(self, alone, wake)
        with self._lock:
            line = self._lines.setdefault(name, _Line())
            line.waiting.append(place)
            line.admit()

        return place, name

    def _leave(self, name: Hashable, place: _Place) -> None:
        with self._lock:
            if place.left:
                return
            place.left = True
            line = self._lines[name]
            (line.inside if place.admitted else line.waiting).remove(place)
            admitted = line.admit()
            if not line.inside and not line.waiting:
                del self._lines[name]
        for next_one in admitted:
            try:
                next_one.wake()
            except RuntimeError:  # its loop is closed, so nobody waits there any more
                self._leave(name, next_one)
