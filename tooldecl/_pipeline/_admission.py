"""
Whether the engine has room for a call, and its serial group too; in both colours.

Comes after the gate and before the filters. The matching page is
docs/how-to/run-a-batch.md.
"""

from __future__ import annotations

from typing import final

from .._context import held_here
from .._isolation import Ticket
from .._meta import ToolMeta
from .._runtime import Incoming, Runtime
from ..exceptions import CallError, EngineBusyError, NotRunError


def group_of(runtime: Runtime, meta: ToolMeta | None) -> tuple[object, str] | None:
    """
    Return what the calls of a tool's serial group have in common, or None.
    """
    if meta is None or not isinstance(meta.serial, str):
        return None

    return runtime.groups, meta.serial


@final
class Admission:
    """
    One call's way to its place.

    Attributes:
        refusal: Why it gets none, or None.
    """

    __slots__ = (
        "_group",
        "_incoming",
        "_meta",
        "_runtime",
        "_tickets",
        "refusal",
    )

    def __init__(self, runtime: Runtime, incoming: Incoming, meta: ToolMeta) -> None:
        self._runtime = runtime
        self._incoming = incoming
        self._meta = meta
        self._group = incoming.group = group_of(runtime, meta)
        self._tickets: list[Ticket] = []
        self.refusal: CallError | None = None

    def wait(self) -> None:
        """
        Wait on this thread until the call is admitted or refused.
        """
        line, signal = self._runtime.line, self._incoming.signal
        began = self._runtime.clock.monotonic()
        ticket = self._stand()
        if ticket is not None:
            given = ticket.given or line.enter(ticket, self._time_left(), signal)
            self._decide(given)
        self._incoming.waited += self._runtime.clock.monotonic() - began

    async def await_(self) -> None:
        """
        Wait on the running loop; as `wait`.
        """
        line = self._runtime.line
        began = self._runtime.clock.monotonic()
        ticket = self._stand()
        if ticket is not None:
            self._decide(ticket.given or await line.aenter(ticket, self._time_left()))
        self._incoming.waited += self._runtime.clock.monotonic() - began

    def leave(self) -> None:
        """
        Give back whatever the call holds.
        """
        self._incoming.holds = ()
        for ticket in self._tickets:
            self._runtime.line.leave(ticket)

    def _stand(self) -> Ticket | None:
        """
        Take what is free or stand in line; None where there is nothing to wait for.
        """
        held, ticket = held_here(), None
        try:
            ticket = self._ticket(held)
        except CallError as error:
            self.refusal = error
        else:
            mine: list[object] = [] if self._group is None else [self._group]
            if self._runtime.max_concurrency is not None:
                mine.append(self._runtime.line)
            self._incoming.holds = (*held, *mine)
        if self._incoming.on_standing is not None:
            self._incoming.on_standing()

        return ticket

    def _ticket(self, held: tuple[object, ...]) -> Ticket | None:
        runtime, group = self._runtime, self._group
        if group is not None:
            if group in held:
                self._refuse(f"a call of {self._its_group} made it and has not ended")
            self._check_abandoned()
        # Who calls from inside of a call has its place: waiting for another one could
        # be waiting for oneself.
        place = runtime.max_concurrency is not None and runtime.line not in held
        if place and runtime.refuses:
            self._take_place(held)
            place = False
        if not place and group is None:
            return None
        ticket = self._new_ticket(Ticket(place=place, group=group, holds=held))
        runtime.line.stand(ticket)
        if ticket.circular:
            self._refuse(f"the call that has {self._its_group} waits for it")

        return ticket

    def _new_ticket(self, ticket: Ticket) -> Ticket:
        self._tickets.append(ticket)  # before it has anything that could be lost

        return ticket

    def _decide(self, given: bool) -> None:
        try:
            if not given:
                reason = "the batch's time was over before its turn came"
                raise NotRunError(tool=self._meta.name, reason=reason)
            if self._group is not None:  # whom it waited for may have been given up
                self._check_abandoned()
        except CallError as error:
            self.refusal = error

    def _time_left(self) -> float | None:
        deadline = self._incoming.deadline
        if deadline is None:
            return None

        return max(0.0, deadline - self._runtime.clock.monotonic())

    def _check_abandoned(self) -> None:
        for context in self._runtime.ledger.contexts():
            call = context._call
            if isinstance(call, Incoming) and call.group == self._group:
                self._refuse(
                    f"an earlier call of {self._its_group} was given up and may still "
                    "be running"
                )

    def _take_place(self, held: tuple[object, ...]) -> None:
        """
        Take a place now; what was given up and still runs has one too.
        """
        line, ledger = self._runtime.line, self._runtime.ledger
        ticket = self._new_ticket(Ticket(holds=held))
        left_behind = len(ledger)
        if line.try_take(ticket, left_behind):
            # Given up just now: it was entered there before it left its place.
            if line.taken + len(ledger) <= (line.places or 0):
                return
            line.leave(ticket)
        self._refuse(f"all {line.places} places of the engine are taken")

    @property
    def _its_group(self) -> str:
        return f"the serial group {self._meta.serial!r}"

    def _refuse(self, reason: str) -> None:
        raise EngineBusyError(tool=self._meta.name, reason=reason)
