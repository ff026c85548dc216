"""
Await something in the current task, in another copy of the context variables.
"""

from __future__ import annotations

import types

from collections.abc import Coroutine, Generator
from contextvars import Context
from typing import Any


@types.coroutine
def in_context(
    coroutine: Coroutine[object, object, None], variables: Context
) -> Generator[object, object, None]:
    """
    Run each step of a coroutine in a given context.

    No task is made for it, and what the coroutine sets does not leak to the caller.
    """
    run = variables.run
    step: Any = coroutine.send
    sent: object = None
    while True:
        try:
            waited = run(step, sent)
        except StopIteration:
            return
        try:
            sent = yield waited
            step = coroutine.send
        except GeneratorExit:
            run(coroutine.close)
            raise
        except BaseException as error:  # handed to the body, as `yield from` would
            step, sent = coroutine.throw, error
