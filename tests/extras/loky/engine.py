"""
An engine over loky's executor, renewed as the page shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from loky import get_reusable_executor

from recipes import recipe
from tooldecl.engines import ExecutorEngine


WORKERS = 8
# Longer than a session: a worker that has nothing to do is not replaced meanwhile.
IDLE = 3600

_held: list[Any] = []


def get_executor() -> Any:
    """
    Return the executor of this thread, or a new one where that is broken.
    """
    return get_reusable_executor(max_workers=WORKERS, timeout=IDLE)


@contextmanager
def running() -> Iterator[None]:
    """
    Have the workers, and end them.
    """
    executor = recipe("renewed").Renewed(get_executor)
    executor.submit(int).result()
    _held.append(executor)
    yield
    _held.pop().shutdown(kill_workers=True)


def make(**options: Any) -> ExecutorEngine:
    """
    Make an engine over it.
    """
    return ExecutorEngine(_held[0], **options)
