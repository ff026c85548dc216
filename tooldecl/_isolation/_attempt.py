"""
One attempt of one call: what to run, its limits, and what came of it.
"""

from __future__ import annotations

import asyncio

from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass
from typing import Any, Literal, final

from .._calls import Fate
from .._clock import monotonic
from .._context import ToolContext
from .._meta import Isolation
from ..exceptions import CallError
from ._signals import StopSignal


TimeoutSource = Literal["declared", "engine", "batch"]
SOURCES: tuple[TimeoutSource, ...] = ("declared", "engine", "batch")


@final
@dataclass(slots=True, eq=False, repr=False)
class Attempt:
    """
    One run of a body: what to run, its limits, and what came of it.

    Attributes:
        call: Runs the body with *values*, and *context* where it asks for it.
        values: What it is called with, by parameter.
        context: What it may know of its call.
        variables: Its copy of the caller's context variables.
        is_async: The call gives something to be awaited.
        where: Where it was declared to run, or None.
        timeout: Seconds that it may take, or None.
        source: Whose limit that is.
        aside: It is no body: nobody is told when it ends late.
        apart: As a task it is one of its own, also without a timeout.
        signal: Set when its batch is over.
        batch_until: When its batch's time is over.
        limit: Characters that a generator may make before it is ended.
        deadline: When its time is over.
        began: When it did, by its client's clock and less what its call had waited till then,
            where somebody listens.
        ended: When it did, likewise.
        started: It has begun.
        stop: It was told to end.
        cancelled_at: When it was sent a cancellation.
        finished: When it ended.
        timed_out: It did not end in time.
        refused: Why nothing could be found to run it on.
        revoked: Its client was closed under it.
        value: What it returned.
        error: What it raised.
        encoded: Of a body in another process: its text, or why it has none.
        ended_by: Of one there: what ended it, other than itself.
        kill: How to end one there.
        fate: What became of it.
    """

    call: Callable[[dict[str, Any], ToolContext], object]
    values: dict[str, Any]
    context: ToolContext
    variables: Context
    is_async: bool = False
    where: Isolation | None = None
    timeout: float | None = None
    source: TimeoutSource | None = None
    aside: bool = False
    apart: bool = False
    signal: StopSignal | None = None
    batch_until: float | None = None
    limit: int | None = None
    deadline: float | None = None
    began: float | None = None
    ended: float | None = None
    started: bool = False
    stop: bool = False
    cancelled_at: float | None = None
    finished: float | None = None
    timed_out: bool = False
    refused: str | None = None
    revoked: bool = False
    value: Any = None
    error: BaseException | None = None
    encoded: str | CallError | None = None
    ended_by: CallError | None = None
    kill: Callable[[], None] | None = None
    fate: Fate = Fate.NOT_STARTED

    def begin_clock(self) -> None:
        """
        Start the attempt's clock, if it has one.
        """
        if self.timeout is not None and self.deadline is None:
            self.deadline = self.context.deadline = monotonic() + self.timeout

    def keep_to_batch(self, left: float) -> None:
        """
        Cut the timeout to the *left* seconds of the batch's time.
        """
        if self.timeout is None or left < self.timeout:
            self.timeout, self.source = left, "batch"

    def remaining(self) -> float | None:
        """
        Return the seconds until the deadline, at least 0, or None without one.
        """
        return None if self.deadline is None else max(0.0, self.deadline - monotonic())

    def await_value(self) -> None:
        """
        Make what a sync body returned the body of what is left to run.
        """
        value, self.value = self.value, None
        self.finished = None

        def call(_values: dict[str, Any], _context: ToolContext) -> object:
            return value

        self.call = call

    def close(self) -> None:
        """
        Close the outcome, also of a body that was ended before it could run.
        """
        if self.finished is None:
            self.error = self.error or asyncio.CancelledError()
            self.finished = monotonic()

    def refuse(self, error: Exception, what: str = "thread") -> None:
        """
        Say that nothing could be found to run the body on, or what is left of it.
        """
        self.timed_out = False
        if self.started:
            self.error, self.fate = error, Fate.COMPLETED
        else:
            self.refused = f"the system gives no {what} for it ({error})"

    def revoke(self) -> None:
        """
        Say that the client was closed before the body could be run on its loop.
        """
        self.error, self.revoked, self.timed_out = asyncio.CancelledError(), True, False

    def went_well(self) -> bool:
        """
        Whether the body returned, in time.
        """
        return self.error is None and not (
            self.timed_out or self.refused or self.ended_by
        )

    def in_time(self) -> bool:
        """
        Whether the body ended, and not after its deadline.
        """
        if self.finished is None or self.deadline is None:
            return self.finished is not None

        return self.finished <= self.deadline
