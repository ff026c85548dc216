"""
Compose filters around a call, the first in the list outermost.

A filter is a generator function, which is why one form serves both colours: it yields
the request to let the call go on, receives the result, and returns one. One that has to
wait is an object with ``around(request, call_next)``, or ``aaround`` to be awaited.

A filter that fails, in whatever way, blocks the call, or loses its result where the body
has run; the layers outside of it see that result. Its clean-up runs in every case.
"""

from __future__ import annotations

import inspect

from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import Any, Protocol, TypeAlias

from .._calls import ToolRequest, ToolResult
from .._policy import shown
from ..exceptions import DeclarationError
from ._surround import InnerFlow, Surround, Waiting


__all__ = ["Filter"]


class SyncAround(Protocol):
    """
    A filter that waits, in sync code.
    """

    def around(
        self, request: ToolRequest, call_next: Callable[[ToolRequest], ToolResult]
    ) -> object:
        """
        Return the result, of ``call_next(request)`` or of one's own.
        """
        ...


class AsyncAround(Protocol):
    """
    A filter that waits, in async code.
    """

    async def aaround(
        self,
        request: ToolRequest,
        call_next: Callable[[ToolRequest], Awaitable[ToolResult]],
    ) -> object:
        """
        Return the result, of ``await call_next(request)`` or of one's own.
        """
        ...


FlowFilter: TypeAlias = Callable[[ToolRequest], Generator[ToolRequest, ToolResult, Any]]
Filter: TypeAlias = FlowFilter | SyncAround | AsyncAround
Layered: TypeAlias = FlowFilter | Waiting

Layer: TypeAlias = Generator[ToolRequest, ToolResult, Any]


class Around(Protocol):
    """
    What the onion needs of the call in its middle.
    """

    def filter_returned(
        self, name: str, value: object, inner: ToolResult | None
    ) -> ToolResult:
        """
        Make the result of a call whose filter *name* returned *value*.
        """
        ...

    def filter_failed(self, name: str, error: BaseException | None) -> ToolResult:
        """
        Make the result of a call whose filter *name* failed.

        Raises:
            BaseException: *error* itself, when it may not be contained.
        """
        ...

    def filter_stopped(self, name: str, stopped: Any) -> ToolResult:
        """
        Make the result of a call whose filter *name* was ended before it came to an end.
        """
        ...

    def cleanup_failed(self, name: str, error: Exception) -> None:
        """
        Note that filter *name* failed after its part in the call was over.
        """
        ...


def check_filter(candidate: object) -> Layered:
    """
    Return *candidate* as a filter of the onion.

    Raises:
        DeclarationError: It is none.
    """
    given: Any = candidate
    if inspect.isgeneratorfunction(given):
        flow: FlowFilter = given
        return flow
    around = getattr(given, "around", None)
    aaround = getattr(given, "aaround", None)
    if isinstance(given, type) or not (callable(around) or callable(aaround)):
        raise DeclarationError(
            "A filter is a generator function that takes the request, or an object with "
            f"around(request, call_next) or aaround(...), got {shown(candidate)}."
        )
    if inspect.iscoroutinefunction(around):
        raise DeclarationError(
            f"around() of the filter {shown(candidate)} is async: call it aaround()."
        )
    for form in (around, aaround):
        if inspect.isgeneratorfunction(form) or inspect.isasyncgenfunction(form):
            raise DeclarationError(
                f"{form.__name__}() of the filter {shown(candidate)} yields: it awaits or "
                "calls call_next(request), and returns the result."
            )
    if callable(aaround) and not inspect.iscoroutinefunction(aaround):
        raise DeclarationError(
            f"aaround() of the filter {shown(candidate)} is not async: call it around()."
        )

    return Waiting(given)


def through(
    filters: Sequence[Layered],
    request: ToolRequest,
    inner: Callable[[ToolRequest], InnerFlow],
    call: Around,
) -> InnerFlow:
    """
    Run *request* through *filters* and then *inner*.
    """
    if not filters:
        return (yield from inner(request))

    outermost, rest = filters[0], filters[1:]
    name = _name(outermost.layer if isinstance(outermost, Waiting) else outermost)
    if isinstance(outermost, Waiting):
        surround = Surround(
            outermost, request, lambda changed: through(rest, changed, inner, call)
        )
        yield surround
        if surround.stopped is not None:
            return call.filter_stopped(name, surround.stopped)
        if surround.error is not None:
            _drop_our_frames(surround.error)
            return call.filter_failed(name, surround.error)
        return call.filter_returned(name, surround.value, surround.result)

    result: ToolResult | None = None
    layer: Layer | None = None
    try:
        while True:
            try:
                if layer is None:
                    layer = outermost(request)
                over, sent = _advance(layer, result)
            except BaseException as error:  # whatever it is, the call does not go on
                _drop_our_frames(error)
                return call.filter_failed(name, error)
            if over:
                return call.filter_returned(name, sent, result)
            if not isinstance(sent, ToolRequest):
                return call.filter_failed(name, None)
            result = yield from through(rest, sent, inner, call)
    finally:
        # A filter's error keeps this frame, and must not keep the results by it.
        result = sent = None
        if layer is not None:
            _close(layer, name, call)


def _advance(layer: Layer, result: ToolResult | None) -> tuple[bool, object]:
    """
    Let a filter go on; tell whether it is over, and what it yielded or returned.
    """
    try:
        return False, next(layer) if result is None else layer.send(result)
    except StopIteration as stop:
        return True, stop.value


def _close(layer: Layer, name: str, call: Around) -> None:
    """
    Let a filter clean up; what it raises then must not take the place of the outcome.
    """
    try:
        layer.close()
    except Exception as error:
        _drop_our_frames(error)
        call.cleanup_failed(name, error)


def _drop_our_frames(error: BaseException) -> None:
    """
    Take off the frames that hold the call, which would keep the error and itself alive.
    """
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_globals is globals():
        traceback = traceback.tb_next
    error.__traceback__ = traceback


def _name(layer: object) -> str:
    return getattr(layer, "__qualname__", None) or type(layer).__name__
