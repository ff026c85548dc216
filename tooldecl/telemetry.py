"""
Say what happened: frozen events, given to hooks.

A hook is any callable that takes one event. It cannot change or break a call: what it
raises is logged and ignored. It runs where the event arises: on the caller's thread or
loop, on a worker's thread for `LateFinish` and `Progress`.
Every event has ``at``, seconds of a monotonic clock.
The matching page is docs/reference/events.md.
"""

from __future__ import annotations

import logging

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from ._calls import Arguments, ToolResult
from .exceptions import ErrorClass


__all__ = [
    "AttemptFailed",
    "BatchFinished",
    "BatchStarted",
    "CallFinished",
    "CallStarted",
    "Event",
    "Hook",
    "LateFinish",
    "LoggingHook",
    "LoopBlocked",
    "Progress",
    "WriteConflict",
]

logger = logging.getLogger("tooldecl")
logger.addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """
    Something that happened, at a monotonic time in seconds.
    """

    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _CallEvent(Event):
    call_id: str
    name: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted(_CallEvent):
    """
    A call came in; ``arguments`` as they were sent, None for a sensitive tool.
    """

    arguments: Arguments


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFailed(_CallEvent):
    """
    One attempt failed; ``retry_in`` is the wait before the next, None when there is none.
    """

    attempt: int
    error: BaseException
    error_class: ErrorClass | None
    retry_in: float | None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CallFinished(_CallEvent):
    """
    A call has its answer.
    """

    result: ToolResult


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LateFinish(_CallEvent):
    """
    An abandoned body ended, ``late_by`` seconds after its call was answered.

    ``value`` is what it would have returned, ``error`` what it raised.
    """

    late_by: float
    value: Any = None
    error: BaseException | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LoopBlocked(_CallEvent):
    """
    An async body held its event loop ``blocked_for`` seconds beyond its deadline.
    """

    blocked_for: float


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Progress(_CallEvent):
    """
    A body said how far it is.
    """

    done: float
    total: float | None
    message: str | None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStarted(Event):
    """
    A batch came in, with the ids of its calls in order.
    """

    call_ids: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFinished(Event):
    """
    Every call of a batch has its answer.
    """

    call_ids: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WriteConflict(Event):
    """
    Several calls of a batch wrote one slot; the last one in call order won.
    """

    slot: str
    call_ids: tuple[str, ...]


Hook: TypeAlias = Callable[[Any], object]


def emit(hooks: Iterable[Hook], event: Event) -> None:
    """
    Give *event* to every hook; a hook that fails is logged and does no harm.
    """
    for hook in hooks:
        try:
            hook(event)
        except Exception:  # a watcher must never change the outcome of a call
            logger.exception("The hook %r failed on %s.", hook, type(event).__name__)


def shape(arguments: object, *, depth: int = 0) -> str:
    """
    Describe a value by kinds and lengths only, as in ``{city: str[4]}``.
    """
    if isinstance(arguments, (str, bytes)):
        return f"{type(arguments).__name__}[{len(arguments)}]"
    if isinstance(arguments, Mapping):
        if depth:
            return f"object[{len(arguments)}]"
        inner = ", ".join(
            f"{str(k)[:40]}: {shape(v, depth=1)}" for k, v in [*arguments.items()][:20]
        )
        return f"{{{inner}}}"
    if isinstance(arguments, (list, tuple)):
        return f"list[{len(arguments)}]"

    return "none" if arguments is None else type(arguments).__name__


@final
class LoggingHook:
    """
    Log every event by names, kinds and lengths, never by value.

    Args:
        level: Level for what went well; failures are logged one step up, as warnings.
    """

    __slots__ = ("_level",)

    def __init__(self, *, level: int = logging.INFO) -> None:
        self._level = level

    def __call__(self, event: Event) -> None:
        level, text, values = self._describe(event)
        extra = {
            "tool": getattr(event, "name", None),
            "call_id": getattr(event, "call_id", None),
        }
        logger.log(level, text, *values, extra=extra)

    def _describe(self, event: Event) -> tuple[int, str, tuple[object, ...]]:
        match event:
            case CallStarted():
                what = shape(event.arguments)
                return self._level, "%s %s started: %s", (event.name, event.call_id, what)
            case CallFinished(result=result):
                level = self._level if result.ok else max(self._level, logging.WARNING)
                size = len(result.content)
                facts = (event.name, event.call_id, result.status.value)
                more = (result.fate.value, result.attempts, result.elapsed, size)
                return (
                    level,
                    "%s %s ended: %s, %s, %d attempts, %.3f s, %d characters",
                    facts + more,
                )
            case AttemptFailed():
                kind = type(event.error).__name__
                return (
                    max(self._level, logging.WARNING),
                    "%s %s attempt %d failed: %s (%s)",
                    (event.name, event.call_id, event.attempt, kind, event.error_class),
                )
            case LateFinish():
                what = type(event.error).__name__ if event.error else "a value"
                return (
                    max(self._level, logging.WARNING),
                    "%s %s ended %.3f s after its answer, with %s",
                    (event.name, event.call_id, event.late_by, what),
                )
            case _:
                return self._level, "%s", (type(event).__name__,)
