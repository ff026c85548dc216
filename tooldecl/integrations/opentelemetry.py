"""
Calls as spans and a metric, by OpenTelemetry's conventions for generative AI.

The matching page is docs/how-to/observe-calls.md.
"""

from __future__ import annotations

import os

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import final


try:
    from opentelemetry import context, metrics, propagate, trace
except ImportError as error:
    raise ImportError(
        "tooldecl.integrations.opentelemetry needs opentelemetry-api. Install the extra "
        'that brings it: pip install "tooldecl[otel]"'
    ) from error

from ..telemetry import (
    ApprovalDecided,
    AttemptFailed,
    CallFinished,
    CallStarted,
    Event,
    LateFinish,
    LoopBlocked,
)
from ._conventions import (
    ARGUMENTS,
    BUCKETS,
    CAPTURE,
    CAPTURES,
    DURATION,
    ERROR_TYPE,
    RESULT,
    arguments_text,
    described,
    error_type,
    kind_of,
    named,
    without_none,
)
from ._spans import OpenCall, OpenCalls


__all__ = ["OpenTelemetryHook"]


def _version() -> str:
    try:
        return version("tooldecl")
    except PackageNotFoundError:  # a checkout that nobody has installed
        return ""


@final
class OpenTelemetryHook:
    """
    A hook that makes a span of each call, and measures how long it took.

    The span is the current one in the filters and the body, also in a worker process.
    One hook may serve any number of clients, threads and loops.

    Args:
        tracer_provider: Makes the spans; the global one if None.
        meter_provider: Makes the metric; the global one if None.
        capture_content: Whether spans have the arguments and the result of a call, but
            those of tools declared *sensitive*; if None, as the environment variable
            OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT says, and it is not there,
            no.

    Raises:
        TypeError: *capture_content* is neither True, False nor None.
    """

    __slots__ = ("_calls", "_captures", "_duration", "_tracer")

    def __init__(
        self,
        *,
        tracer_provider: trace.TracerProvider | None = None,
        meter_provider: metrics.MeterProvider | None = None,
        capture_content: bool | None = None,
    ) -> None:
        if capture_content is None:
            capture_content = os.environ.get(CAPTURE, "").lower() in CAPTURES
        given: object = capture_content
        if not isinstance(given, bool):
            raise TypeError(
                f"capture_content takes True, False or None, got {given!r}."
            )
        self._captures = capture_content
        self._tracer = trace.get_tracer("tooldecl", _version(), tracer_provider)
        meter = metrics.get_meter("tooldecl", _version(), meter_provider)
        self._duration = meter.create_histogram(
            DURATION,
            unit="s",
            description="How long a call of a tool took, with all its attempts.",
            explicit_bucket_boundaries_advisory=BUCKETS,
        )
        self._calls = OpenCalls()

    def __call__(self, event: Event) -> None:
        match event:
            case CallStarted():
                self._start(event)
            case CallFinished():
                self._finish(event)
            case AttemptFailed():
                self._attempt_failed(event)
            case LateFinish():
                kind = None if event.error is None else kind_of(event.error)
                self._calls.end_late(event, kind)
            case ApprovalDecided():
                self._note(event, "tooldecl.approval", {"decision": event.decision})
            case LoopBlocked():
                seconds = {"blocked_for": event.blocked_for}
                self._note(event, "tooldecl.loop_blocked", seconds)
            case _:
                pass

    def _start(self, event: CallStarted) -> None:
        attributes = described(event)
        if self._may_show(event):
            text = arguments_text(event)
            if text is not None:
                attributes[ARGUMENTS] = text
        name = f"execute_tool {event.meta.name}" if event.meta else "execute_tool"
        self._calls.open(event, self._tracer, name, attributes)

    def _may_show(self, event: CallStarted) -> bool:
        # A tool that there is none of may be a sensitive one, misspelt.
        return self._captures and event.meta is not None and not event.meta.sensitive

    def _finish(self, event: CallFinished) -> None:
        result, call = event.result, self._calls.find(event)
        kind = error_type(result)
        measured = {**named(call.meta if call else None)}
        if kind is not None:
            measured[ERROR_TYPE] = kind
        where = None if call is None else call.context
        self._duration.record(max(0.0, result.elapsed), measured, where)
        if call is None:
            return
        try:
            if call.span.is_recording():
                self._describe_end(call, event, kind)
        finally:
            self._calls.close(call)

    def _describe_end(
        self, call: OpenCall, event: CallFinished, kind: str | None
    ) -> None:
        result, span = event.result, call.span
        if result.attempts:
            last: dict[str, str | float | None] = {
                "number": result.attempts,
                "fate": result.fate.value,
                "queue_wait": result.queue_wait,
                "error_class": result.error_class,
                ERROR_TYPE: kind,
            }
            span.add_event("tooldecl.attempt", without_none(last))
            if result.fate == "abandoned":
                call.leave_behind(result.attempts)
        span.set_attributes(
            {
                "tooldecl.status": result.status.value,
                "tooldecl.fate": result.fate.value,
                "tooldecl.attempts": result.attempts,
                "tooldecl.queue_wait": result.queue_wait,
                "tooldecl.truncated": result.truncated,
            }
        )
        shows = self._captures and not call.is_sensitive
        if shows and result.status in ("ok", "not_found"):
            span.set_attribute(RESULT, result.content)
        if kind is None:
            return
        span.set_attribute(ERROR_TYPE, kind)
        span.set_status(trace.StatusCode.ERROR, result.status.value)
        cause = None if result.error is None else result.error.__cause__
        if shows and cause is not None:
            span.record_exception(cause)

    def _attempt_failed(self, event: AttemptFailed) -> None:
        call = self._calls.find(event)
        if call is None or not call.span.is_recording():
            return
        fate = getattr(event.error, "fate", "completed")
        if fate == "abandoned":
            call.leave_behind(event.attempt)
        if event.retry_in is not None:  # the end of the call tells of the last one
            failed: dict[str, str | float | None] = {
                "number": event.attempt,
                "fate": str(fate),
                "error_class": event.error_class,
                "retry_in": event.retry_in,
                ERROR_TYPE: kind_of(event.error),
            }
            call.span.add_event("tooldecl.attempt", without_none(failed))

    def _note(
        self,
        event: ApprovalDecided | LoopBlocked,
        name: str,
        facts: Mapping[str, str | float],
    ) -> None:
        call = self._calls.find(event)
        if call is not None:
            call.span.add_event(name, dict(facts))

    def carry(self) -> Mapping[str, str]:
        """
        Return the trace that is current, as W3C headers, for a body in a worker process.
        """
        headers: dict[str, str] = {}
        propagate.inject(headers)

        return headers

    @staticmethod
    def restore(values: Mapping[str, str], /) -> None:
        """
        Go on with a trace in a worker process.
        """
        context.attach(propagate.extract(dict(values)))
