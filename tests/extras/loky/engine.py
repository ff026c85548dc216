"""
An engine over loky's reusable executor, as the page shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

from loky import get_reusable_executor

from tooldecl.engines import ExecutorEngine


WORKERS = 10
# Longer than a session: a worker that has nothing to do is not replaced meanwhile.
IDLE = 3600


class Reusable(Executor):
    """
    The executor that there is, or the one that loky makes when that has broken.
    """

    def submit(self, function: Any, /, *args: Any) -> Future[Any]:
        """
        Submit to what is there now.
        """
        return get_reusable_executor(max_workers=WORKERS, timeout=IDLE).submit(
            function, *args
        )


@contextmanager
def running() -> Iterator[None]:
    """
    Have the workers, and end them.
    """
    Reusable().submit(int).result()
    yield
    get_reusable_executor(max_workers=WORKERS, timeout=IDLE).shutdown(kill_workers=True)


def make(**options: Any) -> ExecutorEngine:
    """
    Make an engine over it.
    """
    return ExecutorEngine(Reusable(), **options)
