"""
Make of a declared tool what a call needs: its definition, its check and how it is run.
"""

from __future__ import annotations

import json

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Any, TypeAlias, final

from ._context import ToolContext
from ._declared import Declared
from ._meta import ToolMeta
from ._repair import repair
from ._schema import Shape
from ._signature import Promise
from ._spec import GivenPromise
from ._subschemas import copied
from .exceptions import InvalidArgumentsError


Validate: TypeAlias = Callable[[str, dict[str, Any]], dict[str, Any]]
Call: TypeAlias = Callable[[dict[str, Any], ToolContext], object]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """
    What a model is shown of a tool.

    Attributes:
        name: The name on the wire.
        description: What it does.
        input_schema: JSON Schema of the arguments; read-only.
        output_schema: JSON Schema of the result where its type is declared: an object,
            or ``{"result": ...}`` around what is none.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """
    What a call needs of a tool.

    Attributes:
        definition: What the model is shown.
        validate: Takes the arguments as JSON text and parsed, and returns them by
            parameter, or raises InvalidArgumentsError. With ``coerce="repair"`` the
            parsed arguments are brought to what was accepted, in place.
        call: Runs the body with such values; what it returns may have to be awaited.
    """

    definition: ToolDefinition
    validate: Validate
    call: Call


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _Slot:
    """
    One parameter, as a call fills it.
    """

    name: str
    positional: bool
    injected: bool
    default: object


def build(declared: Declared) -> Built:
    """
    Make what a call of *declared* needs.

    Raises:
        DeclarationError: A hint cannot be read, or has no JSON form.
    """
    if isinstance(declared.promise, GivenPromise):
        return _build_given(declared, declared.promise)

    return _build_read(declared, declared.promise)


def _build_read(declared: Declared, promise: Promise) -> Built:
    meta = declared.meta
    shape = promise.built
    if not isinstance(shape, Shape):
        shape = promise.built = Shape(promise)
    slots = [
        _Slot(
            name=p.name,
            positional=p.positional,
            injected=p.injected,
            default=p.default,
        )
        for p in promise.parameters()
    ]
    validate: Validate = _reader(shape, meta)
    if meta.coerce == "repair":
        validate = _repairing(validate, shape.schema)

    return Built(
        definition=_definition(meta, shape.schema, shape.output),
        validate=validate,
        call=_caller(declared.function, slots),
    )


def _build_given(declared: Declared, promise: GivenPromise) -> Built:
    meta, given = declared.meta, promise.given
    slots = [
        _Slot(
            name=p.name,
            positional=p.kind is Parameter.POSITIONAL_ONLY,
            injected=p.name in promise.contexts,
            default=p.default,
        )
        for p in promise.parameters
    ]
    call = _caller(declared.function, slots)

    def call_with_one(values: dict[str, Any], context: ToolContext) -> object:
        return call({str(promise.whole): values}, context)

    def validate(_text: str, data: dict[str, Any]) -> dict[str, Any]:
        if problems := given.problems(data, sensitive=meta.sensitive):
            raise InvalidArgumentsError(tool=meta.name, problems=problems)

        # A copy: the body may change what it is given.
        values: dict[str, Any] = copied(data)
        return values

    return Built(
        definition=_definition(meta, given.schema, None),
        validate=_repairing(validate, given.schema)
        if meta.coerce == "repair"
        else validate,
        call=call if promise.whole is None else call_with_one,
    )


def _definition(
    meta: ToolMeta, schema: Mapping[str, Any], output: Mapping[str, Any] | None
) -> ToolDefinition:
    return ToolDefinition(
        name=meta.name,
        description=meta.description,
        input_schema=schema,
        output_schema=output,
    )


def _reader(shape: Shape, meta: ToolMeta) -> Validate:
    def validate(text: str, data: dict[str, Any]) -> dict[str, Any]:
        return shape.values(text, data, meta)

    return validate


def _repairing(validate: Validate, schema: Mapping[str, Any]) -> Validate:
    """
    Try once more with lists and objects in place of the strings that hold them.
    """

    def validate_repaired(text: str, data: dict[str, Any]) -> dict[str, Any]:
        try:
            return validate(text, data)
        except InvalidArgumentsError:
            if not repair(schema, data):
                raise

        return validate(json.dumps(data, ensure_ascii=False), data)

    return validate_repaired


def _caller(function: Callable[..., Any], slots: Sequence[_Slot]) -> Call:
    """
    Make the shortest call that fills all parameters.
    """
    injected = [slot.name for slot in slots if slot.injected]
    if any(slot.positional for slot in slots):
        return _placing_caller(function, slots)
    if not injected:
        return lambda values, _context: function(**values)

    return lambda values, context: function(
        **values, **dict.fromkeys(injected, context)
    )


def _placing_caller(function: Callable[..., Any], slots: Sequence[_Slot]) -> Call:
    """
    Call a function that takes some of its parameters by their place alone.
    """

    def call(values: dict[str, Any], context: ToolContext) -> object:
        named = dict(values)
        placed = [
            context if slot.injected else named.pop(slot.name, slot.default)
            for slot in slots
            if slot.positional
        ]
        # A parameter that is filled by its place leaves its name to a member of that name.
        named.update(
            (slot.name, context)
            for slot in slots
            if slot.injected and not slot.positional
        )

        return function(*placed, **named)

    return call
