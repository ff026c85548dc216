"""
What one call costs its budgets: all of them are charged together, or none.

Invariants:

1. A body begins only after its call was charged, and a call is charged once.
2. Looking and charging are one step, under the locks of all meters: of calls that come
   at once, never one too many is let through.
3. A call whose body never began is given back, however it ends.
4. A row of equal calls is made in the order in which calls are looked at: that in which
   they were asked for.
"""

from __future__ import annotations

import hashlib
import json

from collections.abc import Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, final

from ._budget import Budget
from ._calls import Arguments
from ._clock import Clock
from ._meter import BudgetMeter
from ._policy import shown
from ._wording import LEVEL_TEXTS
from .exceptions import (
    BudgetLevel,
    CallError,
    DeclarationError,
    InvalidArgumentsError,
    MalformedJSONError,
    NotRunError,
    UnknownToolError,
)


# What will be refused again, however often it is sent.
_FUTILE = (InvalidArgumentsError, MalformedJSONError, UnknownToolError)

_MAPPING: Any = Mapping


def meter_of(
    budget: Budget | None, level: BudgetLevel, clock: Clock
) -> BudgetMeter | None:
    """
    Return a new meter for *budget*, or None where there is none.
    """
    return None if budget is None else BudgetMeter(budget, level, clock)


def check_budget(budget: object, names: Iterable[str], where: str) -> None:
    """
    Refuse what limits nothing.

    Raises:
        DeclarationError: It is no Budget, or limits a tool that is not among *names*.
    """
    if budget is None:
        return
    if not isinstance(budget, Budget):
        raise DeclarationError(f"{where} takes a Budget, got {shown(budget)}.")
    unknown = sorted(set(budget.per_tool or ()) - set(names))
    if unknown:
        named = ", ".join(map(repr, unknown))
        raise DeclarationError(
            f"{where} limits {named} in per_tool, and the client has no tool of that name."
        )


@contextmanager
def _locked(meters: Iterable[BudgetMeter]) -> Generator[None, None, None]:
    with ExitStack() as stack:
        for meter in meters:
            stack.enter_context(meter.lock)
        yield


@final
class Charge:
    """
    The part of one call in its budgets.

    Args:
        meters: What it is charged to.
        place: How many calls of its batch came before it.
    """

    __slots__ = ("_began", "_key", "_meters", "_place", "_taken", "_tool")

    def __init__(self, meters: Iterable[BudgetMeter], place: int = 0) -> None:
        self._meters = sorted(meters, key=lambda meter: meter.number)
        self._place = place
        self._tool = ""
        self._key: str | None = None  # while it stands in the rows
        self._taken = False
        self._began = False

    def look(self, tool: str, arguments: Mapping[str, Any], *, take: bool) -> None:
        """
        See whether there is something left for the call, and perhaps take it.

        Raises:
            NotRunError: It is beyond what one turn may call.
            BudgetExceededError: Nothing is left.
        """
        self._check_turn(tool)
        key = self._key_of(tool, arguments)
        with _locked(self._meters):
            for meter in self._meters:
                error = meter.refusal(tool, charged=False)
                error = error or meter.repetition(tool, key)
                if error is not None:
                    raise error
            for meter in self._meters:
                meter.note(key)
                if take:
                    meter.charge(tool)
            self._tool, self._key, self._taken = tool, key, take

    def begin(self) -> None:
        """
        Take what the body costs, where it was not taken before: it is about to begin.

        Raises:
            BudgetExceededError: Nothing is left, or the time is over.
        """
        if self._began:  # a filter runs the body again
            return
        with _locked(self._meters):
            for meter in self._meters:
                error = meter.refusal(self._tool, charged=self._taken)
                if error is not None:
                    raise error
            if not self._taken:
                for meter in self._meters:
                    meter.charge(self._tool)
            self._taken = self._began = True

    def settle(self, *, ran: bool) -> None:
        """
        Give everything back where no body has begun; the call has its answer.
        """
        if ran or self._key is None:
            return
        with _locked(self._meters):
            for meter in self._meters:
                meter.forget(self._key)
                if self._taken:
                    meter.give_back(self._tool)
            self._key, self._taken = None, False

    def refused(self, name: str, given: Arguments, error: CallError) -> None:
        """
        Put a call that the gate refused into the row: sent again, it is refused again.
        """
        if not name or not isinstance(error, _FUTILE):
            return
        key = self._key_of(name, given)
        with _locked(self._meters):
            for meter in self._meters:
                meter.note(key)

    def until(self) -> float | None:
        """
        Return when the first of the budgets is over, on the client's clock, or None.
        """
        ends = [end for meter in self._meters if (end := meter.until) is not None]

        return min(ends, default=None)

    def _check_turn(self, tool: str) -> None:
        for meter in self._meters:
            most = meter.budget.per_turn
            if most is not None and self._place >= most:
                calls = "1 call" if most == 1 else f"{most} calls"
                whose = LEVEL_TEXTS[meter.level]
                reason = f"it is beyond the {calls} that {whose} allows in one turn"
                raise NotRunError(tool=tool, reason=reason)

    def _key_of(self, tool: str, arguments: Arguments) -> str:
        """
        Return what equal calls have in common; nothing where nobody asks for it.
        """
        if all(meter.budget.repeats is None for meter in self._meters):
            return ""
        try:
            plain = arguments
            if isinstance(plain, (str, bytes)):
                plain = json.loads(plain or "{}")
            text = json.dumps([tool, plain or {}], sort_keys=True, default=_plain)
        except (TypeError, ValueError, RecursionError):
            text = repr([tool, type(arguments).__name__])
            if isinstance(arguments, (str, bytes)):
                text += repr(arguments)

        return hashlib.sha256(text.encode()).hexdigest()[:32]


def _plain(value: Any) -> Any:
    if isinstance(value, _MAPPING):
        return dict(value)

    raise TypeError
