"""
Read the fields of an entry, which may have come from a file that anybody has written.
"""

from __future__ import annotations

import math

from ._entries import Entry


# No clock and no count of ours comes near it, and sums of such numbers stay exact.
MOST = 1e10

# What a body or a declaration says, which may be anything, and is not calculated with.
_FREE = {"done", "total", "expires", "timeout"}


def is_sound(entry: Entry) -> bool:
    """
    Tell whether an entry says when it was, and its numbers are such as we write: neither
    NaN nor beyond all bounds.
    """
    return number(entry, "at") is not None and all(
        not isinstance(value, int | float) or -MOST <= value <= MOST
        for key, value in entry.items()
        if key not in _FREE
    )


def text(entry: Entry, key: str) -> str:
    """
    Return a text, or an empty one.
    """
    value = entry.get(key)

    return value if isinstance(value, str) else ""


def number(entry: Entry, key: str) -> float | None:
    """
    Return a finite number, or None.
    """
    value = entry.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None

    return found if math.isfinite(found) else None


def seconds(entry: Entry, key: str) -> float:
    """
    Return a duration, at least 0.
    """
    return max(0.0, number(entry, key) or 0.0)


def count(entry: Entry, key: str) -> int:
    """
    Return a whole number, at least 0.
    """
    return int(seconds(entry, key))


def texts(entry: Entry, key: str) -> list[str]:
    """
    Return the texts of a list.
    """
    value = entry.get(key)
    if not isinstance(value, list | tuple):
        return []
    items: list[object] = [*value]

    return [item for item in items if isinstance(item, str)]
