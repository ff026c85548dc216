"""
What engines share whose bodies run where somebody else puts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from .._carriers import Carriers
from .._isolation import Place
from .._meta import Isolation
from .._processes import AbroadRun, Cargo, Transport
from .._sentinels import Unset
from ._options import checked_seconds
from ._plan import OverLimit
from ._window import WindowEngine


class AwayEngine(WindowEngine):
    """
    An engine that sends each attempt away, into a worker process beside what takes it.

    Args:
        transport: How they get there, and their answers back.
        timeout: As for every engine.
        max_concurrency: How many calls are away at once; None has no limit.
        over_limit: As for every engine.
        max_abandoned: As for every engine.
        expires: Seconds within which an attempt has to begin there, or None.

    Raises:
        DeclarationError: An option has a value that is none of these.
    """

    default_isolation: Isolation | None = "process"

    def __init__(
        self,
        transport: Transport,
        *,
        timeout: float | timedelta | None,
        max_concurrency: int | None | Unset,
        over_limit: OverLimit,
        max_abandoned: int | None,
        expires: float | timedelta | None,
    ) -> None:
        super().__init__(
            timeout=timeout,
            max_concurrency=max_concurrency,
            over_limit=over_limit,
            max_abandoned=max_abandoned,
        )
        self.expires = checked_seconds(self, "expires", expires)
        self._transport = transport

    def remote(
        self,
        cargo: Mapping[str, Cargo],
        place: Place,
        stop_on: tuple[type[BaseException], ...],
        carriers: Carriers,
    ) -> AbroadRun:
        return AbroadRun(
            self._transport, cargo, place, stop_on, carriers, expires=self.expires
        )
