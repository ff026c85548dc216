"""
An engine that runs a batch as a test says.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Literal, Protocol, TypeAlias, final

from .. import ToolResult
from ..engines import Engine
from ._clock import FakeClock


Order: TypeAlias = Literal["given", "reversed"] | Sequence[int]


class _Call(Protocol):
    @property
    def call_id(self) -> str: ...


@final
class FakeEngine(Engine):
    """
    Runs the calls of a batch one after another, in any order, and loses some if told to.

    The positions are those in the batch, from 0; where a tool runs alone (``serial``) the
    client hands over one part of its batch after the other, and they count in each.

    Args:
        order: ``"given"``, ``"reversed"``, or positions; those not named come last.
        lost: Positions that are never run: such a call is ``not_run``.
        delays: Seconds that pass on *clock* before the call at a position is run.
        clock: The clock of the client as well.
        fails_after: How many calls are run before the engine itself fails, or None.
        timeout: Seconds for tools that declare no timeout, or None.

    Attributes:
        ran: Ids of the calls that were run, in that order.
    """

    def __init__(
        self,
        *,
        order: Order = "given",
        lost: Iterable[int] = (),
        delays: Mapping[int, float] | None = None,
        clock: FakeClock | None = None,
        fails_after: int | None = None,
        timeout: float | None = None,
    ) -> None:
        super().__init__(timeout=timeout)
        self._delays = dict(delays or {})
        if self._delays and clock is None:
            raise ValueError(
                "FakeEngine(delays=...) needs the clock that they pass on."
            )
        self._order = order if isinstance(order, str) else tuple(order)
        self._lost = frozenset(lost)
        self._clock = clock
        self._fails_after = fails_after
        self.ran: list[str] = []

    def run_batch(
        self, calls: Sequence[_Call], run: Callable[..., ToolResult]
    ) -> list[ToolResult]:
        """
        Run the calls as told; return the results of those that were run.
        """
        results: list[ToolResult] = []
        for place in self._places(len(calls)):
            self._begin(place, calls[place])
            results.append(run(calls[place]))

        return results

    async def arun_batch(
        self, calls: Sequence[_Call], run: Callable[..., Awaitable[ToolResult]]
    ) -> list[ToolResult]:
        """
        Run the calls as told; as `run_batch`.
        """
        results: list[ToolResult] = []
        for place in self._places(len(calls)):
            self._begin(place, calls[place])
            results.append(await run(calls[place]))

        return results

    def _places(self, count: int) -> list[int]:
        places = list(range(count))
        if self._order == "reversed":
            places.reverse()
        elif not isinstance(self._order, str):
            first = [place for place in self._order if place in places]
            places = [*first, *(place for place in places if place not in first)]

        return [place for place in places if place not in self._lost]

    def _begin(self, place: int, call: _Call) -> None:
        if self._fails_after is not None and len(self.ran) >= self._fails_after:
            raise RuntimeError(f"This engine fails after {self._fails_after} calls.")
        if self._clock is not None and place in self._delays:
            self._clock.advance(self._delays[place])
        self.ran.append(call.call_id)
