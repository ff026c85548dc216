"""
A filter that waits: an object that is given the request and how to go on.

The onion is one generator for both colours; it yields a `Surround` where such a filter
stands, and the driver of the colour runs it.

Invariants:

1. What is inside of a filter runs once at a time, and only while the filter does.
2. What may not be contained passes a filter, whatever the filter makes of it.
"""

from __future__ import annotations

import asyncio
import threading

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

    @property
    def is_sync(self) -> bool:
        """
        Whether it can be called from sync code.
        """
        return callable(getattr(self.layer, "around", None))

    @property
    def is_async(self) -> bool:
        """
        Whether it can be awaited.
        """
        return callable(getattr(self.layer, "aaround", None))


@final
class Surround:
    """
    One pass of a filter object; safe to use from any thread.

    Attributes:
        cancelled: Tells whether the filter was cancelled, and has not said that this was
            its own doing.
        filter: The filter.
        request: What it gets.
        value: What it returned.
        error: What it raised.
        stopped: How its run was ended, where it did not come to its own end.
        result: What was inside of it when it last went on.
        escaped: What came out of there that no filter may keep.
        is_over: Whether it has ended, so that nothing inside of it may begin.
        stop: Ends what runs inside, where that is on a thread of its own.
        tasks: Those of the filter's own that what is inside runs in.
    """

    __slots__ = (
        "_back",
        "_busy",
        "_inner",
        "cancelled",
        "error",
        "escaped",
        "filter",
        "is_over",
        "request",
        "result",
        "stop",
        "stopped",
        "tasks",
        "value",
    )

    def __init__(
        self,
        layer: Waiting,
        request: ToolRequest,
        inner: Callable[[ToolRequest], InnerFlow],
    ) -> None:
        self.filter = layer
        self.cancelled: Callable[[], bool] = lambda: False
        self.request = request
        self.value: object = None
        self.error: BaseException | None = None
        self.stopped: Any = None
        self.result: ToolResult | None = None
        self.escaped: BaseException | None = None
        self.is_over = False
        self.stop: Callable[[], None] | None = None
        self.tasks: set[asyncio.Task[Any]] = set()
        self._inner = inner
        self._busy = False
        self._back = threading.Condition()

    def begin(self, request: object) -> InnerFlow:
        """
        Return what is inside, to be driven; `end` says that it has been.

        Raises:
            TypeError: It was given no request.
            RuntimeError: The filter is over, or has gone on and not come back.
            CancelledError: The filter was cancelled, and has kept that to itself.
        """
        if not isinstance(request, ToolRequest):
            kind = type(request).__name__
            raise TypeError(f"call_next takes a ToolRequest, got {kind}.")
        if self.cancelled():
            raise asyncio.CancelledError
        with self._back:
            if self.is_over:
                raise RuntimeError("The filter has ended: its call has an answer.")
            if self._busy:
                raise RuntimeError("call_next is running: one run after the other.")
            self._busy = True

        return self._into(request)

    def _into(self, request: ToolRequest) -> InnerFlow:
        result = yield from self._inner(request)
        self.result = result

        return result

    def end(self) -> None:
        """
        Say that what was inside has come back, in whatever way.
        """
        with self._back:
            self._busy = False
            self._back.notify_all()

    def leave(self) -> bool:
        """
        Let nothing begin inside any more; tell whether something still runs there.
        """
        with self._back:
            self.is_over = True
            busy, stop = self._busy, self.stop
        if busy and stop is not None:
            stop()

        return busy

    @property
    def has_given_up(self) -> bool:
        """
        Whether the filter has cancelled what runs inside, and waits for it no more.
        """
        tasks = tuple(self.tasks)

        return bool(tasks) and all(task.cancelling() for task in tasks)

    def wait_until_back(self, seconds: float) -> None:
        """
        Wait until nothing runs inside, for a time.
        """
        with self._back:
            self._back.wait_for(lambda: not self._busy, seconds)

    def check(self) -> None:
        """
        Let through what may not be kept.

        Raises:
            BaseException: What came out from inside.
        """
        if self.escaped is not None:
            raise self.escaped
