"""
What all runs of a loop have in common.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias, final

from .._batch import check_failures
from .._client import ToolClient
from .._doors import Failures
from .._policy import shown
from .._records import record
from .._signature import answers_at_once
from .._turns import Turn
from ..exceptions import DeclarationError


OnEnvironmentError: TypeAlias = Literal["proceed", "pause"]


@final
@record(frozen=True, slots=True, kw_only=True)
class Rules:
    """
    The options of a loop, checked; `ToolLoop` says what they mean.

    Raises:
        DeclarationError: One of them is off.
    """

    client: ToolClient
    max_turns: int
    failures: Failures
    eligible: Callable[[Turn], bool] | None
    on_environment_error: OnEnvironmentError

    def __post_init__(self) -> None:
        client: object = self.client
        if not isinstance(client, ToolClient):
            raise DeclarationError(f"ToolLoop takes a ToolClient, got {shown(client)}.")
        if type(self.max_turns) is not int or self.max_turns < 1:
            self._refuse("max_turns", "a whole number from 1", self.max_turns)
        if self.eligible is not None and not answers_at_once(self.eligible):
            rule = "a predicate that waits for nothing"
            self._refuse("eligible", rule, self.eligible)
        if self.on_environment_error not in ("proceed", "pause"):
            rule = "'proceed' or 'pause'"
            self._refuse("on_environment_error", rule, self.on_environment_error)
        check_failures(self.failures)

    def _refuse(self, option: str, rule: str, got: object) -> None:
        raise DeclarationError(
            f"ToolLoop({option}=...) takes {rule}, got {shown(got)}."
        )
