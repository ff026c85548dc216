"""
Tools that have no Python signature: a schema is given, and a handler takes what fits it.
"""

from __future__ import annotations

import sys

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields
from inspect import Parameter
from types import FrameType
from typing import Any, NoReturn, final

from ._jsonschema import GivenSchema, is_open, named_in, never_given, requires, speaking
from ._meta import ToolMeta, ToolOptions, declaring
from ._records import record
from ._refs import ref_to, site_at
from ._signature import MISSING, POSITIONAL, VARIADIC, Promise, promise_of, runs_async
from .exceptions import DeclarationError


__all__ = ["ToolSpec"]


@final
@record(frozen=True, slots=True, kw_only=True)
class GivenPromise:
    """
    What a handler takes.

    Attributes:
        given: The schema of the arguments.
        whole: The parameter that takes the arguments as one dict, or None.
        parameters: Its parameters, but the variadic ones.
        contexts: Names of those that the context goes to.
    """

    given: GivenSchema
    whole: str | None
    parameters: tuple[Parameter, ...]
    contexts: frozenset[str]


@final
@record(frozen=True, slots=True, kw_only=True, eq=False)
class ToolSpec(ToolOptions):
    """
    A tool from a JSON Schema and a handler, for what has no signature of its own.

    A handler with exactly one required positional parameter, the `ToolContext` apart,
    whose name is no property of the schema gets the arguments as one dict. Every other
    handler gets them as keywords. A parameter annotated `ToolContext` is filled in. The
    handler may be async.

    Objects in the schema take only the members that they name, unless they say something
    about ``additionalProperties``. Checking needs the package jsonschema
    (``tooldecl[jsonschema]``).

    Attributes:
        name: The name on the wire.
        description: What the model reads.
        input_schema: JSON Schema of the arguments; a closed, read-only copy.
        handler: What is called.
        meta: What was declared, as for any tool; every option of `tool` is taken.

    Raises:
        DeclarationError: An option, the schema or the handler does not fit.
    """

    name: str = field()
    description: str = field()
    input_schema: Mapping[str, Any]
    handler: Callable[..., Any]
    meta: ToolMeta = field(init=False)
    promise: GivenPromise = field(init=False)
    module: str = field(init=False)

    def __post_init__(self) -> None:
        frame = _caller()
        owner = f"ToolSpec {self.name!r}"
        handler: object = self.handler
        if not callable(handler) or isinstance(handler, type):
            kind = type(handler).__name__
            raise DeclarationError(f"{owner}: handler takes a function, got {kind}.")
        promise = promise_of(handler, frame)
        with declaring(owner):
            meta = ToolMeta(
                **{f.name: getattr(self, f.name) for f in fields(ToolOptions)},
                is_async=runs_async(handler) or promise.returns_awaitable(),
                ref=ref_to(promise.inside),
                site=site_at(frame),
            )
        given = GivenSchema(self.input_schema, owner=owner)
        self._set("meta", meta)
        self._set("input_schema", given.schema)
        self._set("promise", _taken_by(promise, given, owner))
        self._set("module", frame.f_globals.get("__name__", ""))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"<ToolSpec {self.name}>"


def _caller() -> FrameType:
    """
    Return where a spec is made, past the constructor and `dataclasses.replace`.
    """
    frame: FrameType | None = sys._getframe(3)
    while frame is not None and frame.f_globals.get("__name__") == "dataclasses":
        frame = frame.f_back
    if frame is None:
        raise AssertionError("unreachable")

    return frame


def _taken_by(promise: Promise, given: GivenSchema, owner: str) -> GivenPromise:
    contexts = promise.contexts()
    asked = [p for p in promise.written if p.name not in contexts]
    spoken = speaking(given.schema, [given.schema])
    needed = [p for p in asked if p.default is MISSING and p.kind in POSITIONAL]
    whole = len(needed) == 1 and needed[0].name not in named_in(spoken)
    _Fit(owner, given.schema, asked).check(filled=needed if whole else None)

    return GivenPromise(
        given=given,
        whole=needed[0].name if whole else None,
        parameters=tuple(p for p in promise.written if p.kind not in VARIADIC),
        contexts=contexts,
    )


@final
class _Fit:
    """
    Whether a handler can be called with whatever its schema lets through.
    """

    def __init__(
        self, owner: str, schema: Mapping[str, Any], asked: Sequence[Parameter]
    ) -> None:
        self._owner = owner
        self._schema = schema
        self._asked = [p for p in asked if p.kind not in VARIADIC]
        self._takes_any = any(p.kind is Parameter.VAR_KEYWORD for p in asked)

    def check(self, *, filled: Sequence[Parameter] | None) -> None:
        """
        Refuse a handler that some valid arguments could not be given to.

        Args:
            filled: The parameter that takes the arguments as one dict, or None.
        """
        schema = self._schema
        lacking = never_given(schema)
        if lacking is not None:
            self._refuse(
                f"its schema requires {lacking!r}, and takes no member of that name: "
                "name it in properties, or say something about additionalProperties"
            )
        certain = [schema, *speaking(schema, schema.get("allOf", ()))]
        for parameter in self._asked:
            sure = parameter in filled if filled else requires(certain, parameter.name)
            if parameter.default is MISSING and not sure:
                self._refuse(
                    f"its handler needs {parameter.name!r}, which the schema does not "
                    "require"
                )
        if filled or self._takes_any:
            return
        spoken = speaking(schema, [schema])
        for name in named_in(spoken):
            if all(p.name != name for p in self._asked):
                self._refuse(
                    f"its schema offers {name!r}, which the handler does not take"
                )
        if is_open(spoken):
            self._refuse(
                "its schema takes members of any name, and its handler does not. Let "
                "the handler take the arguments as one dict, or **kwargs"
            )

    def _refuse(self, reason: str) -> NoReturn:
        raise DeclarationError(f"{self._owner} cannot be called: {reason}.")
