"""
What may be decided about a call before it runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, TypeAlias, final

from ._meta import check_seconds
from ._policy import shown
from ._readonly import frozen_mapping
from ._records import record
from .exceptions import DeclarationError


__all__ = [
    "Again",
    "Answer",
    "Approved",
    "Decision",
    "Denied",
    "Proceed",
    "Suspend",
]


@final
@record(frozen=True, slots=True, kw_only=True)
class Approved:
    """
    Run the call, with these arguments in place of its own where they are given.

    Edited arguments pass the gate again, before anything runs.

    Attributes:
        arguments: A mapping in JSON form, or None for the call's own.
    """

    arguments: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        given: Any = self.arguments
        if given is None:
            return
        if not isinstance(given, Mapping):
            raise DeclarationError(
                f"Approved(arguments=...) takes a mapping, or None, got {shown(given)}."
            )
        object.__setattr__(self, "arguments", frozen_mapping(self.arguments or {}))


@final
@record(frozen=True, slots=True)
class Denied:
    """
    Do not run the call.

    Attributes:
        reason: Why, for the model; may be empty.
    """

    reason: str = ""

    def __post_init__(self) -> None:
        _check_text(self.reason, "Denied(reason)")


@final
@record(frozen=True, slots=True)
class Answer:
    """
    Do not run the call: what a person says is its result.

    Attributes:
        text: The result.
    """

    text: str

    def __post_init__(self) -> None:
        _check_text(self.text, "Answer(text)")
        if not self.text.strip():
            raise DeclarationError("Answer(text) takes a text that is not empty.")


@final
@record(frozen=True, slots=True, kw_only=True)
class Suspend:
    """
    Decide later: the call is ``pending``, and `ToolClient.resume` takes the decision.

    Attributes:
        expires: Seconds until no decision counts any more, or None.
    """

    expires: float | timedelta | None = None

    def __post_init__(self) -> None:
        if self.expires is not None:
            seconds = check_seconds(self.expires, "Suspend(expires=...)")
            object.__setattr__(self, "expires", seconds)


@final
@record(frozen=True, slots=True)
class Again:
    """
    Run a call again that its environment has failed: what was in its way is mended.
    """


@final
@record(frozen=True, slots=True)
class Proceed:
    """
    Leave a call that its environment has failed as it is: the model reads of its failure.
    """


Decision: TypeAlias = Approved | Denied | Answer | Suspend


def _check_text(given: object, what: str) -> None:
    if not isinstance(given, str):
        raise DeclarationError(f"{what} takes a text, got {shown(given)}.")
