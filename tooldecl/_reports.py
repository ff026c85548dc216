"""
Tell a client's hooks what happens to its calls; nobody listens, nothing is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from ._calls import Arguments, ToolResult
from ._clock import Clock, monotonic
from ._context import OnProgress, ToolContext, facts_of
from ._errors import classify
from ._isolation import Attempt
from ._meta import ToolMeta
from ._readonly import frozen_mapping
from .telemetry import (
    ApprovalAsked,
    ApprovalDecided,
    AttemptFailed,
    BatchFinished,
    BatchStarted,
    CallFinished,
    CallStarted,
    Hook,
    LateFinish,
    LoopBlocked,
    LoopFinished,
    LoopStarted,
    ModelAsked,
    Progress,
    WriteConflict,
    emit,
)


@final
class Reports:
    """
    The events of one client, to all of its hooks.

    Attributes:
        hooks: Who is told; where there is none, nothing need be made to be told.
    """

    __slots__ = ("_clock", "hooks")

    def __init__(self, hooks: tuple[Hook, ...], clock: Clock) -> None:
        self.hooks = hooks
        self._clock = clock

    def started(
        self, call_id: str, name: str, arguments: Arguments, meta: ToolMeta | None
    ) -> None:
        """
        A call came in, for the tool of *meta* if there is one.
        """
        hidden = meta is not None and meta.sensitive
        emit(
            self.hooks,
            CallStarted(
                at=self._clock.monotonic(),
                call_id=call_id,
                name=name,
                arguments=None if hidden else _copied(arguments),
                meta=meta,
            ),
        )

    def failed(
        self, attempt: Attempt, error: BaseException, wait: float | None
    ) -> None:
        """
        An attempt failed; the next comes after *wait* seconds, or none does.
        """
        context, now = attempt.context, self._clock.monotonic()
        attempt.ended = now
        emit(
            self.hooks,
            AttemptFailed(
                at=now,
                began=_body_began(attempt, now),
                call_id=context.call_id,
                name=context.tool,
                attempt=context.attempt,
                error=error,
                error_class=classify(error),
                retry_in=wait,
            ),
        )

    def asked(self, call_id: str, name: str, expires: float | None) -> None:
        """
        Somebody is asked about a call.
        """
        emit(
            self.hooks,
            ApprovalAsked(
                at=self._clock.monotonic(), call_id=call_id, name=name, expires=expires
            ),
        )

    def decided(self, call_id: str, name: str, decision: str) -> None:
        """
        It is decided about a call.
        """
        emit(
            self.hooks,
            ApprovalDecided(
                at=self._clock.monotonic(),
                call_id=call_id,
                name=name,
                decision=decision,
            ),
        )

    def finished(self, result: ToolResult, last: Attempt | None) -> None:
        """
        A call has its answer; *last* is its last attempt, where one was made.
        """
        if last is not None and not last.started:
            last = None
        now = self._clock.monotonic()
        emit(
            self.hooks,
            CallFinished(
                at=now,
                call_id=result.call_id,
                name=result.name,
                result=result,
                began=None if last is None else _body_began(last, now),
                ended=None if last is None else last.ended,
            ),
        )

    def progress(
        self,
        context: ToolContext,
        done: float,
        total: float | None,
        message: str | None,
    ) -> None:
        """
        A body said how far it is.
        """
        emit(
            self.hooks,
            Progress(
                at=self._clock.monotonic(),
                call_id=context.call_id,
                name=context.tool,
                done=done,
                total=total,
                message=message,
            ),
        )

    def progress_to(self, listener: Hook) -> OnProgress:
        """
        Return what tells one listener of the progress of a call as well as the hooks.

        Raises:
            TypeError: It cannot be called.
        """
        if not callable(listener):
            kind = type(listener).__name__
            raise TypeError(f"on_progress takes a function of one event, got {kind}.")

        return Reports((*self.hooks, listener), self._clock).progress

    def late(self, attempt: Attempt, late_by: float) -> None:
        """
        An abandoned body ended.
        """
        emit(
            self.hooks,
            LateFinish(
                at=monotonic(),
                call_id=attempt.context.call_id,
                name=attempt.context.tool,
                late_by=late_by,
                value=attempt.value,
                error=attempt.error,
                attempt=attempt.context.attempt,
            ),
        )

    def blocked(self, attempt: Attempt, seconds: float) -> None:
        """
        A loop came back late from an async body.
        """
        emit(
            self.hooks,
            LoopBlocked(
                at=monotonic(),
                call_id=attempt.context.call_id,
                name=attempt.context.tool,
                blocked_for=seconds,
            ),
        )

    def loop_started(self, run_id: str) -> None:
        """
        A run of a loop began, or goes on.
        """
        emit(self.hooks, LoopStarted(at=self._clock.monotonic(), run_id=run_id))

    def model_asked(self, run_id: str, turn: int) -> None:
        """
        The model of a loop is about to be asked.
        """
        now = self._clock.monotonic()
        emit(self.hooks, ModelAsked(at=now, run_id=run_id, turn=turn))

    def loop_finished(self, run_id: str, stop_reason: str, turns: int) -> None:
        """
        A run of a loop ended.
        """
        now = self._clock.monotonic()
        emit(
            self.hooks,
            LoopFinished(at=now, run_id=run_id, stop_reason=stop_reason, turns=turns),
        )

    def batch_started(self, call_ids: tuple[str, ...]) -> None:
        """
        A batch came in.
        """
        emit(self.hooks, BatchStarted(at=self._clock.monotonic(), call_ids=call_ids))

    def batch_finished(self, call_ids: tuple[str, ...]) -> None:
        """
        Every call of a batch has its answer.
        """
        emit(self.hooks, BatchFinished(at=self._clock.monotonic(), call_ids=call_ids))

    def conflict(self, slot: str, call_ids: tuple[str, ...]) -> None:
        """
        Several calls of a batch wrote one slot.
        """
        emit(
            self.hooks,
            WriteConflict(at=self._clock.monotonic(), slot=slot, call_ids=call_ids),
        )


def _copied(arguments: Arguments) -> Arguments:
    """
    Copy what a caller gave: a hook that changes it must not change the call.
    """
    if not isinstance(arguments, Mapping):
        return arguments
    try:
        return frozen_mapping(arguments)
    except Exception:  # the gate, which comes next, will say what is wrong with it
        return None


def _body_began(attempt: Attempt, now: float) -> float | None:
    """
    Return when the body of an attempt that is over began, by the client's clock.
    """
    if attempt.began is None:
        return None
    end = now if attempt.ended is None else attempt.ended

    # Waits for workers are by the machine's clock, which may be another one.
    return min(attempt.began + facts_of(attempt.context).waited, end)
