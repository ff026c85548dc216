"""
Keep listed numbers and booleans apart: ``true`` and ``1.0`` are no ``1``.

The validator compares choices the way Python does, where all three are equal. JSON
Schemas are published that tell them apart, so the gate has to as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .._jsonschema import (
    TYPES,
    Finding,
    Schema,
    allows_type,
    below,
    choices_in,
    fitting,
    not_a_choice,
    speaking,
    steps_in,
)


def has_loose_choices(nodes: Iterable[Schema]) -> bool:
    """
    Tell whether one of the schemas lists numbers or booleans.
    """
    return any(
        isinstance(choice, (bool, int, float))
        for node in nodes
        for choice in choices_in(node)
    )


def loose_choices(schema: Schema, data: dict[str, Any]) -> list[Finding]:
    """
    Find values that equal a choice only in the way Python compares.
    """
    return list(_loose(schema, speaking(schema, [schema]), data, ()))


def _loose(
    root: Schema, schemas: list[Schema], value: Any, path: tuple[str | int, ...]
) -> Iterator[Finding]:
    if steps := steps_in(value):
        schemas = fitting(schemas, value)
        for step in steps:
            inner = below(root, schemas, step)
            yield from _loose(root, inner, value[step], (*path, step))
    elif isinstance(value, (bool, int, float)):
        choices = [c for schema in schemas for c in choices_in(schema)]
        if choices and not any(_takes(schema, value) for schema in schemas):
            yield not_a_choice(path, choices, value)


def _takes(schema: Schema, value: bool | float) -> bool:
    if choices := choices_in(schema):
        return any(c == value and _is_exact(c, value) for c in choices)

    return allows_type(schema, TYPES[type(value)])


def _is_exact(choice: object, value: object) -> bool:
    """
    Tell whether two equal values are of one kind; a whole number may stand for a float.
    """
    return type(choice) is type(value) or (type(choice), type(value)) == (float, int)
