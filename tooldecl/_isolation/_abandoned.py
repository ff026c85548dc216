"""
The ledger of bodies that run on after their call was answered.

Invariants:

1. A body is entered when its caller gives up on it and removed when it ends, so the
   ledger never shows a body that ended and never loses one that runs.
2. No interpreter exit waits for what is entered here (all of it runs on daemon threads
   or in tasks that the loop no longer counts), and none of it can abort the exit: see
   `_leave_streams_alone`.
"""

from __future__ import annotations

import asyncio
import atexit
import select
import sys
import threading
import weakref

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TextIO, final

from .._clock import monotonic
from ._body import Attempt


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AbandonedCall:
    """
    A body that may still be running, ``age`` seconds after its call was answered.
    """

    name: str
    call_id: str
    age: float


class Entry:
    """
    One abandoned body, until it ends.
    """

    __slots__ = ("attempt", "on_late", "owner", "since", "task")

    def __init__(
        self,
        attempt: Attempt,
        owner: object,
        on_late: Callable[[Attempt, float], None],
        task: asyncio.Task[None] | None = None,
    ) -> None:
        self.attempt = attempt
        self.owner = owner
        self.on_late = on_late
        self.task = task  # a loop holds its tasks weakly: keep this one
        self.since = monotonic()

    @property
    def alive(self) -> bool:
        """
        Whether the body can still run; a task of a closed loop never will.
        """
        return self.task is None or not self.task.get_loop().is_closed()


@final
class Ledger:
    """
    All abandoned bodies of one engine; safe to use from any thread.
    """

    __slots__ = ("__weakref__", "_entries", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: dict[int, Entry] = {}
        _LEDGERS.add(self)

    def enter(self, entry: Entry) -> None:
        """
        Enter a body whose caller has just given up on it.
        """
        with self._lock:
            self._entries[id(entry.attempt)] = entry

    def leave(self, attempt: Attempt) -> None:
        """
        Remove a body that ended, and tell its client what came of it.
        """
        with self._lock:
            entry = self._entries.pop(id(attempt), None)
        if entry is not None:
            entry.on_late(attempt, max(0.0, monotonic() - entry.since))

    def discard(self, attempt: Attempt) -> None:
        """
        Remove a body that ended in the moment its caller gave up: nothing was late.
        """
        with self._lock:
            self._entries.pop(id(attempt), None)

    def of(self, owner: object) -> tuple[AbandonedCall, ...]:
        """
        List the bodies of one client, the oldest first.
        """
        now = monotonic()
        return tuple(
            AbandonedCall(
                name=e.attempt.context.tool,
                call_id=e.attempt.context.call_id,
                age=now - e.since,
            )
            for e in self._alive()
            if e.owner is owner
        )

    def __len__(self) -> int:
        return len(self._alive())

    def _alive(self) -> list[Entry]:
        with self._lock:
            gone = [key for key, e in self._entries.items() if not e.alive]
            for key in gone:
                del self._entries[key]
            return list(self._entries.values())


_LEDGERS: weakref.WeakSet[Ledger] = weakref.WeakSet()


def forget_task(task: asyncio.Task[Any]) -> None:
    """
    Take an abandoned task off its loop's list, so that ``asyncio.run`` does not wait for it.

    It was cancelled once and refused; asyncio would cancel it again and wait for its
    end, however long that takes.
    """
    asyncio._unregister_task(task)
    setattr(task, "_log_destroy_pending", False)  # noqa: B010 (no stub knows it)


def _leave_streams_alone() -> None:
    """
    Keep an abandoned body that prints from aborting the interpreter's exit.

    A daemon thread that is stopped inside ``print`` holds the lock of the stream's
    buffer for good; the interpreter then aborts when it flushes that stream at its
    end. So flush now, while threads still run, and leave the interpreter nothing to
    flush. A stream whose reader does not read is not flushed: that would wait for ever.
    """
    if not any(len(ledger) for ledger in list(_LEDGERS)):
        return

    import ctypes

    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name)
        for attribute in (name, f"__{name}__"):
            kept = getattr(sys, attribute)
            if kept is not None:
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
        if stream is not None and _takes_text(stream):
            try:
                stream.flush()
            except (OSError, ValueError):
                pass
        setattr(sys, name, None)
        setattr(sys, f"__{name}__", None)


def _takes_text(stream: TextIO) -> bool:
    try:
        return bool(select.select([], [stream.fileno()], [], 0)[1])
    except (OSError, ValueError):
        return True


atexit.register(_leave_streams_alone)
