"""
Bodies in processes of their own, which can be ended with all that they started.

The matching page is docs/explanation/timeouts-and-isolation.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from .._isolation import Attempt
from ._abroad import AbroadRun
from ._loading import Cargo, cargo_of
from ._parcel import token_of
from ._pool import Pool
from ._remote import RemoteRun
from ._system import is_supported
from ._transport import Dispatched, ExecutorTransport, NotTakenError, Tell, Transport
from ._untilinterrupt import Step, run_until_interrupted


__all__ = [
    "AbroadRun",
    "Cargo",
    "Dispatched",
    "ExecutorTransport",
    "NotTakenError",
    "Pool",
    "Remote",
    "RemoteRun",
    "Step",
    "Tell",
    "Transport",
    "cargo_of",
    "is_supported",
    "run_until_interrupted",
    "token_of",
]


class Remote(Protocol):
    """
    Runs attempts of one client's tools outside of this process.
    """

    def invoke(self, attempt: Attempt) -> None:
        """
        Run an attempt from sync code; its outcome is in the attempt.
        """
        ...

    async def ainvoke(self, attempt: Attempt) -> None:
        """
        Run an attempt from async code; its outcome is in the attempt.
        """
        ...

    @property
    def leave(self) -> Callable[[], None]:
        """
        What ends it, once its client is closed or gone; may be called twice.
        """
        ...

    @property
    def aleave(self) -> Callable[[], Awaitable[None]]:
        """
        The same from async code, without holding the loop.
        """
        ...
