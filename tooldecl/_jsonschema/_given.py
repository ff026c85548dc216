"""
Check arguments against a JSON Schema that was given.

It is closed first: an object takes only the members that it names, unless it says
something about ``additionalProperties``.
"""

from __future__ import annotations

import re

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, final

from .._readonly import frozen_mapping
from ._closing import close_objects
from ._dialect import library_for, take_over
from ._problems import (
    MOST,
    Finding,
    Problem,
    choices_at,
    missing,
    most_telling,
    not_a_choice,
    settle,
    unknown_key,
)
from ._subschemas import Path, is_listed, named_in, speaking


KINDS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "text",
}

FORBIDDEN = "is not allowed here."

# The figures come from the schema, never from the call.
RULES = {
    "contains": "lacks an item that it has to have.",
    "dependentRequired": "lacks a member that another one needs.",
    "exclusiveMaximum": "must be below {0}.",
    "exclusiveMinimum": "must be above {0}.",
    "items": "has more items than it may have.",
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
        library = library_for(owner)
        copy = take_over(given, owner, library)
        close_objects(copy)
        self.schema = frozen_mapping(copy)
        self._validator = library.validator(copy)

    def problems(self, data: Mapping[str, Any], *, sensitive: bool) -> list[Problem]:
        """
        Return what is wrong with *data*.
        """
        found: list[Finding] = []
        for error in islice(self._validator.iter_errors(data), MOST):
            found += self._findings(error, data)

        return settle(found, schema=self.schema, data=data, sensitive=sensitive)

    def _findings(self, error: Any, data: object) -> list[Finding]:
        path, rule = tuple(error.absolute_path), error.validator
        given, value = error.validator_value, error.instance
        match rule:
            case "type":
                names = [given] if isinstance(given, str) else given
                return [Finding(path=path, expected=KINDS[name]) for name in names]
            case "required":
                return [missing((*path, n)) for n in given if n not in value]
            case "enum":
                return [self._off(path, given, value, data)]
            case "const":
                return [self._off(path, [given], value, data)]
            case "additionalProperties" | "unevaluatedProperties":
                return list(self._unknown(error))
            case "anyOf" | "oneOf" if error.context:
                return self._forms(error, path, data)
            case _:
                pass
        text = RULES.get(rule, FORBIDDEN)
        if rule == "not" and not given:
            text = FORBIDDEN

        return [Finding(path=path, text=text.format(given), decisive=True)]

    def _off(
        self, path: Path, given: Sequence[object], value: object, data: object
    ) -> Finding:
        listed = choices_at(self.schema, data, path)
        elsewhere = not is_listed(value, given) and is_listed(value, listed)

        return replace(not_a_choice(path, given, value), elsewhere=elsewhere)

    def _forms(self, error: Any, path: Path, data: object) -> list[Finding]:
        forms: dict[object, list[Finding]] = {}
        for inner in error.context:
            forms.setdefault(inner.schema_path[0], []).extend(
                self._findings(inner, data)
            )

        return most_telling(list(forms.values()), path)

    def _unknown(self, error: Any) -> Iterator[Finding]:
        path, schema = tuple(error.absolute_path), error.schema
        spoken = speaking(self.schema, [schema])
        accepted = named_in(spoken)
        patterns: list[str] = []
        for speaker in spoken:
            patterns += speaker.get("patternProperties", {})
        for key in error.instance:
            if key not in accepted and not any(re.search(p, key) for p in patterns):
                yield unknown_key((*path, key), accepted, patterns)
