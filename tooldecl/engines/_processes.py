"""
Every body in a worker process, which can be killed with all that it started.
"""

from __future__ import annotations

from datetime import timedelta
from typing import final

from .._meta import Isolation
from .._sentinels import UNSET, Unset
from ..exceptions import DeclarationError
from ._options import checked_count
from ._plan import OverLimit
from ._window import WindowEngine


__all__ = ["ProcessEngine"]


@final
class ProcessEngine(WindowEngine):
    """
    Runs calls side by side, each body in a warm worker process.

    At a deadline the worker is killed with everything it started, and the answer says
    so. Only JSON crosses: a result's value is its JSON form, context variables and
    ``deps`` do not cross, and a tool has to be found by its name in a module.

    Args:
        timeout: Seconds for tools that declare no timeout, or None.
        max_concurrency: How many workers there are at most.
        over_limit: As for every engine.
        max_abandoned: As for every engine; counts what even a kill did not end.
        memory_limit: Bytes of address space that a body may take on top of what its
            worker has, or None. What needs more is that call's error.
        recycle: A worker is replaced after so many calls, None keeps it. What a tool
            keeps in its module lives as long as its worker does.

    Raises:
        DeclarationError: An option has a value that is none of these.
    """

    default_isolation: Isolation | None = "process"

    def __init__(
        self,
        *,
        timeout: float | timedelta | None = None,
        max_concurrency: int | Unset = UNSET,
        over_limit: OverLimit = "queue",
        max_abandoned: int | None = None,
        memory_limit: int | None = None,
        recycle: int | None = None,
    ) -> None:
        super().__init__(
            timeout=timeout,
            max_concurrency=max_concurrency,
            over_limit=over_limit,
            max_abandoned=max_abandoned,
        )
        if self.max_concurrency is None:
            raise DeclarationError(
                "ProcessEngine(max_concurrency=...) takes a whole number from 1: there "
                "are always so many workers at most."
            )
        self.memory_limit = checked_count(self, "memory_limit", memory_limit)
        self.recycle = checked_count(self, "recycle", recycle)
