"""
Whether a schema can be offered in OpenAI's strict mode, and what it looks like there.

Strict mode takes a part of JSON Schema: every object is closed and requires all of its
members. A schema is only ever narrowed to that part, never widened: what the strict form
offers, the gate accepts. One that cannot be narrowed so stays as it is.

https://platform.openai.com/docs/guides/structured-outputs
"""

from __future__ import annotations

import json

from collections.abc import Mapping
from typing import Any, NoReturn, final

from ._subschemas import copied, is_object


# What a schema may say there, by what it is about.
_TAKEN = {
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "description",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "multipleOf",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
}
_FORMATS = {
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "time",
    "uuid",
}
# Notes that bind nobody.
_DROPPED = {"$comment", "deprecated", "examples", "readOnly", "writeOnly"}

DEEPEST = 10
MOST_MEMBERS = 5_000

_MAPPING: Any = Mapping


class NotStrictError(Exception):
    """
    A schema says something that strict mode has no word for.
    """


def strict_form(schema: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the strict form of a tool's input schema, a copy.

    Members that may be left out are required there; their defaults move into their
    descriptions, so that a model can send them.

    Raises:
        NotStrictError: There is none that means nothing else.
    """
    plain: dict[str, Any] = copied(schema)
    if plain.get("type") != "object":
        raise NotStrictError("the arguments are no plain object")

    return _Narrowing().node(plain, 0)


@final
class _Narrowing:
    def __init__(self) -> None:
        self._members = 0

    def node(self, node: Any, depth: int) -> dict[str, Any]:
        """
        Return the strict form of one schema.
        """
        if not is_object(node):
            self._refuse("a part of it takes anything")
        if depth > DEEPEST:
            self._refuse(f"it is nested deeper than {DEEPEST} levels")
        given = dict(node)
        for word in _DROPPED:
            given.pop(word, None)
        if "default" in given:
            self._describe(given, given.pop("default"))
        if "oneOf" in given and "discriminator" in given:
            # Its branches name themselves, so that no value fits two of them.
            del given["discriminator"]
            given["anyOf"] = given.pop("oneOf")
        self._check_words(given)
        if "$ref" in given:
            return self._reference(given)
        if given.get("type") == "object" or "properties" in given:
            self._close(given)
        elif "anyOf" not in given and not {"type", "enum", "const"} & set(given):
            self._refuse("a part of it takes anything")
        for word in ("properties", "$defs"):
            if word in given:
                inner: dict[str, Any] = given[word]
                given[word] = {k: self.node(v, depth + 1) for k, v in inner.items()}
        if "items" in given:
            given["items"] = self.node(given["items"], depth + 1)
        elif given.get("type") == "array":
            self._refuse("an array of it takes anything")
        if "anyOf" in given:
            given["anyOf"] = [self.node(one, depth + 1) for one in given["anyOf"]]

        return given

    def _check_words(self, given: dict[str, Any]) -> None:
        foreign = sorted(set(given) - _TAKEN)
        if foreign:
            self._refuse(f"strict mode has no {', '.join(foreign)}")
        if given.get("format", "uuid") not in _FORMATS:
            self._refuse(f"strict mode has no format {given['format']!r}")

    def _reference(self, given: dict[str, Any]) -> dict[str, Any]:
        """
        Keep a reference, which has nothing beside it there.
        """
        rest = set(given) - {"$ref", "description", "title"}
        if rest:
            self._refuse(f"{', '.join(sorted(rest))} stands beside a reference")

        return {"$ref": given["$ref"]}

    def _close(self, given: dict[str, Any]) -> None:
        if given.get("additionalProperties") is not False:
            self._refuse("an object of it takes members of any name")
        members: dict[str, Any] = given.setdefault("properties", {})
        self._members += len(members)
        if self._members > MOST_MEMBERS:
            self._refuse(f"it has more than {MOST_MEMBERS} members")
        given["required"] = list(members)

    def _describe(self, given: dict[str, Any], default: object) -> None:
        text = json.dumps(default, ensure_ascii=False)
        said = given.get("description", "")
        given["description"] = f"{said} Default: {text}.".strip()

    def _refuse(self, reason: str) -> NoReturn:
        raise NotStrictError(reason)
