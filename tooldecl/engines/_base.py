"""
What an engine is: when the calls of a batch run, and the limits that hold for all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

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

    def __init__(
        self,
        *,
        timeout: float | timedelta | None = None,
        max_abandoned: int | None = None,
    ) -> None:
        name = type(self).__name__
        self.timeout = (
            None if timeout is None else check_seconds(timeout, f"{name}(timeout=...)")
        )
        if max_abandoned is not None and (
            type(max_abandoned) is not int or max_abandoned < 1
        ):
            raise DeclarationError(
                f"{name}(max_abandoned=...) takes a whole number from 1, or None, "
                f"got {max_abandoned!r}."
            )
        self.max_abandoned = max_abandoned
        self.ledger = Ledger()

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
