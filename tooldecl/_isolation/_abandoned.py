"""
The ledger of bodies that run on after their call was answered.

Invariants:

1. A body is entered when its caller gives up on it and removed when it ends, so the
   ledger never shows a body that ended and never loses one that runs.
2. No interpreter exit waits for what is entered here: all of it runs on daemon threads
   or in tasks that the loop no longer counts.
3. An abandoned task is never collected before it has ended. Collecting it would run its
   body once more, in whatever thread that happens, and one that refuses every exception
   would never come back from there. A task whose loop is closed is kept for good.
4. No hook is called while the lock is held.
5. A forked child has none of its parent's bodies: it starts with empty ledgers.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref

from collections.abc import Callable
from typing import Any, final

from .._clock import monotonic
from .._context import ToolContext
from .._records import record
from ._attempt import Attempt


@final
@record(frozen=True, slots=True, kw_only=True)
class AbandonedCall:
    """
    A body that may still be running, ``age`` seconds after its call was answered.

    Attributes:
        name: Its tool.
        call_id: Its call.
        age: Seconds since it was given up.
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
        self.task = task
        self.since = monotonic()

    @property
    def alive(self) -> bool:
        """
        Whether the body can still run; a task of a closed loop never will.
        """
        return self.task is None or not self.task.get_loop().is_closed()

    def shown(self, now: float) -> AbandonedCall:
        """
        Return what a host may know of it.
        """
        context = self.attempt.context

        return AbandonedCall(
            name=context.tool, call_id=context.call_id, age=now - self.since
        )


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
        return tuple(e.shown(now) for e in self._alive() if e.owner is owner)

    def all(self) -> list[AbandonedCall]:
        """
        List the bodies of all clients.
        """
        now = monotonic()
        return [entry.shown(now) for entry in self._alive()]

    def contexts(self) -> list[ToolContext]:
        """
        List the contexts of the bodies.
        """
        return [entry.attempt.context for entry in self._alive()]

    def __len__(self) -> int:
        return len(self._alive())

    def _alive(self) -> list[Entry]:
        with self._lock:
            gone = [key for key, e in self._entries.items() if not e.alive]
            for key in gone:
                del self._entries[key]

            return list(self._entries.values())

    def forget_parent(self) -> None:
        """
        Start anew in a forked child.
        """
        self._lock = threading.Lock()
        self._entries = {}


_LEDGERS: weakref.WeakSet[Ledger] = weakref.WeakSet()
_TASKS: set[asyncio.Task[Any]] = set()


def has_bodies() -> bool:
    """
    Whether any body runs on after its call was answered.
    """
    return any(len(ledger) for ledger in list(_LEDGERS))


def abandoned_calls() -> tuple[AbandonedCall, ...]:
    """
    List the bodies of this process that were given up and may still run, the oldest first.

    Those of every client and engine, also of clients that are no more.
    """
    found = [call for ledger in list(_LEDGERS) for call in ledger.all()]

    return tuple(sorted(found, key=lambda call: -call.age))


def _forget_parent() -> None:
    for ledger in list(_LEDGERS):
        ledger.forget_parent()


os.register_at_fork(after_in_child=_forget_parent)


def forget_task(task: asyncio.Task[Any]) -> None:
    """
    Take an abandoned task off its loop's list, so that ``asyncio.run`` does not wait for it.

    It was cancelled once and refused; asyncio would cancel it again and wait for its
    end, however long that takes. From now on it is kept here until it ends.
    """
    _TASKS.add(task)
    task.add_done_callback(_TASKS.discard)
    asyncio._unregister_task(task)
    setattr(task, "_log_destroy_pending", False)  # noqa: B010 (no stub knows it)


def forgotten_tasks() -> tuple[asyncio.Task[Any], ...]:
    """
    Return the tasks that were forgotten and have not ended.
    """
    return tuple(_TASKS)
