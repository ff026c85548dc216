"""
Take lists and objects that were sent as strings for what was meant: ``coerce="repair"``.

The declared type alone decides: where it also takes text, the text stays text. What is
put in place of a string counts only if the whole of the arguments is valid then.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ._strictjson import JSONLimits, loads_any
from ._subschemas import (
    TYPES,
    Schema,
    allows_type,
    below,
    fitting,
    speaking,
)
from .exceptions import MalformedJSONError


# The text around was read under the client's own limits, and holds all that is inside.
LIMITS = JSONLimits()


def repair(schema: Schema, data: dict[str, Any]) -> bool:
    """
    Put lists and objects in place of strings that hold them, at every depth of *data*.

    Returns:
        Whether anything was changed.
    """
    return _repair_inside(schema, fitting(speaking(schema, [schema]), data), data)


def _repair_inside(root: Schema, schemas: list[Schema], data: Any) -> bool:
    changed = False
    steps: Iterable[Any] = data if isinstance(data, dict) else range(len(data))
    for step in steps:
        inner = data[step]
        here = below(root, schemas, step)
        if isinstance(inner, str) and _means_structure(here):
            read = _read(inner)
            if isinstance(read, (dict, list)) and _allowed(here, read):
                data[step] = inner = read
                changed = True
        if isinstance(inner, (dict, list)):
            changed = _repair_inside(root, fitting(here, inner), inner) or changed

    return changed


def _means_structure(schemas: list[Schema]) -> bool:
    return bool(schemas) and not any(allows_type(s, "string") for s in schemas)


def _allowed(schemas: list[Schema], value: object) -> bool:
    return any(allows_type(s, TYPES[type(value)]) for s in schemas)


def _read(text: str) -> object:
    if text.lstrip()[:1] not in ("[", "{"):
        return None
    try:
        return loads_any(text, LIMITS)
    except MalformedJSONError:
        return None
