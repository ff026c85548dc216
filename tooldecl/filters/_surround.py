"""
A filter that waits: an object that is given the request and how to go on.

The onion is one generator for both colours; it yields a `Surround` where such a filter
stands, and the driver of the colour runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeAlias, final

from .._calls import ToolRequest, ToolResult


InnerFlow: TypeAlias = Generator[Any, None, ToolResult]


@final
class Waiting:
    """
    A filter object, checked.
    """

    __slots__ = ("layer",)

    def __init__(self, layer: Any) -> None:
        self.layer = layer


@final
class Surround:
    """
    One pass of a filter object.

    Attributes:
        layer: The filter.
        request: What it gets.
        value: What it returned.
        error: What it raised.
        result: What was inside of it when it last went on.
        escaped: What came out of there that no filter may keep.
    """

    __slots__ = (
        "_busy",
        "_inner",
        "_over",
        "error",
        "escaped",
        "layer",
        "request",
        "result",
        "value",
    )

    def __init__(
        self,
        layer: Any,
        request: ToolRequest,
        inner: Callable[[ToolRequest], InnerFlow],
    ) -> None:
        self.layer = layer
        self.request = request
        self.value: object = None
        self.error: BaseException | None = None
        self.result: ToolResult | None = None
        self.escaped: BaseException | None = None
        self._inner = inner
        self._busy = False
        self._over = False

    def begin(self, request: object) -> InnerFlow:
        """
        Return what is inside, to be driven; `end` says that it has been.

        Raises:
            TypeError: It was given no request.
            RuntimeError: The filter is over, or has gone on and not come back.
        """
        if not isinstance(request, ToolRequest):
            kind = type(request).__name__
            raise TypeError(f"call_next takes a ToolRequest, got {kind}.")
        if self._over:
            raise RuntimeError("The filter has returned: its call has an answer.")
        if self._busy:
            raise RuntimeError("call_next is running: one run after the other.")
        self._busy = True

        return self._into(request)

    def _into(self, request: ToolRequest) -> InnerFlow:
        try:
            self.result = yield from self._inner(request)
        finally:
            self._busy = False

        return self.result

    def close(self) -> None:
        """
        Say that the filter is over.

        Raises:
            BaseException: What came out from inside and may not be kept.
        """
        self._over = True
        if self.escaped is not None:
            raise self.escaped
