"""
Write an event down as plain data: names, kinds, lengths and times; contents if asked for.

Of a tool declared *sensitive* nothing is written down but that, whatever was asked for.
The matching page is docs/how-to/see-what-happened.md.
"""

from __future__ import annotations

import json
import math
import os

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TypeAlias, final

from .. import ToolResult
from ..exceptions import (
    ApprovalExpiredError,
    BudgetExceededError,
    CallCancelledError,
    CallPendingError,
    EngineBusyError,
    GuardFailedError,
    NotRunError,
    RemoteError,
    ResultTooLargeError,
    ToolFailedError,
    ToolTimeoutError,
    UnencodableResultError,
    WorkerDiedError,
)
from ..telemetry import (
    ApprovalAsked,
    ApprovalDecided,
    AttemptFailed,
    BatchFinished,
    BatchStarted,
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
    shape,
)


Entry: TypeAlias = Mapping[str, object]
Fields: TypeAlias = dict[str, object]

# Keys that an entry has only where contents are kept.
CONTENTS = frozenset({"arguments", "content", "message", "value"})

LONGEST_NAME = 200
LONGEST_TEXT = 10_000
LONGEST_DECODED = 100_000

# Errors whose whole text is ours: nothing in it was given, returned or raised by anybody.
_OUR_WORDS = (
    ApprovalExpiredError,
    BudgetExceededError,
    CallCancelledError,
    CallPendingError,
    EngineBusyError,
    GuardFailedError,
    NotRunError,
    ResultTooLargeError,
    ToolTimeoutError,
    UnencodableResultError,
    WorkerDiedError,
)


@final
class Scribe:
    """
    Makes an entry of each event of one session.

    Args:
        contents: Whether arguments, results and messages are written down too.
    """

    __slots__ = ("_contents", "_hidden", "_session")

    def __init__(self, *, contents: bool) -> None:
        self._contents = contents
        self._session = os.urandom(4).hex()
        self._hidden: set[str] = set()

    def head(self, at: float) -> Fields:
        """
        Return the entry that says whose clock ``at`` is, and what time of day it was.
        """
        return {
            "event": "journal",
            "at": at,
            "session": self._session,
            "wall": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "process": os.getpid(),
            "format": 1,
        }

    def entry(self, event: Event) -> Fields:
        """
        Return the entry of an event.
        """
        if isinstance(event, CallStarted) and _is_sensitive(event):
            self._hidden.add(event.name)
        fields: Fields = {
            "event": type(event).__name__,
            "at": event.at,
            "session": self._session,
        }
        for key in ("call_id", "name", "run_id"):
            if isinstance(value := getattr(event, key, None), str):
                fields[key] = clipped(value, LONGEST_NAME)
        shown = self._contents and getattr(event, "name", None) not in self._hidden

        return fields | (_of_call(event, shown=shown) or _of_batch(event))


def _is_sensitive(event: CallStarted) -> bool:
    return event.meta is not None and event.meta.sensitive


def _of_call(event: Event, *, shown: bool) -> Fields:
    match event:
        case CallStarted():
            return {
                "sensitive": _is_sensitive(event),
                "arguments_shape": _shape(_decoded(event.arguments)),
                **_if(shown, "arguments", lambda: _text(event.arguments)),
            }
        case AttemptFailed():
            return {
                "attempt": event.attempt,
                "began": event.began,
                "retry_in": event.retry_in,
                "error_class": event.error_class,
                "fate": getattr(event.error, "fate", None),
                **_error(event.error, shown=shown),
            }
        case CallFinished():
            return {
                "began": event.began,
                "ended": event.ended,
                **_result(event.result, shown=shown),
            }
        case LateFinish(error=error):
            fields: Fields = {"attempt": event.attempt, "late_by": event.late_by}
            if error is not None:
                return fields | _error(error, shown=shown)
            fields["value_shape"] = _shape(event.value)
            return fields | _if(shown, "value", lambda: _text(event.value))
        case _:
            return _on_the_way(event, shown=shown)


