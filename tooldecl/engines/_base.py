"""
What an engine is: when the calls of a batch run, and the limits that hold for all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Self

from .._calls import ToolResult
from .._carriers import Carriers
from .._isolation import Ledger, Line, Place
from .._meta import Isolation
from .._processes import Cargo, Pool, Remote, RemoteRun
from .._runtime import Incoming
from .._sentinels import UNSET, Unset
from .._wording import seconds
from ..exceptions import DeclarationError
from ._options import CHECKS, check_limit
from ._plan import OverLimit


__all__ = ["Engine"]


# Calls at once where a limit is asked for and none is given.
WINDOW = 8
# Workers at most where an engine does not limit how many calls run at once.
WORKERS = 8


class Engine(ABC):
    """
    Runs the calls of a batch, and has the limits that all calls of its clients share.

    Closing it is good manners, not a duty: nothing of it keeps the interpreter alive.

    Args:
        timeout: Seconds for tools that declare no timeout, or None.
        max_concurrency: How many calls run at once, over all clients, batches and
            threads; None has no limit.
        over_limit: What happens to more: ``"queue"`` waits for a place, as does
            ``"sequential"``, under which a batch that is larger runs one by one;
            ``"reject"`` answers ``busy`` at once, and counts given-up bodies that
            still run.
        max_abandoned: Once so many bodies were given up and still run, further calls
            are ``busy``; None never refuses.

    Raises:
        DeclarationError: An option has a value that is none of these.

    Attributes:
        default_isolation: Where the bodies of sync tools run that declare nothing.
    """

    timeout: float | None = None
    max_concurrency: int | None = None
    over_limit: OverLimit = "queue"
    max_abandoned: int | None = None
    memory_limit: int | None = None
    recycle: int | None = None
    default_isolation: Isolation | None = None
    _closed = False

    def __init__(
        self,
        *,
        timeout: float | timedelta | None = None,
        max_concurrency: int | None | Unset = UNSET,
        over_limit: OverLimit = "queue",
        max_abandoned: int | None = None,
    ) -> None:
        given: dict[str, object] = {
            "timeout": timeout,
            "max_concurrency": max_concurrency,
            "over_limit": over_limit,
            "max_abandoned": max_abandoned,
        }
        for option, value in given.items():
            if value is not UNSET:
                setattr(self, option, CHECKS[option](self, option, value))
        if max_concurrency is UNSET and over_limit != "queue":
            # Whoever says what happens over the limit has one.
            self.max_concurrency = self.max_concurrency or WINDOW
        check_limit(self)

    # Not made in __init__, which an engine of a host's own may have no reason to call.
    @property
    def ledger(self) -> Ledger:
        """
        The bodies that were left behind.
        """
        ledger: Ledger = self._own("_ledger", Ledger)

        return ledger

    @property
    def line(self) -> Line:
        """
        Where calls wait for a place.
        """
        line: Line = self._own("_line", lambda: Line(self.max_concurrency))

        return line

    @property
    def workers(self) -> Pool:
        """
        The worker processes for what runs in one.
        """
        size = self.max_concurrency or WORKERS

        def make() -> Pool:
            return Pool(size, memory_limit=self.memory_limit, recycle=self.recycle)

        workers: Pool = self._own("_workers", make)

        return workers

    def remote(
        self,
        cargo: Mapping[str, Cargo],
        place: Place,
        stop_on: tuple[type[BaseException], ...],
        carriers: Carriers,
    ) -> Remote:
        """
        Return what runs a client's tools outside of this process.
        """
        return RemoteRun(self.workers, cargo, place, stop_on, carriers)

    def misfits(self, _tools: Iterable[str], /) -> list[DeclarationError]:
        """
        Return what the engine was given that none of a client's tools can use.

        Args:
            _tools: Names of those that run in worker processes.
        """
        return []

    def _own(self, name: str, make: Callable[[], Any]) -> Any:
        found = vars(self).get(name)
        # Of two threads that come first, both get what one of them has made.
        return vars(self).setdefault(name, make()) if found is None else found

    @abstractmethod
    def run_batch(
        self, calls: Sequence[Incoming], run: Callable[[Incoming], ToolResult]
    ) -> list[ToolResult]:
        """
        Run *calls* with *run*; return one result each, in the order of *calls*.

        The client has split its batch where a tool runs alone, and hands over one part
        after the other. What is not run is answered ``not_run``.
        """

    @abstractmethod
    async def arun_batch(
        self,
        calls: Sequence[Incoming],
        run: Callable[[Incoming], Awaitable[ToolResult]],
    ) -> list[ToolResult]:
        """
        Run *calls* with *run* on the running loop; results as in `run_batch`.
        """

    @property
    def closed(self) -> bool:
        """
        Whether it takes no more calls.
        """
        return self._closed

    def close(self) -> None:
        """
        Take no more calls, from any client; may be called twice.

        Calls that run go on to their end, but those in worker processes: they are
        ``cancelled``, and their bodies killed.
        """
        self._closed = True
        if "_workers" in vars(self):
            self.workers.close()

    async def aclose(self) -> None:
        """
        `close` from async code.
        """
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        facts: list[str] = ["closed"] if self._closed else []
        if self.timeout is not None:
            facts.append(f"timeout {seconds(self.timeout)}")
        if self.max_concurrency is not None:
            facts.append(f"{self.line.taken} of {self.max_concurrency} running")
            facts.append(f"over_limit={self.over_limit!r}")
        most = "" if self.max_abandoned is None else f" of {self.max_abandoned}"
        facts.append(f"{len(self.ledger)}{most} abandoned")

        return f"<{type(self).__name__} {', '.join(facts)}>"
