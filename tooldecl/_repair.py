"""
Take lists and objects that were sent as strings for what was meant: ``coerce="repair"``.

The declared type alone decides: where it also takes text, the text stays text. What is
put in place of a string counts only if the whole of the arguments is valid then.
"""

from __future__ import annotations

import sys

from typing import Any

from ._jsonschema import (
    TYPES,
    Schema,
    allows_type,
    below,
    fitting,
    speaking,
    steps_in,
)
from ._strictjson import JSONLimits, loads_any
from .exceptions import MalformedJSONError


# The text around has passed the client's own limit of length, and holds what is inside.
LIMITS = JSONLimits(max_chars=sys.maxsize)


def repair(schema: Schema, data: dict[str, Any]) -> bool:
    """
    Put lists and objects in place of strings that hold them, at every depth of *data*.

    Returns:
        Whether anything was changed.
    """
    return _repair_inside(schema, fitting(speaking(schema, [schema]), data), data)


def _repair_inside(root: Schema, schemas: list[Schema], data: Any) -> bool:
    changed = False
    for step in steps_in(data):
        inner = data[step]
        here = below(root, schemas, step)
        meant = _read(inner) if isinstance(inner, str) else inner
        if meant is not inner and _takes(here, meant):
            data[step] = inner = meant
            changed = True
        changed = _repair_inside(root, fitting(here, inner), inner) or changed

    return changed


def _takes(schemas: list[Schema], meant: object) -> bool:
    """
    Tell whether a list or an object belongs here, and a text does not.
    """
    kind = TYPES[type(meant)]

    return any(allows_type(s, kind) for s in schemas) and not any(
        allows_type(s, "string") for s in schemas
    )


def _read(text: str) -> object:
    """
    Return the list or object that a text holds, or the text.
    """
    if text.lstrip()[:1] not in ("[", "{"):
        return text
    try:
        return loads_any(text, LIMITS)
    except MalformedJSONError:
        return text
