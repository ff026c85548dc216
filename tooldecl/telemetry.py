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

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, final

from ._calls import Status
from ._carriers import Carrier
from ._events import (
    ApprovalAsked,
    ApprovalDecided,
    AttemptFailed,
    BatchFinished,
    BatchStarted,
    CallEvent,
    CallFinished,
    CallStarted,
    Event,
    LateFinish,
    LoopBlocked,
    LoopFinished,
    LoopStarted,
    ModelAsked,
    Progress,
    WriteConflict,
)
from ._shapes import shape, word


__all__ = [
    "ApprovalAsked",
    "ApprovalDecided",
    "AttemptFailed",
    "BatchFinished",
    "BatchStarted",
    "CallFinished",
    "CallStarted",
    "Carrier",
    "Event",
    "Hook",
    "LateFinish",
    "LoggingHook",
    "LoopBlocked",
    "LoopFinished",
    "LoopStarted",
    "ModelAsked",
    "Progress",
    "WriteConflict",
    "shape",
]

logger = logging.getLogger("tooldecl")
logger.addHandler(logging.NullHandler())


Hook: TypeAlias = Callable[[Any], object]


def emit(hooks: Iterable[Hook], event: Event) -> None:
    """
    Give *event* to every hook; a hook that fails is logged and does no harm.
    """
    for hook in hooks:
        try:
            hook(event)
        except (KeyboardInterrupt, MemoryError):
            raise
        except BaseException:  # a watcher must never change the outcome of a call
            name = getattr(hook, "__qualname__", None) or type(hook).__name__
            logger.exception("The hook %s failed on %s.", name, type(event).__name__)


Line: TypeAlias = tuple[int, str, tuple[object, ...]]

_WELL = (Status.OK, Status.NOT_FOUND, Status.PENDING)
_DECIDED = ("approved", "answered", "suspended")
_REFUSED = (Status.INVALID, Status.UNKNOWN_TOOL)

_GATE, _ENGINE, _LOOP = (
    logging.getLogger(f"tooldecl.{room}") for room in ("gate", "engine", "loop")
)


@final
class LoggingHook:
    """
    Log every event by names, kinds and lengths, never by value.

    Calls are told of on the logger ``tooldecl``; what the gate refused on
    ``tooldecl.gate``, batches and bodies that were given up on ``tooldecl.engine``, runs
    of a loop on ``tooldecl.loop``. Records of a call have ``tool``, ``call_id`` and
    ``attempt``, which is None where no attempt is spoken of.

    Args:
        level: Level for what went well; failures are logged as warnings at least.
    """

    __slots__ = ("_bad", "_level")

    def __init__(self, *, level: int = logging.INFO) -> None:
        self._level = level
        self._bad = max(level, logging.WARNING)

    def __call__(self, event: Event) -> None:
        level, text, values = self._of_call(event)
        log = _logger_of(event).log
        if isinstance(event, CallEvent):
            name, call_id = word(event.name), word(event.call_id)
            extra = {"tool": name, "call_id": call_id, "attempt": _attempt_of(event)}
            log(level, "%s %s %s", name, call_id, text % values, extra=extra)
        else:
            log(level, text, *values)

    def _of_call(self, event: Event) -> Line:
        match event:
            case CallStarted():
                return self._level, "started: %s", (shape(event.arguments),)
            case CallFinished(result=result):
                facts = (result.status.value, result.fate.value, result.attempts)
                text = "ended: %s, %s, %d attempts, %.3f s, %d characters"
                level = self._level if result.status in _WELL else self._bad
                return level, text, (*facts, result.elapsed, len(result.content))
            case AttemptFailed(attempt=number):
                kind = type(event.error).__name__
                text = "attempt %d failed: %s (%s)"
                return self._bad, text, (number, kind, event.error_class)
            case ApprovalAsked():
                return self._level, "waits for approval", ()
            case ApprovalDecided(decision=decision):
                level = self._level if decision in _DECIDED else self._bad
                return level, "approval: %s", (decision,)
            case LateFinish():
                what = type(event.error).__name__ if event.error else "a value"
                text = "ended %.3f s after its answer, with %s"
                return self._bad, text, (event.late_by, what)
            case LoopBlocked():
                text = "held its loop for %.3f s beyond its deadline"
                return self._bad, text, (event.blocked_for,)
            case Progress():
                return self._level, "is on its way: %s of %s", _share(event)
            case _:
                return self._of_batch(event)

    def _of_batch(self, event: Event) -> Line:
        match event:
            case BatchStarted():
                return (
                    self._level,
                    "a batch of %d calls started",
                    (len(event.call_ids),),
                )
            case BatchFinished():
                return self._level, "a batch of %d calls ended", (len(event.call_ids),)
            case WriteConflict():
                text = "%d calls wrote the slot %s; the last one won"
                return self._bad, text, (len(event.call_ids), word(event.slot))
            case LoopStarted():
                return self._level, "a run of a loop started", ()
            case ModelAsked(turn=turn):
                return self._level, "the model is asked for turn %d", (turn,)
            case LoopFinished(stop_reason=reason, turns=turns):
                return self._level, "a run ended: %s, %d turns", (reason, turns)
            case _:
                return self._level, "%s", (type(event).__name__,)


def _logger_of(event: Event) -> logging.Logger:
    match event:
        case CallFinished(result=result) if result.status in _REFUSED:
            return _GATE
        case LoopStarted() | ModelAsked() | LoopFinished():
            return _LOOP
        case (
            BatchStarted()
            | BatchFinished()
            | WriteConflict()
            | LateFinish()
            | LoopBlocked()
        ):
            return _ENGINE
        case _:
            return logger


def _attempt_of(event: CallEvent) -> int | None:
    match event:
        case AttemptFailed(attempt=number):
            return number
        case CallFinished(result=result):
            return result.attempts
        case _:
            return None


def _share(event: Progress) -> tuple[object, object]:
    """
    Show how far a body is, where it said so in numbers.
    """
    done, total = (
        value if isinstance(value, (int, float)) else "?"
        for value in (event.done, event.total)
    )

    return done, total
