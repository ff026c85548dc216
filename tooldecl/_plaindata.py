"""
Plain JSON data out of what a record holds.
"""

from __future__ import annotations

import json

from typing import Any


def json_form(value: object) -> Any:
    """
    Copy JSON data.

    Raises:
        TypeError: Something in it is none.
    """
    try:
        copy = json.loads(json.dumps(value, allow_nan=False))
    except (ValueError, RecursionError) as error:
        raise TypeError from error
    if copy != value:  # a key that is no text, or a tuple: not this very value
        raise TypeError

    return copy


def json_or_types(value: object) -> Any:
    """
    Copy JSON data, with the type in place of whatever is none.
    """
    try:
        return json.loads(json.dumps(value, allow_nan=False, default=_type_of))
    except (TypeError, ValueError, RecursionError):
        return _type_of(value)


def _type_of(value: object) -> str:
    return f"({type(value).__name__})"


def json_in(text: str) -> Any:
    """
    Read JSON text; None where a text is none.
    """
    try:
        return json.loads(text)
    except ValueError:
        return None
