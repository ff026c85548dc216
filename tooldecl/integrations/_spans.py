"""
The calls that have a span, and how an event finds its own.

Invariants:

1. What is opened at the start of a call is made current in the context variables of its
   caller, and taken back there at its end; in any other place nothing is changed.
2. An event finds its call by the context it is told in, else by id: ids come from models,
   and two calls at once may have the same one. Several hooks stand one inside the other.
3. A span that has ended is not touched; what comes after is a span of its own.
"""

from __future__ import annotations

import threading

from collections.abc import Mapping
from typing import TypeAlias, final

from opentelemetry import context, trace

from .. import ToolMeta
from ..telemetry import (
    ApprovalDecided,
    AttemptFailed,
    CallFinished,
    CallStarted,
    LateFinish,
    LoopBlocked,
)
from ._conventions import ERROR_TYPE, named


_KEY = context.create_key("tooldecl")

OfCall: TypeAlias = (
    ApprovalDecided | AttemptFailed | CallFinished | LateFinish | LoopBlocked
)


@final
class OpenCall:
    """
    One call and its span.

    Attributes:
        context: What is current in its body.
        is_over: Whether its span has ended.
    """

    __slots__ = (
        "_early",
        "_left",
        "_lock",
        "_tails",
        "_tracer",
        "call_id",
        "context",
        "is_over",
        "meta",
        "name",
        "outer",
        "span",
    )

    def __init__(
        self,
        event: CallStarted,
        tracer: trace.Tracer,
        span: trace.Span,
        outer: context.Context,
    ) -> None:
        self.call_id = event.call_id
        self.name = event.name
        self.meta: ToolMeta | None = event.meta
        self.span = span
        self.outer = outer
        self.context = outer
        self.is_over = False
        self._tracer = tracer
        # Of this call alone, so that no forked child can find it taken by nobody.
        self._lock = threading.Lock()
        self._left = 0
        self._tails: list[trace.Span] = []
        self._early: list[tuple[float, str | None]] = []

    @property
    def is_sensitive(self) -> bool:
        """
        Whether nothing of its values may be shown.
        """
        return self.meta is None or self.meta.sensitive

    @property
    def has_tails(self) -> bool:
        """
        Whether a body of it may still be running.
        """
        return bool(self._tails)

    def leave_behind(self, attempt: int) -> None:
        """
        Begin a span for the body of an attempt that was given up and runs on.
        """
        with self._lock:
            if attempt <= self._left:
                return
            self._left = attempt
            attributes: dict[str, str | int] = {**named(self.meta)}
            attributes["tooldecl.attempt"] = attempt
            tail = self._tracer.start_span(
                f"abandoned {self.name}", self.context, attributes=attributes
            )
            self._tails.append(tail)
            if self._early:
                self._end_tail(*self._early.pop())

    def ended_late(self, late_by: float, kind: str | None) -> None:
        """
        End the span of a body that was given up; it may have been faster than the news.
        """
        with self._lock:
            if self._tails:
                self._end_tail(late_by, kind)
            else:
                self._early.append((late_by, kind))

    def _end_tail(self, late_by: float, kind: str | None) -> None:
        tail = self._tails.pop(0)
        tail.set_attribute("tooldecl.late_by", late_by)
        if kind is not None:
            tail.set_attribute(ERROR_TYPE, kind)
            tail.set_status(trace.StatusCode.ERROR)
        tail.end()


@final
class OpenCalls:
    """
    The calls of one hook; safe to use from any thread, and in a forked child.
    """

    __slots__ = ("_calls",)

    def __init__(self) -> None:
        # Each step on it is one of the interpreter's own: there is no lock to fork.
        self._calls: dict[int, OpenCall] = {}

    def open(
        self,
        event: CallStarted,
        tracer: trace.Tracer,
        name: str,
        attributes: Mapping[str, str],
    ) -> None:
        """
        Begin the span of a call, and make it the current one.
        """
        outer = _outside(context.get_current())
        span = tracer.start_span(name, outer, attributes=dict(attributes))
        call = OpenCall(event, tracer, span, outer)
        inner = trace.set_span_in_context(span, outer)
        call.context = context.set_value(_KEY, call, inner)
        self._calls[id(call)] = call
        context.attach(call.context)

    def close(self, call: OpenCall) -> None:
        """
        End the span of a call, and make current what was before.
        """
        call.is_over = True
        if context.get_current() is call.context:
            context.attach(_outside(call.context))
        self._forget(call)
        call.span.end()  # last: an exporter of the host's may raise

    def find(self, event: OfCall) -> OpenCall | None:
        """
        Return the call of an event whose span has not ended.
        """
        here = _of(context.get_current())
        while here is not None:
            if id(here) in self._calls and not here.is_over and _is_of(here, event):
                return here
            here = _of(here.outer)
        found = (c for c in self._listed() if not c.is_over and _is_of(c, event))

        return next(found, None)

    def end_late(self, event: LateFinish, kind: str | None) -> None:
        """
        End the span of a body that was given up; *kind* is what it raised, if anything.
        """
        found = [call for call in self._listed() if _is_of(call, event)]
        for call in sorted(found, key=lambda call: not call.has_tails)[:1]:
            call.ended_late(event.late_by, kind)
            if call.is_over:
                self._forget(call)

    def _listed(self) -> list[OpenCall]:
        return list(self._calls.values())

    def _forget(self, call: OpenCall) -> None:
        if not call.has_tails:
            self._calls.pop(id(call), None)


def _of(where: context.Context) -> OpenCall | None:
    found = context.get_value(_KEY, where)

    return found if isinstance(found, OpenCall) else None


def _outside(where: context.Context) -> context.Context:
    """
    Return what is current outside of calls that are over.
    """
    while (call := _of(where)) is not None:
        if not call.is_over or call.context is not where:
            break
        where = call.outer

    return where


def _is_of(call: OpenCall, event: OfCall) -> bool:
    return call.call_id == event.call_id and call.name == event.name
