"""
An engine that runs a batch as a test says.
"""

from __future__ import annotations

import reprlib

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Literal, Protocol, TypeAlias, final

from .. import ToolResult
from ..engines import Engine
from ._clock import FakeClock, check_clock
from ._given import check_count, check_seconds, positions_in


Order: TypeAlias = Literal["given", "reversed"] | Sequence[int]


class _Call(Protocol):
    @property
    def call_id(self) -> str: ...


@final
class FakeEngine(Engine):
    """
    Runs the calls of a batch one after another, in any order, and loses some if told to.

    The positions are those in the batch, from 0; where a tool runs alone (``serial``) the
    client hands over one part of its batch after the other, and they count in each. One
    that is not there fails the batch.

    Args:
        order: ``"given"``, ``"reversed"``, or positions; those not named come last.
        lost: Positions that are never run: such a call is ``not_run``.
        delays: Seconds that pass on *clock* before the call at a position is run.
        clock: The clock of the client as well.
        fails_after: How many calls are run before the engine itself fails, or None.
        timeout: Seconds for tools that declare no timeout, or None.

    Attributes:
        ran: Ids of the calls that were run, in that order.

    Raises:
        TypeError: An option takes another kind of thing.
        ValueError: An option would be ignored.
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
        self._delays = _checked_delays(delays)
        if self._delays and clock is None:
            raise ValueError(
                "FakeEngine(delays=...) needs the clock that they pass on."
            )
        check_clock("FakeEngine", clock)
        if fails_after is not None:
            check_count("FakeEngine(fails_after=...)", fails_after)
        self._order = _checked_order(order)
        self._lost = positions_in("FakeEngine(lost=...)", lost)
        self._clock = clock
        self._fails_after = fails_after
        self.ran: list[str] = []

    def run_batch(
        self, calls: Sequence[_Call], run: Callable[..., ToolResult]
    ) -> list[ToolResult]:
        """
        Run the calls as told; return the results of those that were run.

        Raises:
            AssertionError: A position was named that the batch does not have.
            RuntimeError: The engine fails after so many calls.
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
        self._check_places(count)
        places = list(range(count))
        if self._order == "reversed":
            places.reverse()
        elif not isinstance(self._order, str):
            rest = [place for place in places if place not in self._order]
            places = [*self._order, *rest]

        return [place for place in places if place not in self._lost]

    def _check_places(self, count: int) -> None:
        order = () if isinstance(self._order, str) else self._order
        named = {"order": order, "lost": self._lost, "delays": tuple(self._delays)}
        for option, places in named.items():
            for place in places:
                if place >= count:
                    raise AssertionError(
                        f"FakeEngine({option}=...) names position {place}, and the "
                        f"engine was given {count} calls, counted from 0."
                    )

    def _begin(self, place: int, call: _Call) -> None:
        if self._fails_after is not None and len(self.ran) >= self._fails_after:
            raise RuntimeError(f"This engine fails after {self._fails_after} calls.")
        if self._clock is not None and place in self._delays:
            self._clock.advance(self._delays[place])
        self.ran.append(call.call_id)


def _checked_order(given: Order) -> Literal["given", "reversed"] | tuple[int, ...]:
    order: object = given
    if isinstance(given, str):
        if order not in ("given", "reversed"):
            raise ValueError(
                "FakeEngine(order=...) takes 'given', 'reversed' or positions, "
                f"got {order!r}."
            )
        return given

    return positions_in("FakeEngine(order=...)", given)


def _checked_delays(given: Mapping[int, float] | None) -> dict[int, float]:
    delays: object = given
    if delays is not None and not isinstance(delays, Mapping):
        raise TypeError(
            "FakeEngine(delays=...) takes seconds by position, "
            f"got {reprlib.repr(delays)}."
        )
    checked = dict(given or {})
    positions_in("FakeEngine(delays=...)", checked)
    for place, seconds in checked.items():
        check_seconds(f"FakeEngine(delays={{{place}: ...}})", seconds)

    return checked
