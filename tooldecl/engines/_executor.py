"""
Bodies wherever an executor of the host's own takes them.
"""

from __future__ import annotations

from concurrent.futures import Executor
from datetime import timedelta
from typing import final

from .._processes import ExecutorTransport
from .._sentinels import UNSET, Unset
from ..exceptions import DeclarationError
from ._away import AwayEngine
from ._plan import OverLimit


__all__ = ["ExecutorEngine"]


@final
class ExecutorEngine(AwayEngine):
    """
    Runs each body where an executor takes it, in a killable process on that machine.

    An attempt goes out by reference (``module:qualname``), with its arguments in JSON
    and its limits. Whatever runs it there, a thread or a process of another machine,
    starts a worker process of tooldecl beside itself, whose clock begins with the body
    and which is killed at the deadline. Order, retries, serial groups, budgets and
    state stay in the client. As for `ProcessEngine`, only JSON crosses.

    What an executor loses (a dead worker or node) is ``worker_died``: it may have run.

    Args:
        executor: Any ``concurrent.futures.Executor``; it stays its owner's to shut down.
            Where it runs calls, tooldecl and the tools' modules must be importable.
        timeout: Seconds for tools that declare no timeout, or None. They begin with the
            body: what a call waits for the executor is its ``queue_wait``.
        max_concurrency: How many calls are with the executor at once; None has no limit.
        over_limit: As for every engine.
        max_abandoned: As for every engine.
        expires: Seconds within which the executor has to begin an attempt, by the
            clock of the machine that does; after that it is not begun any more and the
            call is ``busy``. An answer that does not come although its time is over is
            ``worker_died``. None waits for the executor however long it takes.

    Raises:
        DeclarationError: An option has a value that is none of these.
    """

    def __init__(
        self,
        executor: Executor,
        *,
        timeout: float | timedelta | None = None,
        max_concurrency: int | None | Unset = UNSET,
        over_limit: OverLimit = "queue",
        max_abandoned: int | None = None,
        expires: float | timedelta | None = None,
    ) -> None:
        if not callable(getattr(executor, "submit", None)):
            raise DeclarationError(
                "ExecutorEngine(executor) takes an executor, which has submit(); got "
                f"{type(executor).__name__}."
            )
        super().__init__(
            ExecutorTransport(executor),
            timeout=timeout,
            max_concurrency=max_concurrency,
            over_limit=over_limit,
            max_abandoned=max_abandoned,
            expires=expires,
        )
        self.executor = executor
