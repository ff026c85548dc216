"""
A line for places and groups, first come first served, for threads and loops alike.

A ticket wants a place, of which there is a number or no end, a group, which one ticket
has at a time, or both at once. It holds neither while it waits, so that what waits for a
place never keeps a group from a call inside of one that has its place already.

Invariants:

1. Nothing that anyone who waits could have is free: what is left goes to the first of
   them that can use it, so nobody is overtaken by one that wants the same.
2. `Line.leave` ends a ticket whatever its state is, and may be called twice.
3. A ticket whose wait could never end is not taken in: the group that it wants is held
   by a call that waits, in the end, for a group of the ticket's own callers.
4. No callback is called while the lock is held.
5. A forked child has none of its parent's threads: its lines are empty.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
import weakref

from collections import deque
from collections.abc import Callable, Hashable
from typing import final

from ._signals import Stopped, StopSignal
from ._waits import LoopWaiter, ThreadWaiter


@final
class Ticket:
    """
    What one call wants, and whether it has it.

    Args:
        place: It wants a place.
        group: It wants this group, where it is not None.
        holds: What its callers hold until it has ended.

    Attributes:
        given: It has what it wants.
        circular: It was not taken in (invariant 3).
    """

    __slots__ = ("circular", "given", "group", "holds", "number", "place", "wake")

    def __init__(
        self,
        *,
        place: bool = True,
        group: Hashable | None = None,
        holds: tuple[object, ...] = (),
    ) -> None:
        self.place = place
        self.group = group
        self.holds = holds
        self.given = False
        self.circular = False
        self.number = 0
        self.wake: Callable[[], None] | None = None

    @property
    def wants(self) -> tuple[Hashable | None, bool]:
        """
        What those have in common that are given the same.
        """
        return self.group, self.place


@final
class Line:
    """
    At most *places* tickets with a place at once (None is no limit), one of each group.
    """

    __slots__ = (
        "__weakref__",
        "_groups",
        "_lock",
        "_nested",
        "_numbers",
        "_taken",
        "_waiting",
        "places",
    )

    def __init__(self, places: int | None = None) -> None:
        self.places = places
        self._lock = threading.Lock()
        self._taken = 0
        self._groups: set[Hashable] = set()
        # Those that wait, by what they want; in each the first to have come is the first.
        self._waiting: dict[tuple[Hashable | None, bool], deque[Ticket]] = {}
        self._nested: list[Ticket] = []  # those of them that were made inside of a call
        self._numbers = itertools.count()
        _LINES.add(self)

    @property
    def taken(self) -> int:
        """
        How many places are taken now.
        """
        return self._taken

    @property
    def standing(self) -> int:
        """
        How many wait now.
        """
        return sum(map(len, list(self._waiting.values())))

    def try_take(self, ticket: Ticket, beside: int = 0) -> bool:
        """
        Give *ticket* what it wants if it is free now, with *beside* more places in use.
        """
        with self._lock:
            return self._give(ticket, beside)

    def stand(self, ticket: Ticket) -> bool:
        """
        Give *ticket* what it wants, or have it wait; `enter` is what waits.
        """
        with self._lock:
            if not self._give(ticket):
                ticket.circular = self._is_circular(ticket)
                if not ticket.circular:
                    self._append(ticket)

            return ticket.given

    def enter(
        self, ticket: Ticket, timeout: float | None, signal: StopSignal | None = None
    ) -> bool:
        """
        Wait on this thread for what *ticket* stands for; False after *timeout* seconds.

        Raises:
            Stopped: The signal was set meanwhile.
        """
        with ThreadWaiter() as waiter:
            if not self._will_wake(ticket, waiter.wake):
                return True
            if signal is not None:
                signal.add(waiter.wake)
            try:
                waiter.wait(timeout)
            finally:
                if signal is not None:
                    signal.discard(waiter.wake)
        if signal is not None and signal.is_set:
            raise Stopped

        return self._decided(ticket)

    async def aenter(self, ticket: Ticket, timeout: float | None) -> bool:
        """
        Wait on the running loop for what *ticket* stands for; as `enter`.
        """
        waiter = LoopWaiter(asyncio.get_running_loop())
        if self._will_wake(ticket, waiter.wake):
            await waiter.wait(timeout)

        return self._decided(ticket)

    def leave(self, ticket: Ticket) -> None:
        """
        Give back what *ticket* has, or wait no longer.
        """
        with self._lock:
            if not ticket.given:
                self._withdraw(ticket)
                return
            ticket.given = False
            self._taken -= ticket.place
            self._groups.discard(ticket.group)
            woken = self._give_to_the_first()
        for wake in woken:
            if wake is not None:
                wake()

    def _append(self, ticket: Ticket) -> None:
        ticket.number = next(self._numbers)
        self._waiting.setdefault(ticket.wants, deque()).append(ticket)
        if ticket.holds:
            self._nested.append(ticket)

    def _give_to_the_first(self) -> list[Callable[[], None] | None]:
        """
        Give what is free to who waits; return how to wake them.

        Of those that want the same, the first decides for all.
        """
        woken: list[Callable[[], None] | None] = []
        given = True
        while given:
            given = False
            firsts = sorted(
                (queue[0] for queue in self._waiting.values()),
                key=lambda ticket: ticket.number,
            )
            for ticket in firsts:
                if self._give(ticket):
                    self._withdraw(ticket)
                    woken.append(ticket.wake)
                    given = True

        return woken

    def _give(self, ticket: Ticket, beside: int = 0) -> bool:
        if ticket.group is not None and ticket.group in self._groups:
            return False
        places = self.places if ticket.place else None
        if places is not None and self._taken + beside >= places:
            return False
        self._taken += ticket.place
        if ticket.group is not None:
            self._groups.add(ticket.group)
        ticket.given = True

        return True

    def _is_circular(self, ticket: Ticket) -> bool:
        """
        Whether who holds the group waits for what the callers of *ticket* hold.
        """
        seen: set[Hashable] = set()
        open_ends = [ticket.group]
        while open_ends:
            group = open_ends.pop()
            if group is None or group in seen:
                continue
            if group in ticket.holds:
                return True
            seen.add(group)
            open_ends += [t.group for t in self._nested if group in t.holds]

        return False

    def _will_wake(self, ticket: Ticket, wake: Callable[[], None]) -> bool:
        with self._lock:
            ticket.wake = wake

            return not ticket.given

    def _decided(self, ticket: Ticket) -> bool:
        with self._lock:
            if not ticket.given:
                self._withdraw(ticket)

            return ticket.given

    def _withdraw(self, ticket: Ticket) -> None:
        queue = self._waiting.get(ticket.wants)
        if queue is None or ticket not in queue:
            return
        queue.remove(ticket)
        if not queue:
            del self._waiting[ticket.wants]
        if ticket.holds:
            self._nested.remove(ticket)

    def forget_parent(self) -> None:
        """
        Start anew in a forked child.
        """
        self._lock = threading.Lock()
        self._taken = 0
        self._groups = set()
        self._waiting = {}
        self._nested = []


_LINES: weakref.WeakSet[Line] = weakref.WeakSet()


def _forget_parent() -> None:
    for line in list(_LINES):
        line.forget_parent()


os.register_at_fork(after_in_child=_forget_parent)
