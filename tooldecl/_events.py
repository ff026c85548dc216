"""
What happens, as frozen records; `tooldecl.telemetry` is their public home.

The matching page is docs/reference/events.md.
"""

from __future__ import annotations

from typing import Any, final

from ._calls import Arguments, ToolResult
from ._meta import ToolMeta
from ._records import record
from .exceptions import ErrorClass


@record(frozen=True, slots=True, kw_only=True)
class Event:
    """
    Something that happened, at a monotonic time in seconds.
    """

    at: float


@record(frozen=True, slots=True, kw_only=True)
class CallEvent(Event):
    """
    Something that happened to one call.
    """

    call_id: str
    name: str


@final
@record(frozen=True, slots=True, kw_only=True)
class CallStarted(CallEvent):
    """
    A call came in; ``arguments`` are a copy of what was sent, None for a sensitive tool.

    ``meta`` is what was declared about the tool, None where there is none of that name.
    """

    arguments: Arguments
    meta: ToolMeta | None = None


@final
@record(frozen=True, slots=True, kw_only=True)
class AttemptFailed(CallEvent):
    """
    One attempt failed; ``retry_in`` is the wait before the next, None when there is none.

    ``began`` is when the attempt did, by the clock of ``at``.
    """

    attempt: int
    error: BaseException
    error_class: ErrorClass | None
    retry_in: float | None
    began: float | None = None


@final
@record(frozen=True, slots=True, kw_only=True)
class ApprovalAsked(CallEvent):
    """
    Somebody is asked about a call; ``expires`` is how many seconds there are, or None.
    """

    expires: float | None


@final
@record(frozen=True, slots=True, kw_only=True)
class ApprovalDecided(CallEvent):
    """
    It is decided about a call, or nobody did.

    ``decision`` is ``"approved"``, ``"denied"``, ``"answered"``, ``"suspended"``,
    ``"expired"`` or ``"failed"``.
    """

    decision: str


@final
@record(frozen=True, slots=True, kw_only=True)
class CallFinished(CallEvent):
    """
    A call has its answer.

    ``began`` and ``ended`` are when its last attempt did, by the clock of ``at``; None
    where no body began, and where nobody waited for its end.
    """

    result: ToolResult
    began: float | None = None
    ended: float | None = None


@final
@record(frozen=True, slots=True, kw_only=True)
class LateFinish(CallEvent):
    """
    An abandoned body ended, ``late_by`` seconds after its attempt was given up.

    ``value`` is what it would have returned, ``error`` what it raised; ``attempt`` counts
    from 1.
    """

    late_by: float
    value: Any = None
    error: BaseException | None = None
    attempt: int = 1


@final
@record(frozen=True, slots=True, kw_only=True)
class LoopBlocked(CallEvent):
    """
    An async body held its event loop ``blocked_for`` seconds beyond its deadline.
    """

    blocked_for: float


@final
@record(frozen=True, slots=True, kw_only=True)
class Progress(CallEvent):
    """
    A body said how far it is.
    """

    done: float
    total: float | None
    message: str | None


@final
@record(frozen=True, slots=True, kw_only=True)
class BatchStarted(Event):
    """
    A batch came in, with the ids of its calls in order.
    """

    call_ids: tuple[str, ...]


@final
@record(frozen=True, slots=True, kw_only=True)
class BatchFinished(Event):
    """
    Every call of a batch has its answer.
    """

    call_ids: tuple[str, ...]


@final
@record(frozen=True, slots=True, kw_only=True)
class WriteConflict(Event):
    """
    Several calls of a batch wrote one slot; the last one in call order won.
    """

    slot: str
    call_ids: tuple[str, ...]


@record(frozen=True, slots=True, kw_only=True)
class RunEvent(Event):
    """
    Something that happened to one run of a loop.
    """

    run_id: str


@final
@record(frozen=True, slots=True, kw_only=True)
class LoopStarted(RunEvent):
    """
    A run of a `ToolLoop` began, or goes on after it was suspended.
    """


@final
@record(frozen=True, slots=True, kw_only=True)
class ModelAsked(RunEvent):
    """
    The model of a run is about to be asked; ``turn`` counts from 1.
    """

    turn: int


@final
@record(frozen=True, slots=True, kw_only=True)
class LoopFinished(RunEvent):
    """
    A run ended, ``stop_reason`` says why; ``cancelled`` also where an error left it.
    """

    stop_reason: str
    turns: int
