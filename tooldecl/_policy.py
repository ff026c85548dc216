"""
The policy of retries, and the check that all limits of time have in common.

The matching page is docs/reference/tool-meta.md.
"""

from __future__ import annotations

import math

from collections.abc import Callable
from datetime import timedelta
from inspect import iscoroutinefunction
from typing import NoReturn, TypeAlias, TypeGuard, final

from ._records import record
from .exceptions import DeclarationError


RetryOn: TypeAlias = (
    tuple[type[BaseException], ...] | Callable[[BaseException], bool] | None
)


def is_number(value: object) -> bool:
    """
    Tell an int or a float from bool, text and everything else.
    """
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_seconds(value: object, what: str) -> float:
    """
    Return *value* in seconds.

    Raises:
        DeclarationError: It is not a finite number above 0, nor a timedelta above 0.
    """
    number = value.total_seconds() if isinstance(value, timedelta) else value
    try:
        if isinstance(number, (int, float)) and is_number(number):
            exact = float(number)
            if 0 < exact < math.inf:
                return exact
    except OverflowError:
        pass

    raise DeclarationError(f"{what} takes seconds above 0, got {shown(value)}.")


@final
@record(frozen=True, slots=True, kw_only=True)
class Retry:
    """
    How often a transient failure is tried again, and how long apart.

    Attributes:
        attempts: Attempts in total, the first one included.
        delay: Seconds before the second attempt.
        factor: Each further wait is this many times longer.
        max_delay: No wait is longer than this many seconds.
        jitter: Each wait is spread by up to this share of it, 0 to 1, so that
            callers that failed together do not come back together.
        within: Seconds for all attempts and waits; no wait goes past it.
        on: Exception types, or a predicate, in place of the transient set.

    Raises:
        DeclarationError: A value that makes no sense.
    """

    attempts: int = 3
    delay: float = 0.2
    factor: float = 2.0
    max_delay: float = 30.0
    jitter: float = 0.1
    within: float | None = None
    on: RetryOn = None

    def __post_init__(self) -> None:
        if type(self.attempts) is not int or self.attempts < 1:
            _refuse_retry("attempts", "a whole number from 1", self.attempts)
        self._check("delay", 0.0, math.inf)
        self._check("factor", 1.0, math.inf)
        self._check("max_delay", 0.0, math.inf)
        self._check("jitter", 0.0, 1.0)
        if self.max_delay < self.delay:
            _refuse_retry("max_delay", f"at least delay ({self.delay})", self.max_delay)
        if self.within is not None:
            object.__setattr__(
                self, "within", check_seconds(self.within, "Retry(within=...)")
            )
        self._check_on()

    def _check(self, field: str, low: float, high: float) -> None:
        value = getattr(self, field)
        try:
            exact = float(value) if is_number(value) else math.nan
        except OverflowError:
            exact = math.inf
        if not low <= exact <= high or exact == math.inf:
            upper = f" to {high:g}" if high < math.inf else ""
            _refuse_retry(field, f"a number from {low:g}{upper}", value)

    def _check_on(self) -> None:
        given: object = self.on
        if isinstance(given, type):
            given = (given,)
            object.__setattr__(self, "on", given)
        if not _is_condition(given):
            rule = "a tuple of Exception types, or a predicate that is not async"
            _refuse_retry("on", rule, given)


def _is_condition(value: object) -> bool:
    if _is_tuple(value):
        return bool(value) and all(map(_is_exception_type, value))

    return value is None or (callable(value) and not iscoroutinefunction(value))


def _is_tuple(value: object) -> TypeGuard[tuple[object, ...]]:
    return isinstance(value, tuple)


def _is_exception_type(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Exception)


def _refuse_retry(field: str, rule: str, got: object) -> NoReturn:
    raise DeclarationError(f"Retry({field}=...) takes {rule}, got {shown(got)}.")


def shown(value: object) -> str:
    """
    Show a value that was declared, and not all of a long one.
    """
    text = repr(value)

    return text if len(text) <= 80 else f"{text[:77]}..."
