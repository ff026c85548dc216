"""
What goes into one call and what comes out of it.

The matching page is docs/explanation/the-life-of-a-call.md.
"""

from __future__ import annotations

import dataclasses
import json

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum
from operator import attrgetter
from typing import Any, TypeAlias, final

from ._meta import ToolMeta
from ._plaindata import json_form, json_in, json_or_types
from ._readonly import ReadOnlyDict, frozen_mapping
from ._records import record
from .exceptions import CallError, ErrorClass


__all__ = ["Fate", "Status", "ToolCall", "ToolRequest", "ToolResult"]

Arguments: TypeAlias = Mapping[str, Any] | str | bytes | None

NO_WRITES: Mapping[str, object] = ReadOnlyDict()


@final
class Status(StrEnum):
    """
    How a call ended; docs/reference/errors.md says when each comes.
    """

    OK = "ok"
    NOT_FOUND = "not_found"
    TOOL_ERROR = "tool_error"
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"
    UNENCODABLE = "unencodable"
    WORKER_DIED = "worker_died"
    INVALID = "invalid"
    UNKNOWN_TOOL = "unknown_tool"
    BUDGET = "budget"
    BUSY = "busy"
    DENIED = "denied"
    APPROVAL_EXPIRED = "approval_expired"
    GUARD_FAILED = "guard_failed"
    NOT_RUN = "not_run"
    CANCELLED = "cancelled"
    PENDING = "pending"


@final
class Fate(StrEnum):
    """
    What became of the body of a call.
    """

    NOT_STARTED = "not_started"
    COMPLETED = "completed"
    STOPPED = "stopped"
    KILLED = "killed"
    ABANDONED = "abandoned"


@final
@record(frozen=True, slots=True)
class ToolCall:
    """
    A request for one call, as a model sends it.

    Attributes:
        name: Name of the tool.
        arguments: A mapping in JSON form, or the raw JSON text; None, empty and
            blank text mean no arguments.
        id: The caller's own id for the call; missing, empty and repeated ids of a
            batch are replaced.
    """

    name: str
    arguments: Arguments = None
    id: str | None = None


@final
@record(frozen=True, slots=True, kw_only=True)
class ToolRequest:
    """
    A call that passed the gate, as filters see it; immutable.

    Attributes:
        call_id: Id of the call.
        name: Name of the tool; changing it does not change what is run.
        arguments: The arguments in JSON form, read-only at every depth.
        meta: What was declared about the tool.
    """

    call_id: str
    name: str
    arguments: Mapping[str, Any]
    meta: ToolMeta

    def __post_init__(self) -> None:
        object.__setattr__(self, "arguments", frozen_mapping(self.arguments))

    def replace(self, **changes: Any) -> ToolRequest:
        """
        Return a copy with *changes*; new arguments pass the gate again before they run.
        """
        return dataclasses.replace(self, **changes)


@final
@record(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """
    The one answer to one call.

    Attributes:
        call_id: Id of the call; unique in its batch.
        name: Name of the tool asked for.
        status: How it ended.
        value: What the tool returned, also where it was too large to go out; None for
            every other status than ``ok`` and ``too_large``.
        content: The text for the model: never empty, within the limit.
        error: What went wrong, for the host; its ``__cause__`` is the tool's own
            exception where there is one.
        error_class: ``"transient"``, ``"semantic"``, ``"environment"`` or None.
        fate: What became of the body.
        attempts: How many times the body was started.
        elapsed: Seconds from the start of the call to its answer.
        queue_wait: Seconds the call waited for its turn: in its batch, for a place of
            the engine and for its serial group; no part of `elapsed`.
        truncated: Whether the content was cut.
        original_size: Characters before the cut, where there was one.
        writes: What the tool wrote, by slot; empty unless the status is ``ok``.
        original_id: The id as it was sent, where a batch replaced it.
    """

    call_id: str
    name: str
    status: Status
    content: str
    value: Any = None
    error: Exception | None = None
    error_class: ErrorClass | None = None
    fate: Fate = Fate.NOT_STARTED
    attempts: int = 0
    elapsed: float = 0.0
    queue_wait: float = 0.0
    truncated: bool = False
    original_size: int | None = None
    writes: Mapping[str, object] = field(default_factory=lambda: NO_WRITES)
    original_id: str | None = None

    @property
    def ok(self) -> bool:
        """
        Whether the status is ``ok``.
        """
        return self.status is _OK

    def unwrap(self) -> Any:
        """
        Return the value of a call that succeeded.

        Raises:
            Exception: The call's `error`, when the status is anything but ``ok``.
        """
        if self.status is _OK:
            return self.value
        error = self.error or CallError(self.content)
        try:
            raise error.with_traceback(None)
        finally:
            # The traceback keeps this frame, and this frame would keep the error.
            del self, error

    def replace(self, **changes: Any) -> ToolResult:
        """
        Return a copy with *changes*.
        """
        return dataclasses.replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """
        Return plain JSON data; the value in its JSON form, the error by type and text.

        What was written stands there as it is where it is JSON data, else by its type.
        """
        plain = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        plain["status"] = self.status.value
        plain["fate"] = self.fate.value
        if self.error is not None:
            plain["error"] = {
                "type": type(self.error).__name__,
                "message": str(self.error),
            }
        try:
            plain["value"] = json_form(self.value)
        except TypeError:  # the text has its JSON form, if nobody cut or changed it
            plain["value"] = None if self.truncated else json_in(self.content)
        plain["writes"] = {
            slot: json_or_types(value) for slot, value in self.writes.items()
        }

        return plain

    def to_json(self) -> str:
        """
        Return `to_dict` as JSON text.
        """
        return json.dumps(self.to_dict(), allow_nan=False)


# An attribute of an enum is slow to read.
_OK, _COMPLETED = Status.OK, Fate.COMPLETED


class _Draft:
    """
    A result that is still being written: the slots of `ToolResult`, and nothing else.
    """

    __slots__ = tuple(f.name for f in dataclasses.fields(ToolResult))


_values_of: Callable[[ToolResult], tuple[object, ...]] = attrgetter(*_Draft.__slots__)


def copy_of(result: ToolResult) -> ToolResult:
    """
    Return a copy: as `ToolResult.replace` without changes, at a tenth of the cost.
    """
    draft: Any = _Draft()
    (
        draft.call_id,
        draft.name,
        draft.status,
        draft.content,
        draft.value,
        draft.error,
        draft.error_class,
        draft.fate,
        draft.attempts,
        draft.elapsed,
        draft.queue_wait,
        draft.truncated,
        draft.original_size,
        draft.writes,
        draft.original_id,
    ) = _values_of(result)
    draft.__class__ = ToolResult
    copied: ToolResult = draft

    return copied


def success(
    call_id: str,
    name: str,
    value: Any,
    content: str,
    attempts: int,
    writes: Mapping[str, object],
) -> ToolResult:
    """
    Make the result of a call whose body returned.

    The same as calling `ToolResult`, at a fifth of the cost: a frozen dataclass sets its
    fields through ``object.__setattr__``, one after another, on every single call.
    """
    draft: Any = _Draft()
    draft.call_id = call_id
    draft.name = name
    draft.status = _OK
    draft.content = content
    draft.value = value
    draft.error = draft.error_class = draft.original_size = draft.original_id = None
    draft.fate = _COMPLETED
    draft.attempts = attempts
    draft.elapsed = draft.queue_wait = 0.0
    draft.truncated = False
    draft.writes = writes
    draft.__class__ = ToolResult  # the layouts are the same
    result: ToolResult = draft

    return result
