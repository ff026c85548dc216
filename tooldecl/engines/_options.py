"""
What an engine may be given, and what is said of anything else.
"""

from __future__ import annotations

from typing import Any

from .._meta import check_seconds
from .._policy import shown
from ..exceptions import DeclarationError


ISOLATIONS = ("inline", "thread", "process")
OVER_LIMIT = ("queue", "sequential", "reject")


def check_options(engine: object) -> None:
    """
    Check what an engine has, as a class of a host's own may have set it.

    Raises:
        DeclarationError: It cannot be used.
    """
    for option, check in CHECKS.items():
        check(engine, option, getattr(engine, option))
    check_limit(engine)


def check_limit(engine: Any) -> None:
    """
    Refuse to say what happens over a limit that there is none of.

    Raises:
        DeclarationError: There is none.
    """
    if engine.over_limit != "queue" and engine.max_concurrency is None:
        place = _place(engine, "over_limit")
        raise DeclarationError(
            f"{place} takes {engine.over_limit!r} only beside a max_concurrency: nothing "
            "is ever over no limit."
        )


def checked_isolation(engine: object, option: str, given: Any) -> Any:
    """
    Return where bodies run that declare nothing, or None.
    """
    if given is None or (isinstance(given, str) and given in ISOLATIONS):
        return given

    raise _refusal(engine, option, "'inline', 'thread', 'process' or None", given)


def checked_seconds(engine: object, option: str, given: object) -> float | None:
    """
    Return seconds above 0, or None.
    """
    return None if given is None else check_seconds(given, _place(engine, option))


def checked_count(engine: object, option: str, given: object) -> int | None:
    """
    Return a whole number from 1, or None.
    """
    if given is None or (isinstance(given, int) and type(given) is int and given > 0):
        return given

    raise _refusal(engine, option, "a whole number from 1, or None", given)


def checked_choice(engine: object, option: str, given: Any) -> Any:
    """
    Return one of the ways to treat what is too much.
    """
    if isinstance(given, str) and given in OVER_LIMIT:
        return given

    raise _refusal(engine, option, "'queue', 'sequential' or 'reject'", given)


CHECKS = {
    "timeout": checked_seconds,
    "max_concurrency": checked_count,
    "over_limit": checked_choice,
    "max_abandoned": checked_count,
    "default_isolation": checked_isolation,
}


def _place(engine: object, option: str) -> str:
    return f"{type(engine).__name__}({option}=...)"


def _refusal(engine: object, option: str, rule: str, given: object) -> DeclarationError:
    return DeclarationError(
        f"{_place(engine, option)} takes {rule}, got {shown(given)}."
    )
