"""
What runs the body of an attempt.

Invariants:

1. An outcome is a value, never an exception in flight: the body's own exception is
   stored, so a StopIteration or a CancelledError of the tool cannot be taken for ours.
2. The body runs in a copy of the caller's context variables; a copy serves one attempt.
3. `Attempt.finished` is set by the side that runs the body, right when it ends. Whether
   it ended in time is decided by that moment and the deadline, never by who woke first.
"""

from __future__ import annotations

import sys

from collections.abc import AsyncGenerator, Awaitable, Generator
from typing import Any

from .._clock import monotonic
from .._context import CURRENT
from ._attempt import Attempt
from ._awaiting import (
    PLAIN,
    is_async_generator,
    is_awaitable,
    is_generator,
    on_its_loop,
)


class GeneratorTooLong(Exception):  # noqa: N818 (a signal between two of our own frames)
    """
    A generator's text passed the limit while it was being consumed.
    """

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


class BodyStopped(Exception):  # noqa: N818 (as above)
    """
    A generator was closed between two items, after its deadline or its call's answer.
    """


def run_body(attempt: Attempt) -> None:
    """
    Run a body to its end on this thread, in the attempt's copy of the context variables.
    """
    attempt.variables.run(_run_body, attempt)


def _run_body(attempt: Attempt) -> None:
    if not attempt.aside:
        CURRENT.set(attempt.context)
    attempt.started = True
    try:
        value: Any = attempt.call(attempt.values, attempt.context)
        if type(value) not in PLAIN and is_generator(value):
            value = _consume(value, attempt)
        attempt.value = value
    except BaseException as error:  # the outcome is a value (invariant 1)
        attempt.error = _without_our_frame(error)
    attempt.finished = monotonic()


async def arun_body(attempt: Attempt) -> None:
    """
    Run a body to its end on the running loop, awaiting what it returns.
    """
    if not attempt.aside:
        CURRENT.set(attempt.context)
    attempt.started = True
    try:
        value: Any = attempt.call(attempt.values, attempt.context)
        if is_awaitable(value):
            value = await on_its_loop(value)
        if type(value) not in PLAIN:
            if is_async_generator(value):
                value = await _aconsume(value, attempt)
            elif is_generator(value):
                value = _consume(value, attempt)
        attempt.value = value
    except BaseException as error:  # the outcome is a value (invariant 1)
        attempt.error = _without_our_frame(error)
    attempt.finished = monotonic()


def _without_our_frame(error: BaseException) -> BaseException:
    """
    Begin the traceback that the host reads with the tool's frames, not with ours.
    """
    traceback = error.__traceback__

    return error.with_traceback(traceback.tb_next if traceback else None)


class _Items:
    """
    What a generator yielded so far: all text is joined, anything else makes a list.
    """

    __slots__ = ("_attempt", "_items", "_size", "_text")

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._items: list[object] = []
        self._size = 0
        self._text = True

    def add(self, item: object) -> None:
        if self._attempt.stop:
            raise BodyStopped
        self._items.append(item)
        if isinstance(item, str):
            self._size += len(item)
        else:
            self._text = False
            self._size += 1
        if self._attempt.limit is not None and self._size > self._attempt.limit:
            raise GeneratorTooLong(self._size)

    def value(self) -> object:
        if self._text and self._items:
            return "".join(map(str, self._items))

        return self._items


def _consume(generator: Generator[Any, Any, Any], attempt: Attempt) -> object:
    items = _Items(attempt)
    try:
        for item in generator:
            items.add(item)
    finally:
        generator.close()

    return items.value()


async def _aconsume(generator: AsyncGenerator[Any, Any], attempt: Attempt) -> object:
    items = _Items(attempt)
    try:
        step = _first_step(generator)
        while True:
            try:
                item = await step
            except StopAsyncIteration:
                break
            # One that never waits lets no timer of its loop run either.
            if attempt.remaining() == 0.0:
                raise BodyStopped
            items.add(item)
            step = generator.__anext__()
    finally:
        await generator.aclose()

    return items.value()


def _first_step(generator: AsyncGenerator[Any, Any]) -> Awaitable[Any]:
    """
    Begin a generator without telling its loop, which would close it at its own end.

    It is closed here; and one that was abandoned is in the middle of a step, where
    closing it is an error that asyncio would log.
    """
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(firstiter=None, finalizer=None)
    try:
        return generator.__anext__()
    finally:
        sys.set_asyncgen_hooks(*hooks)
