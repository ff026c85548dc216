"""
Write the JSON Schema of declared types, and refuse what could be described and not kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, NoReturn, TypeAlias, final

from pydantic.json_schema import GenerateJsonSchema, JsonRef

from .._jsonschema import choices_in, is_array
from .._signature import MISSING
from ._published import plain_default


# What pydantic hands over, a dict of one of a hundred types, and what comes out of it.
Core: TypeAlias = Any
JSON: TypeAlias = dict[str, Any]

# What the validator takes, and where it or its schema would break the promise.
NOT_OFFERED = {
    "generator": (
        "an Iterable would only be checked while the body reads it; take list or Sequence"
    ),
    "is-subclass": "a class has no JSON form",
}
ONE_NAME = "each parameter is published under one name of its own: one alias"
ALIAS_PATH = (
    "a field in it is filled from inside of another member (AliasPath); give it an "
    "alias that is one name"
)
NO_JSON_CHOICE = (
    "one of the values listed in it is no text, number, boolean or null, so that none "
    "sent as JSON equals it"
)
NO_NAME = (
    "the keys of an object are texts in JSON, and no text is a key of the dict in it"
)

# The same text for every number, so that a model writes no key twice.
NAMES: dict[object, JSON] = {
    "boolean": {"enum": ["true", "false"]},
    "integer": {"pattern": r"^-?[0-9]+$"},
    "number": {"pattern": r"^-?[0-9]+(\.[0-9]+)?$"},
}


class NotOfferedError(Exception):
    """
    Something that could be described, and not kept.
    """


@final
class Omitted:
    """
    Stands for a default that the function itself will supply.
    """

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


# By the kind of a schema, the name of the method that writes it: filled by the first.
_WRITERS: dict[object, str] = {}


class _Writers(dict[Core, Core]):
    """
    The methods of one publisher, by the kind of schema they write.
    """

    def __init__(self, publisher: Publisher) -> None:
        super().__init__()
        self._publisher = publisher

    def __missing__(self, kind: object) -> Core:
        self[kind] = method = getattr(self._publisher, _WRITERS[kind])

        return method


class Publisher(GenerateJsonSchema):
    """
    Writes the schema of the arguments; publishes defaults only where they are plain JSON.
    """

    def build_schema_type_to_method(self) -> dict[Core, Core]:
        """
        Return what writes each kind of schema, by kind.

        There are a hundred kinds and a schema has a few: what writes them is looked for
        once, and bound where it is needed.
        """
        if not _WRITERS:
            found = super().build_schema_type_to_method()
            _WRITERS.update({k: method.__name__ for k, method in found.items()})

        return _Writers(self)

    def default_schema(self, schema: Core) -> JSON:
        published = self.generate_inner(schema["schema"])
        default = schema.get("default", MISSING)
        default = default.value if isinstance(default, Omitted) else default
        if (plain := plain_default(default)) is not MISSING:
            published["default"] = plain

        return published

    def get_argument_name(self, argument: Core) -> str:
        if not isinstance(argument.get("alias", ""), str):
            raise NotOfferedError(ONE_NAME)

        return super().get_argument_name(argument)

    def generator_schema(self, schema: Core) -> NoReturn:
        raise NotOfferedError(NOT_OFFERED[schema["type"]])

    def is_subclass_schema(self, schema: Core) -> NoReturn:
        raise NotOfferedError(NOT_OFFERED[schema["type"]])

    def field_is_present(self, field: Core) -> bool:
        """
        Leave out the fields that a dataclass fills itself; no caller can.
        """
        if self.mode == "validation" and not field.get("init", True):
            return False

        return super().field_is_present(field)

    def model_field_schema(self, schema: Core) -> JSON:
        self._refuse_path(schema)

        return super().model_field_schema(schema)

    def dataclass_field_schema(self, schema: Core) -> JSON:
        self._refuse_path(schema)

        return super().dataclass_field_schema(schema)

    def typed_dict_field_schema(self, schema: Core) -> JSON:
        self._refuse_path(schema)

        return super().typed_dict_field_schema(schema)

    def _refuse_path(self, field: Core) -> None:
        alias = field.get("validation_alias", "")
        if self.mode != "validation" or isinstance(alias, str):
            return
        if not any(is_array(one) and len(one) == 1 for one in alias):
            raise NotOfferedError(ALIAS_PATH)

    def literal_schema(self, schema: Core) -> JSON:
        self._refuse_choices(schema["expected"])

        return super().literal_schema(schema)

    def enum_schema(self, schema: Core) -> JSON:
        self._refuse_choices(schema["members"])

        return super().enum_schema(schema)

    def _refuse_choices(self, choices: Iterable[object]) -> None:
        values = [c.value if isinstance(c, Enum) else c for c in choices]
        plain = all(isinstance(v, (str, int, float, type(None))) for v in values)
        if self.mode == "validation" and not plain:
            raise NotOfferedError(NO_JSON_CHOICE)

    def dict_schema(self, schema: Core) -> JSON:
        return self._naming(schema, super().dict_schema(schema))

    def counter_schema(self, schema: Core) -> JSON:
        return self._naming(schema, super().counter_schema(schema))

    def frozendict_schema(self, schema: Core) -> JSON:
        return self._naming(schema, super().frozendict_schema(schema))

    def ordered_dict_schema(self, schema: Core) -> JSON:
        return self._naming(schema, super().ordered_dict_schema(schema))

    def _naming(self, schema: Core, published: JSON) -> JSON:
        """
        Say which names are keys, where the keys are no texts.
        """
        if self.mode != "validation" or "keys_schema" not in schema:
            return published
        given = schema["keys_schema"]
        keys = self.generate_inner(given)
        decimal = given["type"] == "decimal"
        names = NAMES["number"] if decimal else self._names_of(keys)
        if names is None:
            raise NotOfferedError(NO_NAME)
        if names is not keys and names:
            published["propertyNames"] = names

        return published

    def _names_of(self, keys: JSON) -> JSON | None:
        """
        Return what the names that stand for such keys are like, or None without any.
        """
        form = keys
        while "$ref" in form:
            form = self.get_schema_from_definitions(JsonRef(form["$ref"])) or {}
        if listed := choices_in(form):
            texts = [one for one in listed if isinstance(one, str)]
            some = {"enum": texts} if texts else None
            return keys if texts == listed else some
        if "anyOf" in form:
            found = [self._names_of(inner) for inner in form["anyOf"]]
            parts = [part for part in found if part is not None]
            free = any(part.keys() <= {"type"} for part in parts)
            return ({} if free else {"anyOf": parts}) if parts else None
        kind = form.get("type", "string")

        return keys if kind == "string" else NAMES.get(kind)
