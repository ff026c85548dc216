"""
What is left out of a schema before it is shown: made-up titles, defaults that are secret,
of no use, or not plain JSON.
"""

from __future__ import annotations

import json
import math

from collections.abc import Iterable
from enum import Enum
from typing import Any

from .._jsonschema import (
    Schema,
    allows_type,
    is_array,
    is_object,
    speaking,
    walk,
)
from .._refs import type_of
from .._signature import MISSING
from .._wording import is_encodable


def as_data(written: object) -> dict[str, Any]:
    """
    Return a schema as plain JSON data, a copy.

    Raises:
        TypeError: Something in it has no JSON form.
        ValueError: A number in it is not finite, or a text in it cannot be encoded.
    """
    text = json.dumps(written, allow_nan=False, ensure_ascii=False)
    data: dict[str, Any] = json.loads(text.encode())

    return data


def plain_text(text: str) -> str:
    """
    Return a text as plain data, whatever kind of text it is.

    Raises:
        UnicodeEncodeError: It cannot be encoded.
    """
    return str.encode(text).decode()


def drop_titles(schema: dict[str, Any]) -> None:
    """
    Drop, in place, the titles: made up from the names, they cost tokens and say nothing.
    """
    for node in walk(schema):
        node.pop("title", None)


def drop_useless_defaults(root: Schema, nodes: Iterable[dict[str, Any]]) -> None:
    """
    Drop, in place, the defaults of secrets, and nulls that may not be sent.

    Args:
        root: The whole schema.
        nodes: All schemas in it.
    """
    for node in nodes:
        if "default" in node and not _may_be_published(root, node):
            del node["default"]


def _may_be_published(root: Schema, node: Schema) -> bool:
    spoken = speaking(root, [node])
    if any(inner.get("writeOnly") for s in spoken for inner in walk(s)):
        return False

    return node["default"] is not None or any(allows_type(s, "null") for s in spoken)


def plain_default(value: Any) -> Any:
    """
    Return the JSON form of a default that has an obvious one, or MISSING.
    """
    if isinstance(value, Enum):
        return plain_default(value.value)
    if type(value) is str:
        return value if is_encodable(value) else MISSING
    if value is None or type(value) in (bool, int):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else MISSING
    if type_of(value) is tuple:
        return plain_default([*value])
    if is_array(value):
        parts = [plain_default(part) for part in value]
        return MISSING if MISSING in parts else parts
    if is_object(value):
        items = {key: plain_default(v) for key, v in value.items()}
        keys_fit = all(type(key) is str and is_encodable(key) for key in items)
        return items if keys_fit and MISSING not in items.values() else MISSING

    return MISSING
