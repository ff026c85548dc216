"""
Write an event down as plain data: names, kinds, lengths and times; contents if asked for.

Of a tool declared *sensitive*, or one that there is none of, nothing is written down but
that, whatever was asked for.
The matching page is docs/how-to/see-what-happened.md.
"""

from __future__ import annotations

import os

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TypeAlias, final

from .. import Status, ToolResult
from ..exceptions import (
    ApprovalExpiredError,
    BudgetExceededError,
    CallCancelledError,
    CallPendingError,
    EngineBusyError,
    GuardFailedError,
    InvalidArgumentsError,
    MalformedJSONError,
    NotRunError,
    RemoteError,
    ResultTooLargeError,
    ToolFailedError,
    ToolTimeoutError,
    UnencodableResultError,
    UnknownToolError,
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
)
from ._values import (
    LONGEST_NAME,
    LONGEST_TEXT,
    clipped,
    decoded,
    names_of,
    number_of,
    shape_of,
    text_of,
    unless_it_raises,
)


Entry: TypeAlias = Mapping[str, object]
Fields: TypeAlias = dict[str, object]

# Keys that an entry has only where contents are kept.
CONTENTS = frozenset({"arguments", "content", "message", "value"})

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

_REFUSED = (Status.INVALID, Status.UNKNOWN_TOOL)
_OF_THE_GATE = (InvalidArgumentsError, MalformedJSONError, UnknownToolError)


@final
class Scribe:
    """
    Makes an entry of each event of one session.

    Args:
        contents: Whether arguments, results and messages are written down too.
    """

    __slots__ = ("_contents", "_hidden", "_session", "_unknown")

    def __init__(self, *, contents: bool) -> None:
        self._contents = contents
        self._session = os.urandom(4).hex()
        self._hidden: set[str] = set()
        self._unknown: set[str] = set()

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
        may_show = self._may_show(event)
        shown = self._contents and may_show
        fields: Fields = {
            "event": type(event).__name__,
            "at": event.at,
            "session": self._session,
        }
        for key in ("call_id", "name", "run_id"):
            if isinstance(value := getattr(event, key, None), str):
                fields[key] = clipped(value, LONGEST_NAME)

        fields |= _of_call(event, shown=shown) or _of_batch(event)
        if isinstance(event, CallFinished):
            fields |= _of_gate(event.result, may_show=may_show)

        return fields

    def _may_show(self, event: Event) -> bool:
        """
        Tell whether a call may be read: a tool that is unknown may be a sensitive one,
        misspelt.
        """
        call_id: object = getattr(event, "call_id", None)
        match event:
            case CallStarted(meta=None):
                self._unknown.add(event.call_id)
            case CallStarted() if _is_sensitive(event):
                self._hidden.add(event.name)
            case CallFinished() if call_id in self._unknown:
                self._unknown.discard(event.call_id)
                return False
            case _:
                pass

        return (
            call_id not in self._unknown
            and getattr(event, "name", None) not in self._hidden
        )


def _is_sensitive(event: CallStarted) -> bool:
    return event.meta is not None and event.meta.sensitive


def _of_call(event: Event, *, shown: bool) -> Fields:
    match event:
        case CallStarted():
            return {
                "sensitive": _is_sensitive(event),
                "arguments_shape": shape_of(decoded(event.arguments)),
                **_if(shown, "arguments", lambda: text_of(event.arguments)),
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
            fields["value_shape"] = shape_of(event.value)
            return fields | _if(shown, "value", lambda: text_of(event.value))
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
                "done": number_of(event.done),
                "total": number_of(event.total),
                **_if(shown, "message", lambda: text_of(event.message)),
            }
        case _:
            return {}


def _of_batch(event: Event) -> Fields:
    match event:
        case BatchStarted() | BatchFinished():
            return {"call_ids": names_of(event.call_ids)}
        case WriteConflict():
            slot = clipped(str(event.slot), LONGEST_NAME)
            return {"slot": slot, "call_ids": names_of(event.call_ids)}
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
        "value_shape": shape_of(result.value),
    }
    if result.truncated:
        fields |= {"truncated": True, "original_size": result.original_size}
    if result.writes:
        fields["writes"] = names_of(tuple(map(str, result.writes)))
    if result.original_id is not None:
        fields["original_id"] = clipped(result.original_id, LONGEST_NAME)
    if result.error is not None:
        fields |= _error(result.error, shown=False)

    return fields | _if(shown, "content", lambda: clipped(result.content, LONGEST_TEXT))


def _error(error: BaseException, *, shown: bool) -> Fields:
    fields: Fields = {"kind": type(error).__name__}
    if isinstance(error, ToolFailedError | RemoteError):
        fields["raised"] = names_of(error.type_names)
    if shown or type(error) in _OUR_WORDS:
        fields["why"] = unless_it_raises(lambda: clipped(str(error), LONGEST_TEXT))
    if isinstance(error, ToolTimeoutError):
        fields |= {"timeout": error.timeout, "source": error.source}

    return fields


def _of_gate(result: ToolResult, *, may_show: bool) -> Fields:
    """
    Say why the gate has refused a call: in our words, which hold no value.

    They may hold names of members that were sent; where not even these may be shown,
    only what is wrong with a text is said.
    """
    error = result.error
    if result.status not in _REFUSED or type(error) not in _OF_THE_GATE:
        return {}
    why = str(error)
    if isinstance(error, MalformedJSONError) and not may_show:
        at = "" if error.offset is None else f" (character {error.offset})"
        why = f"{error.reason}{at}"
    elif isinstance(error, InvalidArgumentsError) and not may_show:
        return {}

    return {"why": clipped(why, LONGEST_TEXT)}


def _if(shown: bool, key: str, value: Callable[[], str]) -> Fields:
    return {key: unless_it_raises(value)} if shown else {}
