"""
Make of a declared tool what a call needs: its definition, its check and how it is run.
"""

from __future__ import annotations

import json

from collections.abc import Callable, Sequence
from inspect import Parameter
from typing import Any, NoReturn, TypeAlias, final

from ._context import ToolContext
from ._declared import Declared
from ._jsonschema import Schema, copied
from ._meta import ToolMeta
from ._records import record
from ._repair import repair
from ._schema import Shape
from ._signature import Promise
from ._spec import GivenPromise
from .exceptions import InvalidArgumentsError


Validate: TypeAlias = Callable[[str, dict[str, Any]], dict[str, Any]]
Call: TypeAlias = Callable[[dict[str, Any], ToolContext], object]
Output: TypeAlias = Callable[[], Schema | None]


@final
class ToolDefinition:
    """
    What a model is shown of a tool; it never changes.

    Args:
        name: The name on the wire.
        description: What it does.
        input_schema: JSON Schema of the arguments; read-only.
        output_schema: JSON Schema of the result where its type is declared: an object,
            or ``{"result": ...}`` around what is none. It may be given as what makes it
            once it is asked for, since few formats show it.
    """

    __slots__ = ("_output", "description", "input_schema", "name")

    name: str
    description: str
    input_schema: Schema
    _output: Schema | None | Output

    def __init__(
        self,
        name: str,
        description: str,
        input_schema: Schema,
        output_schema: Schema | None | Output = None,
    ) -> None:
        given = output_schema, description, input_schema, name
        for slot, value in zip(self.__slots__, given, strict=True):
            object.__setattr__(self, slot, value)

    @property
    def output_schema(self) -> Schema | None:
        """
        The JSON Schema of the result, or None.
        """
        return self._output() if callable(self._output) else self._output

    def _shown(self) -> tuple[object, ...]:
        return self.name, self.description, self.input_schema, self.output_schema

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ToolDefinition) and self._shown() == other._shown()

    def __hash__(self) -> int:
        return hash(self._shown())  # a TypeError, since its schemas have none

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("A definition never changes.")

    def __reduce__(self) -> tuple[object, ...]:
        return ToolDefinition, self._shown()

    def __repr__(self) -> str:
        name, description, schema, output = self._shown()

        return (
            f"ToolDefinition(name={name!r}, description={description!r}, "
            f"input_schema={schema!r}, output_schema={output!r})"
        )


@final
@record(frozen=True, slots=True, kw_only=True)
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
@record(frozen=True, slots=True, kw_only=True)
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
    meta: ToolMeta, schema: Schema, output: Output | None
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


def _repairing(validate: Validate, schema: Schema) -> Validate:
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
