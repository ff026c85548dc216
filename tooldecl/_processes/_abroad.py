"""
The near side of a foreign executor: attempts sent away, and what came of them.

Invariants:

1. The clock is the far side's, and starts with the body. This side only bounds how long
   an answer may take, where it knows until when the body must have begun.
2. What is lost may have run: it is never called an error of the tool, and it is repeated
   for an idempotent tool only.
3. The ``cancel()`` of a future is believed of the standard library alone. Elsewhere a
   call that was given up counts as running until its future is done.
"""

from __future__ import annotations

import functools

from collections.abc import Mapping
from typing import final

from .._carriers import Carriers
from .._isolation import Attempt, Job, Place, arun_job, run_job
from ._dialogue import left_of_batch
from ._loading import Cargo
from ._outcome import batch_over
from ._sent import Sent
from ._transport import NotTakenError, Transport


@final
class AbroadRun:
    """
    Runs attempts of one client's tools where a transport brings them.

    Args:
        transport: Takes them; it is not closed here.
        cargo: The tools, by name.
        place: Whose bodies they are.
        stop_on: The client's stop signals.
        carriers: Its hooks that take something along.
        expires: Seconds within which it has to begin an attempt, or None.

    Attributes:
        leave: Says that nothing more will be sent; leads to no hook of the client.
        aleave: The same from async code, without holding the loop.
    """

    __slots__ = (
        "_place",
        "aleave",
        "cargo",
        "carriers",
        "expires",
        "leave",
        "stop_on",
        "transport",
    )

    def __init__(
        self,
        transport: Transport,
        cargo: Mapping[str, Cargo],
        place: Place,
        stop_on: tuple[type[BaseException], ...],
        carriers: Carriers,
        *,
        expires: float | None,
    ) -> None:
        self.transport = transport
        self.cargo = cargo
        self.stop_on = stop_on
        self.carriers = carriers
        self.expires = expires
        self._place = place
        transport.join(place.owner)
        self.leave = functools.partial(transport.leave, place.owner)
        self.aleave = functools.partial(transport.aleave, place.owner)

    def invoke(self, attempt: Attempt) -> None:
        """
        Run an attempt from sync code.
        """
        left = left_of_batch(attempt)
        if left == 0.0:
            attempt.ended_by = batch_over(attempt.context.tool)
            return
        sent = Sent(self, attempt)
        try:
            self.transport.prepare(left)
            run_job(self._job(sent), sent.send)
        except NotTakenError as error:
            attempt.refused = str(error)
        finally:
            sent.conclude()

    async def ainvoke(self, attempt: Attempt) -> None:
        """
        Run an attempt from async code.
        """
        left = left_of_batch(attempt)
        if left == 0.0:
            attempt.ended_by = batch_over(attempt.context.tool)
            return
        sent = Sent(self, attempt)
        try:
            await self.transport.aprepare(left)
            await arun_job(self._job(sent), sent.send)
        except NotTakenError as error:
            attempt.refused = str(error)
        finally:
            sent.conclude()

    def _job(self, sent: Sent) -> Job:
        return Job(sent.outer, self._place, ends_within=self.transport.end_seconds)
