"""
What was declared about a tool: one frozen record, checked whenever it is made.

The matching page is docs/reference/tool-meta.md; a test compares the two.
"""

from __future__ import annotations

import math
import re

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, NoReturn, TypeAlias, final

from ._sentinels import UNSET, Unset
from .exceptions import DeclarationError, NotAvailableError


__all__ = ["Coerce", "Isolation", "Overflow", "Retry", "ToolMeta", "ToolOptions"]

Isolation: TypeAlias = Literal["inline", "thread", "process"]
Overflow: TypeAlias = Literal["fail", "truncate", "offload"]
Coerce: TypeAlias = Literal["strict", "repair"]
RetryOn: TypeAlias = (
    tuple[type[BaseException], ...] | Callable[[BaseException], bool] | None
)

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
NAME_RULE = "1 to 64 letters, digits, _ or -, the first a letter or _"


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

    raise DeclarationError(f"{what} takes seconds above 0, got {value!r}.")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
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
        if not is_number(value) or not (low <= value <= high) or value == math.inf:
            upper = f" to {high:g}" if high < math.inf else ""
            _refuse_retry(field, f"a number from {low:g}{upper}", value)

    def _check_on(self) -> None:
        if self.on is None:
            return
        if isinstance(self.on, type) and issubclass(self.on, BaseException):
            object.__setattr__(self, "on", (self.on,))
        if isinstance(self.on, tuple):
            if self.on and all(
                isinstance(t, type) and issubclass(t, Exception) for t in self.on
            ):
                return
        elif callable(self.on):
            return
        _refuse_retry("on", "a tuple of Exception types, or a predicate", self.on)


def _refuse_retry(field: str, rule: str, got: object) -> NoReturn:
    raise DeclarationError(f"Retry({field}=...) takes {rule}, got {got!r}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """
    What ``@tool(...)`` takes: add an option here, its check in `ToolMeta`, its enforcer elsewhere.
    """

    name: str | Unset = UNSET
    description: str | Unset = UNSET
    timeout: float | timedelta | None | Unset = UNSET
    retry: Retry | int | None = None
    idempotent: bool = False
    serial: bool | str = False
    isolation: Isolation | Unset = UNSET
    sensitive: bool = False
    return_direct: bool = False
    external: bool = False
    tags: Iterable[str] = ()
    result_limit: int | None | Unset = UNSET
    on_overflow: Overflow | Unset = UNSET
    coerce: Coerce = "strict"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolMeta(ToolOptions):
    """
    Everything declared about one tool, frozen; ``dataclasses.replace`` checks again.

    Attributes:
        name: The name on the wire, unique in a client.
        description: What the model reads; never empty.
        timeout: Seconds one attempt's body may take. None is unlimited and beats
            the engine's; UNSET leaves it to the engine.
        retry: When and how often a failed attempt is repeated, or None.
        idempotent: Safe to run again, or twice at once.
        serial: True runs alone in its batch.
        isolation: Where the body runs; UNSET leaves it to the engine.
        sensitive: Argument values are never logged or echoed in errors.
        return_direct: The results of a turn are the loop's answer when every call
            of it declares this and all succeed.
        external: Someone else runs it.
        tags: Words for `ToolClient.definitions` to select by.
        result_limit: Characters of the text for the model; UNSET is the client's.
        on_overflow: What happens beyond the limit; UNSET is the client's.
        coerce: ``"repair"`` also takes a list or object sent as a JSON string.
        is_async: The body is a coroutine function or an async generator function.
        ref: ``module:qualname`` of the function.
        site: ``file:line`` of the function.
    """

    name: str
    description: str
    timeout: float | None | Unset = UNSET
    retry: Retry | None = None
    tags: tuple[str, ...] = ()
    is_async: bool = False
    ref: str = ""
    site: str = ""

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and NAME.fullmatch(self.name)):
            self._refuse("name", NAME_RULE, self.name)
        if not (isinstance(self.description, str) and self.description.strip()):
            self._refuse("description", "a text that is not empty", self.description)
        self._set("timeout", self._check_timeout())
        self._set("retry", self._check_retry())
        self._set("tags", self._check_tags())
        for field in ("idempotent", "sensitive", "return_direct", "external"):
            if type(getattr(self, field)) is not bool:
                self._refuse(field, "True or False", getattr(self, field))
        if type(self.serial) is not bool and not (
            isinstance(self.serial, str) and self.serial.strip()
        ):
            self._refuse("serial", "True, False or a group's name", self.serial)
        self._check_choice("isolation", ("inline", "thread", "process"))
        self._check_choice("on_overflow", ("fail", "truncate", "offload"))
        if self.coerce not in ("strict", "repair"):
            self._refuse("coerce", "'strict' or 'repair'", self.coerce)
        self._check_limit()
        self._refuse_unavailable()

    def _set(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    def _where(self) -> str:
        return f"@tool on {self.ref or self.name}"

    def _refuse(self, option: str, rule: str, got: object) -> NoReturn:
        raise DeclarationError(f"{self._where()}: {option} takes {rule}, got {got!r}.")

    def _check_timeout(self) -> float | None | Unset:
        if self.timeout is None or self.timeout is UNSET:
            return self.timeout
        seconds = check_seconds(self.timeout, f"{self._where()}: timeout")
        if self.isolation == "inline":
            raise DeclarationError(
                f"{self._where()}: a timeout cannot be enforced with "
                "isolation='inline'. Leave one of them out."
            )
        return seconds

    def _check_retry(self) -> Retry | None:
        given: object = self.retry
        if given is None or isinstance(given, Retry):
            return given
        if given is True:
            return Retry()
        if type(given) is int:
            try:
                return Retry(attempts=given)
            except DeclarationError:
                pass
        self._refuse("retry", "a Retry, a number of attempts, True or None", given)

    def _check_tags(self) -> tuple[str, ...]:
        rule = "texts that are not empty"
        if isinstance(self.tags, (str, bytes)):
            self._refuse("tags", rule, self.tags)
        try:
            tags = tuple(self.tags)
        except TypeError:
            self._refuse("tags", rule, self.tags)
        if not all(isinstance(t, str) and t.strip() for t in tags):
            self._refuse("tags", rule, tags)

        return tuple(dict.fromkeys(tags))

    def _check_choice(self, option: str, choices: tuple[str, ...]) -> None:
        value = getattr(self, option)
        if value is not UNSET and not (isinstance(value, str) and value in choices):
            self._refuse(option, "one of " + ", ".join(map(repr, choices)), value)

    def _check_limit(self) -> None:
        if self.result_limit is None or self.result_limit is UNSET:
            return
        if type(self.result_limit) is not int or self.result_limit < 1:
            self._refuse("result_limit", "characters from 1, or None", self.result_limit)

    def _refuse_unavailable(self) -> None:
        """
        Refuse what no module of this version enforces.
        """
        if isinstance(self.serial, str):
            raise NotAvailableError(option=f"{self._where()}: serial={self.serial!r}")
        if self.isolation == "process":
            raise NotAvailableError(option=f"{self._where()}: isolation='process'")
        if self.external:
            raise NotAvailableError(option=f"{self._where()}: external=True")
        if self.on_overflow == "offload":
            raise NotAvailableError(option=f"{self._where()}: on_overflow='offload'")
