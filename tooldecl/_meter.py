"""
Count what was spent of a budget: by one client, one run of a loop, or one call.

`_charging` has the part of a single call.
The matching page is docs/how-to/set-a-budget.md.
"""

from __future__ import annotations

import itertools
import threading

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, final

from ._budget import Budget, checked_seconds, checked_tools, is_count
from ._clock import Clock
from ._forking import watch
from .exceptions import BudgetExceededError, BudgetLevel


__all__ = ["BudgetMeter"]

LimitName: TypeAlias = Literal["calls", "per_tool", "seconds", "repeats"]

_NAMES = ("calls", "per_tool", "seconds", "repeats")
_NUMBER = itertools.count()


@final
class BudgetMeter:
    """
    What was spent of a budget; reading is safe from any thread.

    Attributes:
        budget: The limits.
        level: Whose limits they are: ``"client"``, ``"loop"`` or ``"call"``.
        lock: Held by whoever charges.
        number: Locks of several meters are taken in this order.
    """

    __slots__ = (
        "__weakref__",
        "_calls",
        "_clock",
        "_per_tool",
        "_row",
        "_since",
        "_stopped_by",
        "budget",
        "level",
        "lock",
        "number",
    )

    def __init__(self, budget: Budget, level: BudgetLevel, clock: Clock) -> None:
        self.budget = budget
        self.level: BudgetLevel = level
        self.lock = threading.Lock()
        watch(self)
        self.number = next(_NUMBER)
        self._clock = clock
        self._calls = 0
        self._per_tool: dict[str, int] = {}
        self._since: float | None = None
        self._row: tuple[str, int] = ("", 0)
        self._stopped_by: LimitName | None = None

    def forget_parent(self) -> None:
        """
        Start anew in a forked child, where whoever held the lock is no more.
        """
        self.lock = threading.Lock()

    @property
    def calls(self) -> int:
        """
        How many calls were charged.
        """
        return self._calls

    @property
    def per_tool(self) -> dict[str, int]:
        """
        How many of each tool.
        """
        with self.lock:
            return {name: count for name, count in self._per_tool.items() if count}

    @property
    def elapsed(self) -> float:
        """
        The seconds since the first call.
        """
        return 0.0 if self._since is None else self._clock.monotonic() - self._since

    @property
    def stopped_by(self) -> LimitName | None:
        """
        The limit that stopped a call first; None while none has.

        Equal calls in a row stop whoever makes them as soon as there are so many.
        """
        if self._stopped_by is not None:
            return self._stopped_by

        return "repeats" if self.is_repeating else None

    @property
    def is_over(self) -> bool:
        """
        Whether the time is over.
        """
        until = self.until

        return until is not None and self._clock.monotonic() >= until

    @property
    def is_repeating(self) -> bool:
        """
        Whether as many equal calls stand in a row as may.
        """
        most, count = self.budget.repeats, self._row[1]

        return most is not None and 0 < count >= most

    def begin(self) -> None:
        """
        Start the time, where it does not run yet.
        """
        with self.lock:
            if self._since is None:
                self._since = self._clock.monotonic()

    @property
    def until(self) -> float | None:
        """
        When the time is over, on the client's clock; None where nobody knows yet.
        """
        most = self.budget.duration

        return None if most is None or self._since is None else self._since + most

    # -- with the lock held ------------------------------------------------------------

    def refusal(self, tool: str, *, charged: bool) -> BudgetExceededError | None:
        """
        Return why a body of *tool* may not begin, or None.

        Args:
            charged: It was charged before: only the time is still in question.
        """
        if self._since is None:
            self._since = self._clock.monotonic()
        budget, most = self.budget, self.budget.duration
        of_tool = None if budget.per_tool is None else budget.per_tool.get(tool)
        if not charged and budget.calls is not None and self._calls >= budget.calls:
            return self._stop(tool, "calls", budget.calls, self._calls)
        spent = self._per_tool.get(tool, 0)
        if not charged and of_tool is not None and spent >= of_tool:
            return self._stop(tool, "per_tool", of_tool, spent)
        if most is not None and self.elapsed >= most:
            return self._stop(tool, "seconds", most, self.elapsed)

        return None

    def repetition(self, tool: str, key: str) -> BudgetExceededError | None:
        """
        Return why a call may not follow its equals, or None.
        """
        most, (last, count) = self.budget.repeats, self._row
        equals = count if key == last else 0
        if most is None or equals < most:
            return None

        return self._stop(tool, "repeats", most, equals)

    def charge(self, tool: str) -> None:
        """
        Count a call.
        """
        self._calls += 1
        self._per_tool[tool] = self._per_tool.get(tool, 0) + 1

    def give_back(self, tool: str) -> None:
        """
        Uncount a call whose body never began.
        """
        self._calls -= 1
        self._per_tool[tool] -= 1

    def note(self, key: str) -> None:
        """
        Put a call at the end of the row.
        """
        last, count = self._row
        self._row = (key, count + 1 if key == last else 1)

    def forget(self, key: str) -> None:
        """
        Take a call out of the row, where it is still the row's.
        """
        last, count = self._row
        if key == last:
            self._row = (last, count - 1)

    def _stop(
        self, tool: str, name: LimitName, limit: float, spent: float
    ) -> BudgetExceededError:
        self._stopped_by = self._stopped_by or name

        return BudgetExceededError(
            tool=tool, limit_name=name, limit=limit, spent=spent, level=self.level
        )

    # -- across a suspension -----------------------------------------------------------

    def to_plain(self) -> dict[str, Any]:
        """
        Return what was spent as plain JSON data, without the limits.
        """
        with self.lock:
            return {
                "calls": self._calls,
                "per_tool": {n: count for n, count in self._per_tool.items() if count},
                "elapsed": None if self._since is None else self.elapsed,
                "row": [*self._row],
                "stopped_by": self._stopped_by,
            }

    @classmethod
    def from_plain(
        cls, plain: Mapping[str, Any], budget: Budget, level: BudgetLevel, clock: Clock
    ) -> BudgetMeter:
        """
        Go on counting from `to_plain`; the time in between does not count.

        Raises:
            ValueError: It is something else.
        """
        meter = cls(budget, level, clock)
        try:
            _check_plain(plain)
        except (KeyError, TypeError, ValueError):
            raise ValueError("This is not what a BudgetMeter had spent.") from None
        meter._calls = plain["calls"]
        meter._per_tool = dict(plain["per_tool"])
        if plain["elapsed"] is not None:
            meter._since = clock.monotonic() - plain["elapsed"]
        key, count = plain["row"]
        meter._row = (key, count)
        meter._stopped_by = plain["stopped_by"]

        return meter


def _check_plain(plain: Mapping[str, Any]) -> None:
    """
    Refuse what `BudgetMeter.to_plain` does not give.
    """
    key, count = plain["row"]
    elapsed, stopped_by = plain["elapsed"], plain["stopped_by"]
    if not isinstance(key, str) or not all(map(is_count, (plain["calls"], count))):
        raise ValueError
    checked_tools(plain["per_tool"])
    if elapsed is not None:
        checked_seconds(elapsed)
    if stopped_by is not None and stopped_by not in _NAMES:
        raise ValueError
