"""
One attempt of one call: what to run, its limits, and what came of it.
"""

from __future__ import annotations

import asyncio

from collections.abc import Callable
from contextvars import Context
from typing import Any, Literal

from .._calls import Fate
from .._clock import monotonic
from .._context import ToolContext
from .._meta import Isolation
from ..exceptions import CallError
from ._signals import StopSignal


TimeoutSource = Literal["declared", "engine", "batch"]


class Attempt:
    """
    One run of a body: what to run, its limits, and what came of it.
    """

    # Defaults of the class: an attempt sets what is its own, and most of it never is.
    is_async = False  # the call gives something to be awaited
    where: Isolation | None = None
    aside = False  # no body: nobody is told when it ends late
    timeout: float | None = None
    source: TimeoutSource | None = None
    deadline: float | None = None
    limit: int | None = None
    refused: str | None = None
    revoked = False  # its client was closed under it
    apart = False  # as a task it is one of its own, also without a timeout
    signal: StopSignal | None = None  # set when its batch is over
    batch_until: float | None = None  # when its batch's time is over
    # By its client's clock, where somebody listens to what happens.
    began: float | None = None
    ended: float | None = None
    started = False
    stop = False
    cancelled_at: float | None = None
    finished: float | None = None
    timed_out = False
    value: Any = None
    error: BaseException | None = None
    # Of a body in another process: its text or why it has none, what ended it other than
    # itself, and how to end it.
    encoded: str | CallError | None = None
    ended_by: CallError | None = None
    kill: Callable[[], None] | None = None
    fate = Fate.NOT_STARTED

    def __init__(
        self,
        call: Callable[[dict[str, Any], ToolContext], object],
        values: dict[str, Any],
        context: ToolContext,
        variables: Context,
    ) -> None:
        self.call = call
        self.values = values
        self.context = context
        self.variables = variables

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

    @property
    def went_well(self) -> bool:
        """
        Whether the body returned, in time.
        """
        return self.error is None and not (
            self.timed_out or self.refused or self.ended_by
        )

    @property
    def in_time(self) -> bool:
        """
        Whether the body ended, and not after its deadline.
        """
        if self.finished is None or self.deadline is None:
            return self.finished is not None

        return self.finished <= self.deadline
