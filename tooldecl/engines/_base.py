"""
What an engine is: when the calls of a batch run, and the limits that hold for all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from functools import cached_property

from .._calls import ToolResult
from .._isolation import Ledger
from .._meta import check_seconds
from .._runtime import Incoming
from ..exceptions import DeclarationError


__all__ = ["Engine"]


class Engine(ABC):
    """
    Runs the calls of a batch and counts the bodies that were left behind.

    Attributes:
        timeout: Seconds for tools that declare no timeout, or None.
        max_abandoned: Once so many bodies were given up and still run, further calls
            are ``busy``; None never refuses.
    """

    timeout: float | None = None
    max_abandoned: int | None = None

    def __init__(
        self,
        *,
        timeout: float | timedelta | None = None,
        max_abandoned: int | None = None,
    ) -> None:
        self.timeout = checked_timeout(self, timeout)
        self.max_abandoned = checked_max_abandoned(self, max_abandoned)

    # Not made in __init__, which an engine of a host's own may have no reason to call.
    @cached_property
    def ledger(self) -> Ledger:
        """
        The bodies that were left behind.
        """
        return Ledger()

    @abstractmethod
    def run_batch(
        self, calls: Sequence[Incoming], run: Callable[[Incoming], ToolResult]
    ) -> list[ToolResult]:
        """
        Run *calls* with *run*; return one result each, in the order of *calls*.
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

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {len(self.ledger)} abandoned>"


def checked_timeout(engine: Engine, timeout: object) -> float | None:
    """
    Return an engine's timeout in seconds, or None.

    Raises:
        DeclarationError: It is no number of seconds above 0.
    """
    if timeout is None:
        return None

    return check_seconds(timeout, f"{type(engine).__name__}(timeout=...)")


def checked_max_abandoned(engine: Engine, count: object) -> int | None:
    """
    Return an engine's cap of abandoned bodies, or None.

    Raises:
        DeclarationError: It is no whole number from 1.
    """
    if count is None or (isinstance(count, int) and type(count) is int and count > 0):
        return count

    raise DeclarationError(
        f"{type(engine).__name__}(max_abandoned=...) takes a whole number from 1, or "
        f"None, got {count!r}."
    )
