"""
Find the schemas inside of a JSON Schema, and those that speak about one place of a value.

They are reached through the keywords that hold schemas, never by looking for keys: a
parameter may be called ``default``, ``properties`` or ``title``.
"""

from __future__ import annotations

import re

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard
from urllib.parse import unquote


# What JSON holds is only known once it is read: this is the JSON door.
Schema: TypeAlias = Mapping[str, Any]
Path: TypeAlias = Sequence[str | int]

HOLD_MAPS = (
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
)
HOLD_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
HOLD_ONE = (
    "items",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
)

HOLDING = frozenset((*HOLD_MAPS, *HOLD_LISTS, *HOLD_ONE))

# Keywords whose schemas speak about the very value that their owner speaks about.
IN_PLACE = ("allOf", "anyOf", "oneOf")

ANYTHING: dict[str, Any] = {}

TYPES: dict[type, str] = {
    bool: "boolean",
    dict: "object",
    float: "number",
    int: "integer",
    list: "array",
    str: "string",
    type(None): "null",
}


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """
    Tell a JSON object.
    """
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """
    Tell a JSON array.
    """
    return isinstance(value, list)


def copied(value: object) -> Any:
    """
    Copy JSON data, also what is read-only, into plain dicts and lists.
    """
    if is_object(value):
        return {key: copied(inner) for key, inner in value.items()}
    if is_array(value):
        return [copied(inner) for inner in value]

    return value


def steps_in(value: object) -> list[Any]:
    """
    Return the keys of an object, the indices of an array; nothing else has parts.
    """
    if is_array(value):
        return list(range(len(value)))

    return list(value) if is_object(value) else []


def subschemas(node: Schema) -> Iterator[Any]:
    """
    Yield the schemas directly inside of *node*.
    """
    for key in HOLD_MAPS:
        inner = node.get(key)
        if is_object(inner):
            yield from inner.values()
    for key in HOLD_LISTS:
        inner = node.get(key)
        if is_array(inner):
            yield from inner
    for key in HOLD_ONE:
        if key in node:
            yield node[key]


def walk(node: Any) -> Iterator[dict[str, Any]]:
    """
    Yield *node* and every schema below it that is an object.
    """
    waiting = [node]
    while waiting:
        found = waiting.pop()
        if is_object(found):
            yield found
            if not HOLDING.isdisjoint(found):
                waiting.extend(subschemas(found))


def follow(root: Schema, ref: str) -> Any:
    """
    Return what a local reference (``#/$defs/Node``) points to.

    Raises:
        LookupError: It points to nothing, or it is not local.
    """
    if ref == "#":
        return root
    found: Any = root
    start, *parts = ref.split("/")
    if start != "#":
        raise LookupError(ref)
    for part in parts:
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        if is_array(found) and key.isdecimal():
            found = found[int(key)]
        elif is_object(found):
            found = found[key]
        else:
            raise LookupError(ref)

    return found


def speaking(root: Schema, schemas: Iterable[Any]) -> list[Schema]:
    """
    Return the schemas that speak about one value, with references and choices opened.
    """
    heard: list[Schema] = []
    seen: set[int] = set()
    waiting = list(schemas)[::-1]
    while waiting:
        schema = waiting.pop()
        schema = ANYTHING if schema is True else schema
        if not is_object(schema) or id(schema) in seen:
            continue
        seen.add(id(schema))
        inner = [part for key in IN_PLACE for part in schema.get(key, ())]
        if "$ref" in schema:
            inner.append(follow(root, schema["$ref"]))
        if not inner or schema.keys() & {"type", "enum", "const", "properties"}:
            heard.append(schema)
        waiting.extend(inner[::-1])

    return heard


def below(root: Schema, schemas: Iterable[Schema], step: str | int) -> list[Schema]:
    """
    Return the schemas that speak about one member or item of a value.
    """
    return speaking(root, [s for schema in schemas for s in _held(schema, step)])


def _held(schema: Schema, step: str | int) -> Iterator[Any]:
    if isinstance(step, int):
        first = schema.get("prefixItems", ())
        yield first[step] if step < len(first) else schema.get("items", True)
        return
    named = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    matching = [s for pattern, s in patterns.items() if may_match(pattern, step)]
    if step in named:
        yield named[step]
    yield from matching
    if step not in named and not matching and "additionalProperties" in schema:
        yield schema["additionalProperties"]


def may_match(pattern: str, name: str) -> bool:
    """
    Tell whether a name fits a pattern, which may be written for another engine.
    """
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return True


def fitting(schemas: Iterable[Schema], value: object) -> list[Schema]:
    """
    Leave out what a value cannot be meant by: for its kind, or for the mark it carries.
    """
    kept = [s for s in schemas if allows_type(s, TYPES[type(value)])]
    if not is_object(value):
        return kept

    return [s for s in kept if not _marked_otherwise(s, value)] or kept


def _marked_otherwise(schema: Schema, value: Mapping[str, object]) -> bool:
    return any(
        is_object(inner) and "const" in inner and value[key] != inner["const"]
        for key, inner in schema.get("properties", {}).items()
        if key in value
    )


def at(root: Schema, value: object, path: Path) -> list[Schema]:
    """
    Return the schemas that speak about the place *path* of *value*.
    """
    schemas = fitting(speaking(root, [root]), value)
    inner: Any = value
    for place, step in enumerate(path):
        schemas = below(root, schemas, step)
        inner = inner[step]
        if place < len(path) - 1:
            schemas = fitting(schemas, inner)

    return schemas


def allows_type(schema: Schema, name: str) -> bool:
    """
    Tell whether a schema lets values of a JSON type through.
    """
    if "const" in schema or "enum" in schema:
        return any(TYPES[type(choice)] == name for choice in choices_in(schema))
    if "type" not in schema:
        return True
    names = schema["type"]
    names = [names] if isinstance(names, str) else names

    return name in names or (name == "integer" and "number" in names)


def choices_in(schema: Schema) -> list[Any]:
    """
    Return the values that a schema lists.
    """
    return [schema["const"]] if "const" in schema else list(schema.get("enum", ()))


def is_listed(value: object, choices: Iterable[object]) -> bool:
    """
    Tell whether a value is one of those listed, the way JSON compares.
    """
    return any(type(choice) is type(value) and choice == value for choice in choices)


def requires(schemas: Iterable[Schema], name: str) -> bool:
    """
    Tell whether one of the schemas of an object asks for a member.
    """
    return any(name in schema.get("required", ()) for schema in schemas)


def named_in(schemas: Iterable[Schema]) -> list[str]:
    """
    Return the members that the schemas of an object name, in their order.
    """
    return list(dict.fromkeys(n for s in schemas for n in s.get("properties", {})))


def is_open(schemas: Iterable[Schema]) -> bool:
    """
    Tell whether the schemas of an object let members through that they do not name.
    """
    return any(
        schema.get("additionalProperties", False) is not False
        or schema.get("unevaluatedProperties", False) is not False
        or schema.get("patternProperties")
        for schema in schemas
    )
