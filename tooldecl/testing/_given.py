"""
What the stand-ins are given: refused where it would only be ignored.
"""

from __future__ import annotations

import math
import reprlib

from collections.abc import Iterable


def check_flag(place: str, given: object) -> None:
    """
    Check a yes or no.

    Raises:
        TypeError: It is neither.
    """
    if not isinstance(given, bool):
        raise TypeError(f"{place} takes True or False, got {reprlib.repr(given)}.")


def check_finite(place: str, given: object) -> None:
    """
    Check a time.

    Raises:
        TypeError: It is no number.
        ValueError: It is infinite, or none.
    """
    _check_number(place, given, -math.inf, math.inf, "a finite number of seconds")


def check_seconds(place: str, given: object) -> None:
    """
    Check a length of time.

    Raises:
        TypeError: It is no number.
        ValueError: It is below 0, infinite, or none.
    """
    _check_number(place, given, 0, math.inf, "a finite number of seconds from 0")


def check_share(place: str, given: object) -> None:
    """
    Check a share.

    Raises:
        TypeError: It is no number.
        ValueError: It is outside of 0 to 1.
    """
    _check_number(place, given, 0, 1, "a share from 0 to 1")


def check_count(place: str, given: object) -> None:
    """
    Check a whole number.

    Raises:
        TypeError: It is none.
        ValueError: It is below 0.
    """
    if isinstance(given, bool) or not isinstance(given, int):
        raise TypeError(
            f"{place} takes a whole number from 0, got {reprlib.repr(given)}."
        )
    if given < 0:
        raise ValueError(f"{place} takes a whole number from 0, got {given}.")


def positions_in(place: str, given: Iterable[int]) -> tuple[int, ...]:
    """
    Return positions in a batch, each once.

    Raises:
        TypeError: They are none.
        ValueError: One is below 0, or named twice.
    """
    listed: object = given
    if isinstance(listed, (str, bytes)) or not isinstance(listed, Iterable):
        raise TypeError(f"{place} takes positions, got {reprlib.repr(given)}.")
    positions = tuple(given)
    for position in positions:
        check_count(place, position)
    for position in positions:
        if positions.count(position) > 1:
            raise ValueError(f"{place} takes each position once, got {position} twice.")

    return positions


def _check_number(
    place: str, given: object, least: float, most: float, rule: str
) -> None:
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise TypeError(f"{place} takes {rule}, got {reprlib.repr(given)}.")
    if not (math.isfinite(given) and least <= given <= most):
        raise ValueError(f"{place} takes {rule}, got {given!r}.")
