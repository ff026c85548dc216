"""
What becomes of Python's types in JSON, where JSON has no word of its own.

The forms are listed in docs/reference/json-rules.md.
"""

from __future__ import annotations

import base64
import json
import math

from collections import deque
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, TypeAlias

from ._jsonfaults import NOT_FINITE


SAME_KEYS = "two of its keys are the same as text"

JSON = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")
)

# Typed so that checkers do not narrow to containers of unknown things.
DICT: Any = dict
LIST: Any = list
LISTS: Any = (list, tuple, deque)
SETS: Any = (set, frozenset)

Fault: TypeAlias = Callable[[object, str], Exception]


def in_order(items: Iterable[Any]) -> list[Any]:
    """
    Put the items of a set into an order that is the same in every run.
    """
    by_text = sorted(items, key=JSON.encode)
    try:
        return sorted(by_text)
    except TypeError:
        return by_text


def text_of(data: bytes | bytearray) -> str:
    """
    Return bytes as the text they are, or else as a data URL.
    """
    try:
        return data.decode()
    except UnicodeDecodeError:
        coded = base64.b64encode(data).decode("ascii")
        return f"data:application/octet-stream;base64,{coded}"


def settled(form: Any, source: Any, fault: Fault) -> Any:
    """
    Return a model's JSON form without what it glosses over.

    Where a field is typed as anything, pydantic writes null for NaN and keeps one of
    two members of the same name; and no set has an order. *source*, the same in
    Python's types, tells.

    Args:
        form: The JSON form.
        source: The Python form.
        fault: Makes the error from a value and what is wrong with it.
    """
    if isinstance(source, float):
        if not isinstance(form, str) and not math.isfinite(source):
            raise fault(source, NOT_FINITE)
    elif isinstance(source, Decimal):
        if form == str(source) and not source.is_finite():
            raise fault(source, NOT_FINITE)
    elif isinstance(source, DICT) and isinstance(form, DICT):
        return _settled_members(form, source, fault)
    elif isinstance(source, (*LISTS, *SETS)) and isinstance(form, LIST):
        return _settled_items(form, source, fault)

    return form


def _settled_items(form: list[Any], source: Any, fault: Fault) -> list[Any]:
    if len(form) != len(source):
        return form
    pairs = zip(form, source, strict=True)
    items = [settled(inner, value, fault) for inner, value in pairs]

    return in_order(items) if isinstance(source, SETS) else items


def _settled_members(
    form: dict[str, Any], source: dict[Any, Any], fault: Fault
) -> dict[str, Any]:
    if len(form) != len(source):
        if all(isinstance(key, str) for key in source):
            return form
        raise fault(source, SAME_KEYS)
    made: dict[str, Any] = {}
    pairs = zip(form.items(), source.items(), strict=True)
    for (name, inner), (key, value) in pairs:
        if isinstance(key, float) and not math.isfinite(key):
            raise fault(key, NOT_FINITE)
        made[name] = settled(inner, value, fault)

    return made
