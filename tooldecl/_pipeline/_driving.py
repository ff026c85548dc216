"""
Do what a call's flow has to wait for: what both colours have in common.

Invariants:

1. A filter object of one colour serves both: where the colour of the call has no form of
   it, the other form runs on a thread, or on the client's own loop.
2. A nested flow runs in the context variables of the filter around it.
3. Nothing inside of a filter begins once the filter has ended, been cancelled or run out
   of its batch's time; what runs there then is stopped, and waited for until its fate is
   known.
4. A filter that cancels what is inside of it stops that alone: neither its own call nor
   any other one.
"""

from __future__ import annotations

import contextvars

from collections.abc import Callable, Generator
from typing import Any, Self, TypeAlias

from .._context import ToolContext, stand_around
from .._isolation import GRACE, Attempt, Stopped, StopSignal
from .._runtime import Incoming, Runtime
from ..filters._surround import Surround
from ._admission import Admission
from ._attempts import Step as CallStep


Step: TypeAlias = CallStep | Admission
Flow: TypeAlias = Generator[Step, None, Any]

# What is inside of a filter ends by itself at the end of its batch's time: the filter is
# given this much longer, to make something of that.
MARGIN = 2 * GRACE
# A body that was told to stop has its fate long before so many seconds have passed.
BACK_SECONDS = 2.0


class Driving:
    """
    Runs the steps of one call.

    Args:
        variables: What the steps of the flow run in; None where nothing is needed.
        signal: Set when nobody waits for the call any more.
        apart: It runs on a thread or in a task of a filter's, which may be left alone.
        within: The filters around it.
    """

    __slots__ = ("_apart", "_incoming", "_runtime", "_signal", "_variables", "_within")

    def __init__(
        self,
        runtime: Runtime,
        incoming: Incoming,
        variables: contextvars.Context | None,
        *,
        signal: StopSignal | None = None,
        apart: bool = False,
        within: tuple[Surround, ...] = (),
    ) -> None:
        self._runtime = runtime
        self._incoming = incoming
        self._variables = variables
        self._signal = signal
        self._apart = apart
        self._within = within

    def _inside(
        self, step: Surround, *, signal: StopSignal | None = None, apart: bool = False
    ) -> Self:
        """
        Return what runs the steps inside of a filter.
        """
        return type(self)(
            self._runtime,
            self._incoming,
            None,
            signal=signal or self._signal,
            apart=apart or self._apart,
            within=(*self._within, step),
        )

    def _attempt(self, call: Callable[[], object], *, is_async: bool) -> Attempt:
        """
        Make a run of a filter that has a thread or a task of its own.
        """
        outer = self._variables
        variables = contextvars.copy_context() if outer is None else outer.copy()
        variables.run(stand_around, self._incoming)
        attempt = Attempt(
            lambda _values, _context: call(),
            {},
            ToolContext(self._incoming, attempt=0),
            variables,
        )
        attempt.is_async, attempt.aside = is_async, True
        attempt.signal = self._signal
        deadline = self._incoming.deadline
        if deadline is not None:
            left = deadline - self._runtime.clock.monotonic()
            attempt.keep_to_batch(max(0.0, left) + MARGIN)

        return attempt

    def _fit(self, attempt: Attempt) -> None:
        """
        Let an attempt be stopped together with what it is inside of.
        """
        if self._within:
            attempt.signal = self._signal
            attempt.apart |= self._apart

    @property
    def _is_stopped(self) -> bool:
        return self._signal is not None and self._signal.is_set

    def _check_stop(self) -> None:
        """
        Let no body begin any more once its batch is over, or a filter around it is.

        Raises:
            Stopped: It is.
        """
        within = self._within
        if self._is_stopped or (within and any(step.is_over for step in within)):
            raise Stopped


def take_outcome(step: Surround, attempt: Attempt) -> None:
    """
    Take over what came of a filter that ran somewhere else.
    """
    if attempt.timed_out or attempt.revoked or attempt.refused is not None:
        step.stopped = attempt
    step.value, step.error = attempt.value, attempt.error


def note_haste(step: Surround) -> None:
    """
    Count it as a failure of a filter that it did not wait for what is inside of it.
    """
    if step.error is None:
        step.error = RuntimeError("The filter returned before its call_next did.")