def _on_the_way(event: Event, *, shown: bool) -> Fields:
    match event:
        case ApprovalAsked():
            return {"expires": event.expires}
        case ApprovalDecided():
            return {"decision": event.decision}
        case LoopBlocked():
            return {"blocked_for": event.blocked_for}
        case Progress():
            return {
                "done": _number(event.done),
                "total": _number(event.total),
                **_if(shown, "message", lambda: _text(event.message)),
            }
        case _:
            return {}


def _of_batch(event: Event) -> Fields:
    match event:
        case BatchStarted() | BatchFinished():
            return {"call_ids": _names(event.call_ids)}
        case WriteConflict():
            slot = clipped(str(event.slot), LONGEST_NAME)
            return {"slot": slot, "call_ids": _names(event.call_ids)}
        case ModelAsked():
            return {"turn": event.turn}
        case LoopFinished():
            return {"stop_reason": str(event.stop_reason), "turns": event.turns}
        case LoopStarted() | _:
            return {}


def _result(result: ToolResult, *, shown: bool) -> Fields:
    fields: Fields = {
        "status": str(result.status),
        "fate": str(result.fate),
        "attempts": result.attempts,
        "elapsed": result.elapsed,
        "queue_wait": result.queue_wait,
        "error_class": result.error_class,
        "characters": len(result.content),
        "value_shape": _shape(result.value),
    }
    if result.truncated:
        fields |= {"truncated": True, "original_size": result.original_size}
    if result.writes:
        fields["writes"] = _names(tuple(map(str, result.writes)))
    if result.original_id is not None:
        fields["original_id"] = clipped(result.original_id, LONGEST_NAME)
    if result.error is not None:
        fields |= _error(result.error, shown=False)

    return fields | _if(shown, "content", lambda: clipped(result.content, LONGEST_TEXT))


def _error(error: BaseException, *, shown: bool) -> Fields:
    fields: Fields = {"kind": type(error).__name__}
    if isinstance(error, ToolFailedError | RemoteError):
        fields["raised"] = _names(error.type_names)
    if shown or type(error) in _OUR_WORDS:
        fields["why"] = _unless_it_raises(lambda: clipped(str(error), LONGEST_TEXT))
    if isinstance(error, ToolTimeoutError):
        fields |= {"timeout": error.timeout, "source": error.source}

    return fields


def _if(shown: bool, key: str, value: Callable[[], str]) -> Fields:
    return {key: _unless_it_raises(value)} if shown else {}


def _decoded(arguments: object) -> object:
    """
    Read arguments that are JSON text, as models send them; what is none stays text.
    """
    if not isinstance(arguments, str | bytes) or len(arguments) > LONGEST_DECODED:
        return arguments
    try:
        found: object = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments

    return found


def _shape(value: object) -> str:
    return _unless_it_raises(lambda: clipped(shape(value), LONGEST_TEXT))


def _text(value: object) -> str:
    """
    Write a value as JSON text, and by its type what has no JSON form.
    """
    if isinstance(value, str):
        return clipped(value, LONGEST_TEXT)
    text = json.dumps(
        value, ensure_ascii=False, default=lambda v: f"<{type(v).__name__}>"
    )

    return clipped(text, LONGEST_TEXT)


def _unless_it_raises(make: Callable[[], str]) -> str:
    """
    Describe what may have methods of anybody's, which may do anything.
    """
    try:
        return make()
    except Exception as error:  # an event without its contents is better than none
        return f"<{type(error).__name__}>"


def _number(value: object) -> float | None:
    """
    Take a number that a body said, as far as it is one.
    """
    if not isinstance(value, int | float) or not math.isfinite(value):
        return None

    return value


def _names(names: tuple[object, ...]) -> list[str]:
    return [clipped(str(name), LONGEST_NAME) for name in names]


def clipped(text: str, most: int) -> str:
    """
    Cut a text to *most* characters, and say in it that it was cut.
    """
    if len(text) <= most:
        return text
    mark = f"... [{len(text)} characters]"

    return text[: most - len(mark)] + mark
