"""
Compose filters around a call, the first in the list outermost.

A filter is a generator function, which is why one form serves both colours: it yields
the request to let the call go on, receives the result, and returns one.
"""

from __future__ import annotations

import inspect

from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from .._calls import ToolRequest, ToolResult
from ..exceptions import DeclarationError, NotAvailableError


__all__ = ["Filter"]

Filter: TypeAlias = Callable[[ToolRequest], Generator[ToolRequest, ToolResult, Any]]

StepT = TypeVar("StepT")
Flow: TypeAlias = Generator[StepT, None, ToolResult]


class Around(Protocol):
    """
    What the onion needs of the call in its middle.
    """

    def wrap(self, value: object) -> ToolResult:
        """
        Make a result of a value that a filter returned.
        """
        ...

    def filter_failed(
        self, name: str, error: Exception | None, result: ToolResult | None
    ) -> ToolResult:
        """
        Make the result of a call whose filter *name* failed.

        Raises:
            BaseException: *error* itself, when it may not be contained.
        """
        ...


def check_filter(candidate: object) -> Filter:
    """
    Return *candidate* as a filter.

    Raises:
        DeclarationError: It is no generator function.
    """
    if inspect.isgeneratorfunction(candidate):
        return candidate
    if hasattr(candidate, "around") or hasattr(candidate, "aaround"):
        raise NotAvailableError(option="A filter object with around() or aaround()")

    raise DeclarationError(
        f"A filter is a generator function that takes the request, got {candidate!r}."
    )


def through(
    filters: Sequence[Filter],
    request: ToolRequest,
    inner: Callable[[ToolRequest], Flow[StepT]],
    call: Around,
) -> Flow[StepT]:
    """
    Run *request* through *filters* and then *inner*.

    A filter that fails blocks the call, or loses its result where the call has run;
    the layers outside of it see that result.
    """
    if not filters:
        return (yield from inner(request))

    layer, rest = filters[0], filters[1:]
    result: ToolResult | None = None
    generator: Generator[ToolRequest, ToolResult, Any] | None = None
    try:
        while True:
            try:
                if generator is None or result is None:
                    generator = layer(request)
                    sent = next(generator)
                else:
                    sent = generator.send(result)
            except StopIteration as stop:
                return _returned(layer, stop.value, result, call)
            except Exception as error:  # a filter that fails must not let a call through
                return call.filter_failed(_name(layer), error, result)
            if not isinstance(sent, ToolRequest):
                return call.filter_failed(_name(layer), None, result)
            result = yield from through(rest, sent, inner, call)
    finally:
        if generator is not None:
            generator.close()


def _returned(
    layer: Filter, value: object, result: ToolResult | None, call: Around
) -> ToolResult:
    """
    Take what a filter returned; None is a forgotten ``return``, never an answer.
    """
    if isinstance(value, ToolResult):
        return value
    if value is None:
        return call.filter_failed(_name(layer), None, result)

    return call.wrap(value)


def _name(layer: object) -> str:
    return getattr(layer, "__qualname__", None) or type(layer).__name__
