"""
Check arguments against a JSON Schema that was given as it is.

The schema is copied, brought to the 2020-12 dialect and closed: an object takes only the
members that it names, unless it says something about ``additionalProperties``. Nothing
is ever fetched: a reference that leads out of the schema is refused.
"""

from __future__ import annotations

import json
import re

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, final

from ._closing import close_objects
from ._problems import (
    MOST,
    Finding,
    Problem,
    missing,
    most_telling,
    not_a_choice,
    settle,
    unknown_key,
)
from ._readonly import frozen_mapping
from ._subschemas import follow, named_in, speaking, walk
from .exceptions import DeclarationError


DIALECT = "https://json-schema.org/draft/2020-12/schema"
OLDER = {
    "http://json-schema.org/draft-06/schema": "Draft6Validator",
    "http://json-schema.org/draft-07/schema": "Draft7Validator",
    "https://json-schema.org/draft/2019-09/schema": "Draft201909Validator",
}

KINDS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "text",
}

# The figures come from the schema, never from the call.
RULES = {
    "contains": "lacks an item that it has to have.",
    "dependentRequired": "lacks a member that another one needs.",
    "exclusiveMaximum": "must be below {0}.",
    "exclusiveMinimum": "must be above {0}.",
    "maxContains": "has too many items of one form.",
    "maxItems": "takes at most {0} items.",
    "maxLength": "takes at most {0} characters.",
    "maxProperties": "takes at most {0} members.",
    "maximum": "must be at most {0}.",
    "minContains": "has too few items of one form.",
    "minItems": "needs at least {0} items.",
    "minLength": "needs at least {0} characters.",
    "minProperties": "needs at least {0} members.",
    "minimum": "must be at least {0}.",
    "multipleOf": "must be a multiple of {0}.",
    "not": "has a form that is ruled out.",
    "oneOf": "fits more than one of the forms that exclude each other.",
    "pattern": "must match the pattern {0}",
    "unevaluatedItems": "has more items than it may have.",
    "uniqueItems": "takes no item twice.",
}


@final
class GivenSchema:
    """
    A JSON Schema, ready to check arguments.

    Attributes:
        schema: What is published and checked: closed, read-only.

    Raises:
        DeclarationError: It is no schema of an object, or it cannot be used here.
    """

    __slots__ = ("_validator", "schema")

    def __init__(self, given: object, *, owner: str) -> None:
        copy = _copy(given, owner)
        library = _library(owner)
        _check(copy, owner, library)
        try:
            close_objects(copy)
        except RecursionError:
            raise DeclarationError(f"{owner}: input_schema is too deep.") from None
        self.schema = frozen_mapping(copy)
        self._validator = library.validator(copy)

    def problems(self, data: Mapping[str, Any], *, sensitive: bool) -> list[Problem]:
        """
        Return what is wrong with *data*.
        """
        found: list[Finding] = []
        for error in islice(self._validator.iter_errors(data), MOST):
            found += self._findings(error)

        return settle(found, schema=self.schema, data=data, sensitive=sensitive)

    def _findings(self, error: Any) -> Iterator[Finding]:
        path, rule = tuple(error.absolute_path), error.validator
        given, value = error.validator_value, error.instance
        if rule == "type":
            for name in [given] if isinstance(given, str) else given:
                yield Finding(path=path, expected=KINDS[name])
        elif rule == "required":
            for name in given:
                if name not in value:
                    yield missing((*path, name))
        elif rule in ("additionalProperties", "unevaluatedProperties"):
            yield from self._unknown(error)
        elif rule in ("enum", "const"):
            choices = given if rule == "enum" else [given]
            yield not_a_choice(path, choices, value)
        elif rule in ("anyOf", "oneOf") and error.context:
            forms: dict[object, list[Finding]] = {}
            for inner in error.context:
                form = forms.setdefault(inner.schema_path[0], [])
                form += self._findings(inner)
            yield from most_telling(list(forms.values()), path)
        elif rule is None:
            yield Finding(path=path, text="is not allowed here.", decisive=True)
        else:
            text = RULES.get(rule, f"breaks the rule {rule!r} of the schema.")
            yield Finding(path=path, text=text.format(given), decisive=True)

    def _unknown(self, error: Any) -> Iterator[Finding]:
        path, schema = tuple(error.absolute_path), error.schema
        spoken = speaking(self.schema, [schema])
        accepted = named_in(spoken)
        patterns = [p for s in spoken for p in s.get("patternProperties", {})]
        for key in error.instance:
            if key not in accepted and not any(re.search(p, key) for p in patterns):
                yield unknown_key((*path, key), accepted)


@final
class _Library:
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
        except self._jsonschema.SchemaError as error:
            place = "/".join(["#", *map(str, error.absolute_path)])
            return f"at {place} it breaks the rule {error.validator!r} of its dialect"

        return None


def _library(owner: str) -> _Library:
    try:
        import jsonschema
        import referencing
    except ImportError:
        raise DeclarationError(
            f"{owner}: a tool with a JSON Schema of its own needs the package "
            "jsonschema. Install tooldecl[jsonschema]."
        ) from None

    return _Library(jsonschema, referencing.Registry())


def _copy(given: object, owner: str) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        kind = type(given).__name__
        raise DeclarationError(f"{owner}: input_schema takes a mapping, got {kind}.")
    try:
        copy: dict[str, Any] = json.loads(json.dumps(dict(given), allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise DeclarationError(f"{owner}: input_schema is not JSON data.") from None

    return copy


def _check(schema: dict[str, Any], owner: str, library: _Library) -> None:
    """
    Refuse what is no schema of an object, and what only later would turn out wrong.
    """
    _modernise(schema, owner, library)
    complaint = library.complaint(schema, "Draft202012Validator")
    if complaint is None and schema.get("type") != "object":
        complaint = 'its top level has no "type": "object"'
    schema.pop("$id", None)
    for node in walk(schema):
        complaint = complaint or _wrong_reference(schema, node) or _wrong_pattern(node)
    complaint = complaint or _circle(schema)
    if complaint:
        raise DeclarationError(f"{owner}: input_schema is refused: {complaint}.")


def _modernise(schema: dict[str, Any], owner: str, library: _Library) -> None:
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
            kind = "dependentRequired" if isinstance(needed, list) else "dependentSchemas"
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


def _wrong_pattern(node: dict[str, Any]) -> str | None:
    patterns = [node["pattern"]] if "pattern" in node else []
    for pattern in [*patterns, *node.get("patternProperties", {})]:
        try:
            re.compile(pattern)
        except re.error:
            return f"the pattern {pattern!r} cannot be read here"

    return None


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
        if not isinstance(schema, dict) or id(schema) in seen:
            continue
        seen.add(id(schema))
        for key in ("allOf", "anyOf", "oneOf"):
            waiting.extend(schema.get(key, ()))
        for key in ("not", "if", "then", "else"):
            waiting.append(schema.get(key))
        if "$ref" in schema:
            waiting.append(follow(root, schema["$ref"]))

    return seen
