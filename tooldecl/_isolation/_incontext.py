"""
Await something in the current task, in another copy of the context variables.
"""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from contextvars import Context
from typing import Any, final


@final
class InContext:
    """
    An awaitable that runs each step of a coroutine in a given context.

    No task is made for it, and what the coroutine sets does not leak to the caller.
    """

    __slots__ = ("_coroutine", "_run")

    def __init__(self, coroutine: Awaitable[None], variables: Context) -> None:
        self._coroutine = coroutine
        self._run = variables.run

    def __await__(self) -> Generator[Any, Any, None]:
        run = self._run
        steps: Any = self._coroutine.__await__()
        step, sent = steps.send, None
        while True:
            try:
                waited = run(step, sent)
            except StopIteration:
                return
            try:
                sent = yield waited
                step = steps.send
            except GeneratorExit:
                run(steps.close)
                raise
            except BaseException as error:  # handed to the body, as `yield from` would
                step, sent = steps.throw, error
