"""
Describe data by kinds and lengths only, for logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any


# Typed so that checkers do not narrow to containers of unknown things.
_MAPPING: Any = Mapping
_ARRAYS: Any = (list, tuple)


def shape(arguments: object, *, depth: int = 0) -> str:
    """
    Describe a value by kinds and lengths only, as in ``{city: str[4]}``.
    """
    value: Any = arguments
    if value is None:
        return "none"
    if isinstance(value, (str, bytes)):
        return f"{type(value).__name__}[{len(value)}]"
    if isinstance(value, _ARRAYS):
        return f"list[{len(value)}]"
    if not isinstance(value, _MAPPING):
        return type(value).__name__
    if depth:
        return f"object[{len(value)}]"
    members = [
        f"{word(name)}: {shape(inner, depth=1)}"
        for name, inner in islice(value.items(), 20)
    ]
    more = ["..."] if len(value) > 20 else []

    return f"{{{', '.join(members + more)}}}"


def word(text: object, most: int = 64) -> str:
    """
    Show a name that a model made up: on one line, and not for ever.
    """
    if not isinstance(text, str):
        return type(text).__name__
    short = text if len(text) <= most else text[: most - 3] + "..."

    return short if short.isprintable() else ascii(short)[1:-1]
