"""
The attempts of one client's tools, each in a worker of its engine.
"""

from __future__ import annotations

import functools

from collections.abc import Mapping
from typing import final

from .._clock import monotonic
from .._context import facts_of
from .._isolation import Attempt, Job, Place, Ticket, arun_away, submit
from ._dialogue import left_of_batch
from ._inworker import WorkerRun
from ._loading import Cargo
from ._outcome import batch_over
from ._pool import Pool


@final
class RemoteRun(WorkerRun):
    """
    Runs attempts of one client's tools, each once there is a worker to be had.

    Args:
        pool: The workers.
        cargo: The tools, by name.
        place: Whose bodies they are; its owner uses the pool from now on.
        stop_on: The client's stop signals.

    Attributes:
        leave: Ends its use of the pool.
        aleave: The same from async code, without holding the loop.
    """

    __slots__ = ("aleave", "leave")

    def __init__(
        self,
        pool: Pool,
        cargo: Mapping[str, Cargo],
        place: Place,
        stop_on: tuple[type[BaseException], ...],
    ) -> None:
        super().__init__(pool, cargo, place, stop_on)
        pool.join(place.owner, cargo.values())
        # Neither leads to the place, which leads to hooks, and they may to the client.
        self.leave = functools.partial(pool.leave, place.owner)
        self.aleave = functools.partial(pool.aleave, place.owner)

    def invoke(self, attempt: Attempt) -> None:
        """
        Run an attempt from sync code, once there is a worker to be had.
        """
        places, ticket = self.pool.places, Ticket()
        try:
            if not places.stand(ticket):
                began = monotonic()
                places.enter(ticket, left_of_batch(attempt), attempt.signal)
                facts_of(attempt.context).waited += monotonic() - began
            if _has_its_turn(attempt, ticket):
                self.run(attempt)
        finally:
            places.leave(ticket)

    async def ainvoke(self, attempt: Attempt) -> None:
        """
        Run an attempt from async code; a thread of ours waits for the worker.
        """
        failures: list[BaseException] = []

        def run(attempt: Attempt) -> None:
            try:
                self.run(attempt)
            except BaseException as error:  # or its caller would wait for ever
                failures.append(error)

        places, ticket = self.pool.places, Ticket()
        try:
            if not places.stand(ticket):
                began = monotonic()
                await places.aenter(ticket, left_of_batch(attempt))
                facts_of(attempt.context).waited += monotonic() - began
            if _has_its_turn(attempt, ticket):
                await arun_away(Job(attempt, self._place, run=run), submit)
                for failure in failures:
                    raise failure
        finally:
            places.leave(ticket)


def _has_its_turn(attempt: Attempt, ticket: Ticket) -> bool:
    """
    Whether the body may begin, after its wait for a place.
    """
    if ticket.given and left_of_batch(attempt) != 0.0:
        return True
    attempt.ended_by = batch_over(attempt.context.tool)

    return False
