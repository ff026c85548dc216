"""
Limits over many calls, as they are declared; `_meter` counts what was spent of them.

The matching page is docs/how-to/set-a-budget.md.
"""

from __future__ import annotations

import math

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, final

from ._policy import is_number, shown
from ._readonly import ReadOnlyDict
from ._records import record
from .exceptions import DeclarationError


__all__ = ["Budget"]

_COUNT = "a whole number from 0, or None"

# Typed so that checkers do not narrow to containers of unknown things.
_MAPPING: Any = Mapping


@final
@record(frozen=True, slots=True, kw_only=True)
class Budget:
    """
    How much may be run; what is None is not limited.

    Only calls whose body has run are counted: what was refused costs nothing, and
    neither do further attempts.

    Attributes:
        calls: Calls in total.
        per_tool: Calls of single tools, by name.
        per_turn: Calls of one batch; a single call is a batch of one. Those beyond are
            answered ``not_run``.
        seconds: From the first call on. No body begins after that, and none is cut.
        repeats: Equal calls in a row: the same tool and arguments.

    Raises:
        DeclarationError: A value that makes no sense.
    """

    calls: int | None = None
    per_tool: Mapping[str, int] | None = None
    per_turn: int | None = None
    seconds: float | timedelta | None = None
    repeats: int | None = None

    def __post_init__(self) -> None:
        for field in ("calls", "per_turn", "repeats"):
            value: object = getattr(self, field)
            if value is not None and not is_count(value):
                raise _refusal(field, _COUNT, value)
        if self.per_tool is not None:
            object.__setattr__(self, "per_tool", checked_tools(self.per_tool))
        if self.seconds is not None:
            object.__setattr__(self, "seconds", checked_seconds(self.seconds))

    @property
    def duration(self) -> float | None:
        """
        The seconds as a number, or None.
        """
        return self.seconds if isinstance(self.seconds, (int, float)) else None


def is_count(value: object) -> bool:
    """
    Tell a whole number from 0 from everything else.
    """
    return type(value) is int and value >= 0


def checked_tools(given: Any) -> Mapping[str, int]:
    """
    Return a read-only copy of counts by name.

    Raises:
        DeclarationError: It is something else.
    """
    rule = "a mapping from names of tools to whole numbers from 0, or None"
    if not isinstance(given, _MAPPING):
        raise _refusal("per_tool", rule, given)
    limits = dict(given)
    for name, count in limits.items():
        if not isinstance(name, str) or not is_count(count):
            raise _refusal("per_tool", rule, {name: count})

    return ReadOnlyDict(limits)


def checked_seconds(given: object) -> float:
    """
    Return seconds from 0.

    Raises:
        DeclarationError: It is something else.
    """
    value = given.total_seconds() if isinstance(given, timedelta) else given
    try:
        if isinstance(value, (int, float)) and is_number(value):
            exact = float(value)
            if 0 <= exact < math.inf:
                return exact
    except OverflowError:
        pass

    raise _refusal("seconds", "seconds from 0, or None", given)


def _refusal(field: str, rule: str, got: object) -> DeclarationError:
    return DeclarationError(f"Budget({field}=...) takes {rule}, got {shown(got)}.")
