"""
What was declared about a tool: one frozen record, checked whenever it is made.

The matching page is docs/reference/tool-meta.md; a test compares the two.
"""

from __future__ import annotations

import re

from collections.abc import Generator, Iterable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from datetime import timedelta
from typing import Literal, NoReturn, TypeAlias, final

from ._policy import Retry, check_seconds, shown
from ._records import record
from ._sentinels import UNSET, Unset
from ._wording import is_encodable
from .exceptions import DeclarationError


__all__ = [
    "Coerce",
    "Isolation",
    "Overflow",
    "Retry",
    "ToolMeta",
    "ToolOptions",
    "check_seconds",
]

Isolation: TypeAlias = Literal["inline", "thread", "process"]
Overflow: TypeAlias = Literal["fail", "truncate", "offload"]
Coerce: TypeAlias = Literal["strict", "repair"]

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
NAME_RULE = "1 to 64 letters, digits, _ or -, the first a letter or _"

# What providers take at most; a longer text would make them refuse every request.
LONGEST_DESCRIPTION = 1024


@record(frozen=True, slots=True, kw_only=True)
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


# Whose options are checked, for the messages alone, where it is no decorated function.
_OWNER: ContextVar[str] = ContextVar("_OWNER", default="")

# What is about a body of this process's own, and what stands there for nothing.
_BODY_ONLY = (("retry", None), ("isolation", UNSET), ("result_limit", UNSET))

FLAGS = ("idempotent", "sensitive", "return_direct", "external", "is_async")


@contextmanager
def declaring(owner: str) -> Generator[None, None, None]:
    """
    Name *owner* in the faults of the records that are made meanwhile.
    """
    token = _OWNER.set(owner)
    try:
        yield
    finally:
        _OWNER.reset(token)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


@final
@record(frozen=True, slots=True, kw_only=True)
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
        serial: True runs alone in its batch. A group's name: calls of one group never
            overlap on one client.
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

    name: str = field()
    description: str = field()
    timeout: float | None | Unset = UNSET
    retry: Retry | None = None
    tags: tuple[str, ...] = ()
    is_async: bool = False
    ref: str = ""
    site: str = ""

    def __post_init__(self) -> None:
        self._check_texts()
        self._set("timeout", self._check_timeout())
        self._set("retry", self._check_retry())
        self._set("tags", self._check_tags())
        for flag in FLAGS:
            if type(getattr(self, flag)) is not bool:
                self._refuse(flag, "True or False", getattr(self, flag))
        serial: object = self.serial
        if type(serial) is not bool and not _is_text(serial):
            self._refuse("serial", "True, False or a group's name", serial)
        self._check_choice("isolation", ("inline", "thread", "process"))
        self._check_choice("on_overflow", ("fail", "truncate", "offload"))
        if self.coerce not in ("strict", "repair"):
            self._refuse("coerce", "'strict' or 'repair'", self.coerce)
        self._check_limit()
        self._refuse_idle()

    def _check_texts(self) -> None:
        name: object = self.name
        if not (isinstance(name, str) and NAME.fullmatch(name)):
            self._refuse("name", NAME_RULE, name)
        description: object = self.description
        if not _is_text(description):
            self._refuse("description", "a text that is not empty", description)
        if not is_encodable(self.description):
            self._refuse("description", "a text without lone surrogates", description)
        if len(self.description) > LONGEST_DESCRIPTION:
            raise DeclarationError(
                f"{self._where()}: the description has {len(self.description)} "
                f"characters, and providers take at most {LONGEST_DESCRIPTION}. Shorten "
                "the docstring (parameter sections do not count), or give "
                "description=... beside it."
            )
        for fact in ("ref", "site"):
            if not isinstance(getattr(self, fact), str):
                self._refuse(fact, "a text", getattr(self, fact))

    def _set(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    def _where(self) -> str:
        return _OWNER.get() or f"@tool on {self.ref or self.name}"

    def _refuse(self, option: str, rule: str, got: object) -> NoReturn:
        raise DeclarationError(
            f"{self._where()}: {option} takes {rule}, got {shown(got)}."
        )

    def _check_timeout(self) -> float | None | Unset:
        if self.timeout is None or self.timeout is UNSET:
            return self.timeout

        return check_seconds(self.timeout, f"{self._where()}: timeout")

    def _check_retry(self) -> Retry | None:
        given: object = self.retry
        if given is None or isinstance(given, Retry):
            return given
        if given is True:
            return Retry()
        if type(given) is not int or given < 1:
            rule = "a Retry, a number of attempts from 1, True or None"
            self._refuse("retry", rule, given)

        return Retry(attempts=given)

    def _check_tags(self) -> tuple[str, ...]:
        rule = "a list of texts that are not empty"
        given: object = self.tags
        if given == ():
            return ()
        if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
            self._refuse("tags", rule, given)
        tags = tuple(given)
        if not all(map(_is_text, tags)):
            self._refuse("tags", rule, tags)
        if not all(map(is_encodable, tags)):
            self._refuse("tags", "texts without lone surrogates", tags)
        # A set has another order in every process; the record must not.
        tags = tuple(sorted(tags)) if isinstance(given, AbstractSet) else tags

        return tuple(dict.fromkeys(tags))

    def _check_choice(self, option: str, choices: tuple[str, ...]) -> None:
        value = getattr(self, option)
        if value is not UNSET and not (isinstance(value, str) and value in choices):
            self._refuse(option, "one of " + ", ".join(map(repr, choices)), value)

    def _check_limit(self) -> None:
        if self.result_limit is None or self.result_limit is UNSET:
            return
        if type(self.result_limit) is not int or self.result_limit < 1:
            rule = "characters from 1, or None"
            self._refuse("result_limit", rule, self.result_limit)

    def _refuse_idle(self) -> None:
        """
        Refuse what would have nothing to do: the body of an external tool never runs.
        """
        for option, unset in _BODY_ONLY:
            if self.external and getattr(self, option) is not unset:
                raise DeclarationError(
                    f"{self._where()}: {option} means nothing beside external=True: "
                    "somebody else runs it."
                )
