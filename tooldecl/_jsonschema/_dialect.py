"""
Take over a JSON Schema that was given: a copy, in one dialect, with nothing in it that
would only turn out wrong when a call is checked.

Nothing is ever fetched: a reference that leads out of the schema is refused.
"""

from __future__ import annotations

import json

from collections.abc import Mapping
from typing import Any, final

from .._refs import type_of
from ..exceptions import DeclarationError
from ._subschemas import follow, is_object, walk


DIALECT = "https://json-schema.org/draft/2020-12/schema"
OLDER = {
    "http://json-schema.org/draft-06/schema": "Draft6Validator",
    "http://json-schema.org/draft-07/schema": "Draft7Validator",
    "https://json-schema.org/draft/2019-09/schema": "Draft201909Validator",
}

# Arguments go no deeper either, unless a client says so; the checker needs about ten
# frames for each level, and ours is not the whole stack.
DEEPEST = 64
TOO_DEEP = "it is nested too deep"
HOLDERS = (Mapping, list, tuple)


@final
class Library:
    """
    The optional package that checks JSON Schemas.
    """

    __slots__ = ("_jsonschema", "_registry")

    def __init__(self, jsonschema: Any, registry: Any) -> None:
        self._jsonschema = jsonschema
        self._registry = registry

    def validator(self, schema: dict[str, Any]) -> Any:
        # With a registry of our own, a reference is looked up there and nowhere else.
        return self._jsonschema.Draft202012Validator(schema, registry=self._registry)

    def complaint(self, schema: dict[str, Any], name: str) -> str | None:
        """
        Say where *schema* is no schema of a dialect.
        """
        dialect = getattr(self._jsonschema, name)
        try:
            dialect.check_schema(schema)
        except RecursionError:
            return TOO_DEEP
        except self._jsonschema.SchemaError as error:
            place = "/".join(["#", *map(str, error.absolute_path)])
            if error.validator == "format":
                return (
                    f"at {place} it holds no {error.validator_value} that can be read"
                )
            return f"at {place} it breaks the rule {error.validator!r} of its dialect"

        return None


def library_for(owner: str) -> Library:
    try:
        import jsonschema
        import referencing
    except ImportError:
        raise DeclarationError(
            f"{owner}: a tool with a JSON Schema of its own needs the package "
            "jsonschema. Install tooldecl[jsonschema]."
        ) from None

    nothing: Any = referencing.Registry

    return Library(jsonschema, nothing())


def _is_too_deep(given: object) -> bool:
    """
    Count levels without descending, so that the answer does not hang on the stack.
    """
    level = [given]
    for _ in range(DEEPEST):
        parts = [inner for held in level for inner in _parts(held)]
        # Each once: what holds itself twice would double with every level.
        level = list({id(inner): inner for inner in parts}.values())

    return bool(level)


def _parts(held: Any) -> list[object]:
    kind = type_of(held)
    if issubclass(kind, Mapping):
        held = list(held.values())
    elif not issubclass(kind, (list, tuple)):
        return []

    return [inner for inner in held if issubclass(type_of(inner), HOLDERS)]


def _copied(given: Any, owner: str) -> dict[str, Any]:
    if not issubclass(type_of(given), Mapping):
        kind = type_of(given).__name__
        raise DeclarationError(f"{owner}: input_schema takes a mapping, got {kind}.")
    if _is_too_deep(given):
        raise DeclarationError(f"{owner}: input_schema is refused: {TOO_DEEP}.")
    try:
        text = json.dumps(dict(given), allow_nan=False, ensure_ascii=False)
        copy: dict[str, Any] = json.loads(text.encode())
    except (TypeError, ValueError, RecursionError):
        raise DeclarationError(f"{owner}: input_schema is not JSON data.") from None

    return copy


def take_over(given: object, owner: str, library: Library) -> dict[str, Any]:
    """
    Return a copy of *given* that can be used.

    Raises:
        DeclarationError: It is no schema of an object, or it cannot be used here.
    """
    schema = _copied(given, owner)
    _modernise(schema, owner, library)
    complaint = library.complaint(schema, "Draft202012Validator")
    if complaint is None and schema.get("type") != "object":
        complaint = 'its top level has no "type": "object"'
    schema.pop("$id", None)
    for node in walk(schema):
        complaint = complaint or _wrong_reference(schema, node)
        _name_what_is_ruled_out(node)
    complaint = complaint or _circle(schema)
    if complaint:
        raise DeclarationError(f"{owner}: input_schema is refused: {complaint}.")

    return schema


def _modernise(schema: dict[str, Any], owner: str, library: Library) -> None:
    """
    Rewrite an older dialect, so that there is one set of rules.
    """
    dialect = str(schema.get("$schema", DIALECT)).rstrip("#")
    if dialect == DIALECT:
        return
    older = OLDER.get(dialect)
    if older is None:
        raise DeclarationError(
            f"{owner}: input_schema is in a dialect that is not known here. Leave "
            "$schema out, or use that of 2020-12."
        )
    if complaint := library.complaint(schema, older):
        raise DeclarationError(f"{owner}: input_schema is refused: {complaint}.")
    del schema["$schema"]
    for node in list(walk(schema)):
        if isinstance(node.get("items"), list):
            node["prefixItems"] = node.pop("items")
            if "additionalItems" in node:
                node["items"] = node.pop("additionalItems")
        for name, needed in node.pop("dependencies", {}).items():
            kind = (
                "dependentRequired" if isinstance(needed, list) else "dependentSchemas"
            )
            node.setdefault(kind, {})[name] = needed


def _wrong_reference(root: dict[str, Any], node: dict[str, Any]) -> str | None:
    for key in ("$id", "$dynamicRef", "$recursiveRef"):
        if key in node:
            return f"{key} is not supported, use $ref and $defs"
    ref = node.get("$ref", "#")
    if not ref.startswith("#"):
        return f"{ref!r} leads out of the schema, and nothing is ever fetched"
    try:
        follow(root, ref)
    except LookupError:
        return f"the reference {ref!r} leads to nothing"

    return None


def _name_what_is_ruled_out(node: dict[str, Any]) -> None:
    """
    Write the members that may not be there so that an error about them has their path.
    """
    for key in ("properties", "patternProperties"):
        for name, inner in node.get(key, {}).items():
            if inner is False:
                node[key][name] = {"not": {}}


def _circle(root: dict[str, Any]) -> str | None:
    """
    Find a reference that comes back to itself before it says anything.
    """
    for node in walk(root):
        if "$ref" in node and id(node) in _reached(root, node):
            return f"the reference {node['$ref']!r} comes back to itself"

    return None


def _reached(root: dict[str, Any], node: dict[str, Any]) -> set[int]:
    """
    Collect the schemas that speak about the same value as *node*, beyond itself.
    """
    seen: set[int] = set()
    waiting = [follow(root, node["$ref"])]
    while waiting:
        schema = waiting.pop()
        if not is_object(schema) or id(schema) in seen:
            continue
        seen.add(id(schema))
        for key in ("allOf", "anyOf", "oneOf"):
            waiting.extend(schema.get(key, ()))
        waiting.extend(schema.get("dependentSchemas", {}).values())
        waiting.extend(schema.get(key) for key in ("not", "if", "then", "else"))
        if "$ref" in schema:
            waiting.append(follow(root, schema["$ref"]))

    return seen
