"""
The attempts of one client's tools, each in a worker of its engine.
"""

from __future__ import annotations

import functools

from collections.abc import Mapping
from typing import final

from .._carriers import Carriers
from .._clock import monotonic
from .._context import facts_of
from .._isolation import Attempt, Job, Place, Ticket, arun_away, submit
from ._dialogue import (
    Answer,
    arguments_of,
    facts_for_body,
    left_of_batch,
    request_of,
    take_over,
)
from ._handle import Worker
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
        carriers: Its hooks that take something along.

    Attributes:
        leave: Ends its use of the pool.
        aleave: The same from async code, without holding the loop.
    """

    __slots__ = ("_carriers", "_stop_on", "aleave", "leave")

    def __init__(
        self,
        pool: Pool,
        cargo: Mapping[str, Cargo],
        place: Place,
        stop_on: tuple[type[BaseException], ...],
        carriers: Carriers,
    ) -> None:
        super().__init__(pool, cargo, place, carriers.found)
        self._carriers = carriers
        self._stop_on = stop_on
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

    def _request(self, number: int, worker: Worker, attempt: Attempt) -> bytes:
        facts = facts_for_body(attempt, self._carriers)

        return request_of(number, worker, attempt, facts, arguments_of(attempt))

    def _take(self, answer: Answer, attempt: Attempt) -> bool:
        return take_over(answer, attempt, self._stop_on, self.pool.memory_limit)


def _has_its_turn(attempt: Attempt, ticket: Ticket) -> bool:
    """
    Whether the body may begin, after its wait for a place.
    """
    if ticket.given and left_of_batch(attempt) != 0.0:
        return True
    attempt.ended_by = batch_over(attempt.context.tool)

    return False
