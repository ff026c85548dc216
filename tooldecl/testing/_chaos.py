"""
What goes wrong in production, at given rates, and the same again for the same seed.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading

from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias, final

from .. import Status, ToolRequest, ToolResult
from ..exceptions import (
    CallError,
    EngineBusyError,
    ToolFailedError,
    WorkerDiedError,
)
from ._clock import FakeClock, check_clock
from ._given import check_seconds, check_share


What: TypeAlias = Literal["failure", "death", "busy"]


@final
class _Fault:
    """
    What is to go wrong around one call.
    """

    __slots__ = ("delay", "is_late", "what")

    def __init__(self, delay: float, what: What | None, *, is_late: bool) -> None:
        self.delay = delay
        self.what: What | None = what
        self.is_late = is_late


@final
class Chaos:
    """
    A filter that delays calls, fails them, and loses their results.

    What happens to a call depends on the seed, its tool, its arguments and how often it
    was made before, and not on which thread comes first: a run can be repeated. Every
    call still has one answer. What goes wrong is made up: no process dies for it. Half
    of the failures and deaths come after the body has run, as they do in production.

    Args:
        seed: Makes one run of it like another.
        failures: Share of the calls that fail with a transient error, from 0 to 1.
        deaths: Share of the calls whose worker is said to have died.
        busy: Share of the calls that find the engine full.
        delays: Share of the calls that wait before they begin, whatever else happens.
        longest: Seconds of the longest delay.
        clock: What the delays pass on; real time if None.

    Attributes:
        happened: What went wrong, by call id: ``"failure"``, ``"death"`` or ``"busy"``.

    Raises:
        TypeError: An option takes another kind of thing.
        ValueError: A share is outside of 0 to 1, or all are more than 1 together.
    """

    def __init__(
        self,
        seed: int,
        *,
        failures: float = 0.0,
        deaths: float = 0.0,
        busy: float = 0.0,
        delays: float = 0.0,
        longest: float = 0.05,
        clock: FakeClock | None = None,
    ) -> None:
        check_share("Chaos(failures=...)", failures)
        check_share("Chaos(deaths=...)", deaths)
        check_share("Chaos(busy=...)", busy)
        check_share("Chaos(delays=...)", delays)
        check_seconds("Chaos(longest=...)", longest)
        check_clock("Chaos", clock)
        if failures + deaths + busy > 1:
            raise ValueError(
                "Chaos(failures=..., deaths=..., busy=...) are shares of all calls: "
                "together they are at most 1."
            )
        self._seed = seed
        self._shares: tuple[tuple[What, float], ...] = (
            ("failure", failures),
            ("death", deaths),
            ("busy", busy),
        )
        self._delays = delays
        self._longest = longest
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: dict[str, int] = {}
        self.happened: dict[str, str] = {}

    def around(
        self, request: ToolRequest, call_next: Callable[[ToolRequest], ToolResult]
    ) -> ToolResult:
        """
        Disturb a call of sync code.
        """
        fault = self._fault(request)
        if fault.delay and self._clock is not None:
            self._clock.advance(fault.delay)
        elif fault.delay:
            threading.Event().wait(fault.delay)
        if fault.what is None:
            return call_next(request)
        if fault.is_late:
            call_next(request)

        return self._answer(request, fault.what)

    async def aaround(
        self,
        request: ToolRequest,
        call_next: Callable[[ToolRequest], Awaitable[ToolResult]],
    ) -> ToolResult:
        """
        Disturb a call of async code.
        """
        fault = self._fault(request)
        if fault.delay and self._clock is not None:
            self._clock.advance(fault.delay)
        elif fault.delay:
            await asyncio.sleep(fault.delay)
        if fault.what is None:
            return await call_next(request)
        if fault.is_late:
            await call_next(request)

        return self._answer(request, fault.what)

    def _fault(self, request: ToolRequest) -> _Fault:
        call = f"{request.name} {json.dumps(request.arguments, sort_keys=True)}"
        with self._lock:
            count = self._counts[call] = self._counts.get(call, 0) + 1
        wait, amount, at, half = _numbers(f"{self._seed} {count} {call}")
        delay = amount * self._longest if wait < self._delays else 0.0
        for what, share in self._shares:
            if at < share:
                return _Fault(delay, what, is_late=half < 0.5 and what != "busy")
            at -= share

        return _Fault(delay, None, is_late=False)

    def _answer(self, request: ToolRequest, what: What) -> ToolResult:
        self.happened[request.call_id] = what
        tool = request.name
        status = Status.TOOL_ERROR
        error: CallError = ToolFailedError(tool=tool, type_names=["ConnectionError"])
        if what == "death":
            status, error = Status.WORKER_DIED, WorkerDiedError(tool=tool, exit_code=-9)
        elif what == "busy":
            status = Status.BUSY
            error = EngineBusyError(tool=tool, reason="every place is taken")

        return ToolResult(
            call_id=request.call_id,
            name=tool,
            status=status,
            content=str(error),
            error=error,
            error_class="transient",  # as for calls to which it really happens
        )


def _numbers(text: str) -> list[float]:
    """
    Return four numbers from 0 to 1, the same for the same text under every Python.
    """
    digest = hashlib.sha256(text.encode()).digest()

    return [int.from_bytes(digest[n : n + 6]) / 2**48 for n in range(0, 24, 6)]
