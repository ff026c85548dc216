"""
A tool's parameters in one line, from the schema that a model is shown.
"""

from __future__ import annotations

import json

from collections.abc import Mapping
from typing import TypeAlias

from ._plain import is_array, is_object


Schema: TypeAlias = Mapping[str, object]

_DEEPEST = 5


def outline(definition: Schema) -> str:
    """
    Write ``(a: integer, b: string = "x", c?: date) -> integer``.

    Args:
        definition: A tool as ``client.definitions(format="mcp")`` describes it.
    """
    schema = member(definition, "inputSchema")
    required = set(texts(schema.get("required")))
    parameters = [
        _parameter(name, node, schema, name in required)
        for name, node in members(schema).items()
    ]
    line = f"({', '.join(parameters)})"
    output = member(definition, "outputSchema")
    if not output:
        return line
    inside = members(output)
    whole = inside["result"] if list(inside) == ["result"] else output

    return f"{line} -> {type_words(whole, output)}"


def _parameter(name: str, node: Schema, root: Schema, needed: bool) -> str:
    words = f"{name}: {type_words(node, root)}"
    if "default" in node:
        return f"{words} = {json.dumps(node['default'], ensure_ascii=False)}"

    return words if needed else words.replace(name, f"{name}?", 1)


def type_words(node: Schema, root: Schema, depth: int = 0) -> str:
    """
    Name what a schema takes, in the words of JSON.
    """
    node = resolved(node, root)
    if depth > _DEEPEST:
        return "..."
    if "enum" in node:
        return " | ".join(
            json.dumps(c, ensure_ascii=False) for c in items(node["enum"])
        )
    if "const" in node:
        return json.dumps(node["const"], ensure_ascii=False)
    for word in ("anyOf", "oneOf"):
        if word in node:
            parts = [type_words(n, root, depth + 1) for n in schemas(node[word])]
            return " | ".join(dict.fromkeys(parts))
    kinds = texts(node.get("type")) or ["any"]

    return " | ".join(_kind_words(kind, node, root, depth) for kind in kinds)


def _kind_words(kind: str, node: Schema, root: Schema, depth: int) -> str:
    if kind == "array" and member(node, "items"):
        return f"array[{type_words(member(node, 'items'), root, depth + 1)}]"
    if kind == "object" and member(node, "additionalProperties"):
        inside = type_words(member(node, "additionalProperties"), root, depth + 1)
        return f"object[{inside}]"
    if kind == "string" and isinstance(node.get("format"), str):
        return str(node["format"])

    return kind


def types_of(node: Schema, root: Schema, depth: int = 0) -> set[str]:
    """
    Return the JSON types that a schema may take; nothing where it says nothing.
    """
    node = resolved(node, root)
    if "enum" in node:
        return {_type_of(choice) for choice in items(node["enum"])}
    if "const" in node:
        return {_type_of(node["const"])}
    found = set(texts(node.get("type")))
    for word in ("anyOf", "oneOf"):
        if depth <= _DEEPEST:
            for one in schemas(node.get(word)):
                found |= types_of(one, root, depth + 1)

    return found


def _type_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case _:
            return "array" if is_array(value) else "object"


def resolved(node: Schema, root: Schema) -> Schema:
    """
    Follow a reference to the place in the schema that it names.
    """
    for _ in range(_DEEPEST):
        reference = node.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        found = root
        for step in reference.removeprefix("#/").split("/"):
            found = member(found, step.replace("~1", "/").replace("~0", "~"))
        node = found

    return node


def members(schema: Schema) -> dict[str, Schema]:
    """
    Return the properties of an object.
    """
    properties = member(schema, "properties")

    return {name: member(properties, name) for name in properties}


def member(schema: Schema, name: str) -> Schema:
    """
    Return a part that is a schema itself; an empty one where there is none.
    """
    found = schema.get(name)

    return found if is_object(found) else {}


def schemas(value: object) -> list[Schema]:
    """
    Return the schemas in a list.
    """
    return [one for one in items(value) if is_object(one)]


def texts(value: object) -> list[str]:
    """
    Return one text, or the texts in a list.
    """
    if isinstance(value, str):
        return [value]

    return [one for one in items(value) if isinstance(one, str)]


def items(value: object) -> list[object]:
    """
    Return what is in a list; nothing where it is none.
    """
    return list(value) if is_array(value) else []
