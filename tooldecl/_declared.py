"""
Find the tool in whatever stands in a client's list.
"""

from __future__ import annotations

import inspect

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from types import MethodType, ModuleType
from typing import Any, final

from ._meta import ToolMeta
from ._records import record
from ._refs import label_of, ref_to, type_of
from ._signature import MISSING, Promise, is_method, layers, runs_async
from ._spec import GivenPromise, ToolSpec
from .exceptions import DeclarationError


@final
@record(frozen=True, slots=True, kw_only=True)
class Declaration:
    """
    What ``@tool`` has noted about a function.
    """

    meta: ToolMeta
    promise: Promise


class Carrier:
    """
    What functions declared with ``@tool`` are known by.

    The type is asked, never an attribute: wrappers over a tool pass its attributes on.
    """

    __slots__ = ()

    def _self_declaration(self) -> Declaration:
        raise AssertionError("unreachable")

    def _self_is_bound(self) -> bool:
        """
        Tell whether the tool was bound, and not the function before it became one.
        """
        return False


@final
@record(frozen=True, slots=True, kw_only=True)
class Declared:
    """
    One tool of a client's list, whatever it came from.

    Attributes:
        meta: What was declared about it.
        function: What is called: the outermost wrapper, a bound method, a handler.
        promise: What it takes.
    """

    meta: ToolMeta
    function: Callable[..., Any]
    promise: Promise | GivenPromise

    @property
    def read(self) -> Promise | None:
        """
        What was read from the function; None where a schema is given in its place.
        """
        return self.promise if isinstance(self.promise, Promise) else None


def meta_of(function: Callable[..., Any] | ToolSpec | Declared) -> ToolMeta:
    """
    Return what was declared about a tool: a decorated function, also bound or wrapped.

    Raises:
        DeclarationError: It is not a tool.
    """
    if isinstance(function, (ToolSpec, Declared)):
        return function.meta
    carrier = _found_in(function)
    declaration = carrier._self_declaration()

    return _meta_of(function, carrier, declaration)


def declared_of(entry: object) -> Declared:
    """
    Return the tool that *entry* is.

    Raises:
        DeclarationError: It is not a tool, or not one that can be called as it stands.
    """
    if isinstance(entry, Declared):
        return entry
    if isinstance(entry, ToolSpec):
        return Declared(meta=entry.meta, function=entry.handler, promise=entry.promise)
    carrier = _found_in(entry)
    declaration = carrier._self_declaration()
    promise = declaration.promise
    if carrier is not entry:
        promise = promise.around(entry)
    elif carrier._self_is_bound():
        promise = promise.bound()
    _refuse_unbound(entry, promise)
    function: Any = entry

    return Declared(
        meta=_meta_of(entry, carrier, declaration), function=function, promise=promise
    )


def carrier_in(entry: object) -> Carrier | None:
    """
    Return the decorated function in *entry*, through all that is wrapped around it.
    """
    for layer in layers(entry):
        if issubclass(type(layer), Carrier):
            carrier: Carrier = layer
            return carrier

    return None


def _meta_of(entry: object, carrier: Carrier, declaration: Declaration) -> ToolMeta:
    """
    Return the record; a wrapper decides for itself whether it is awaited.
    """
    if carrier is entry:
        return declaration.meta
    is_async = runs_async(entry) or declaration.promise.returns_awaitable()
    if is_async == declaration.meta.is_async:
        return declaration.meta

    return replace(declaration.meta, is_async=is_async)


def _found_in(entry: object) -> Carrier:
    carrier = carrier_in(entry)
    if carrier is None:
        raise DeclarationError(_not_a_tool(entry))

    return carrier


def _not_a_tool(entry: object) -> str:
    if isinstance(entry, ModuleType):
        name = entry.__name__
        return f"The module {name} is not a tool. Take its tools with tools_in({name})."
    kind = type_of(entry)
    if issubclass(kind, (Mapping, Sequence, AbstractSet)) and kind is not str:
        return f"A {kind.__name__} is not a tool. List its tools one by one, or unpack it with *."
    if isinstance(entry, type) or inspect.isroutine(entry):
        return f"{label_of(ref_to(entry))} is not a tool. Decorate it with @tool."

    return (
        f"An object of type {label_of(ref_to(kind))} is not a tool. Decorate a "
        "function with @tool, or make a ToolSpec."
    )


def _refuse_unbound(entry: object, promise: Promise) -> None:
    """
    Refuse a method that no instance was bound to: its first parameter is no argument.
    """
    first = promise.written[0] if promise.written else None
    if first is None or not is_method(promise.inside):
        return
    if first.annotation is MISSING or (
        first.name == "self"
        and not any(isinstance(layer, MethodType) for layer in layers(entry))
    ):
        name = promise.label.rpartition(".")[2]
        raise DeclarationError(
            f"{promise.label} is a method that is not bound. List it from an instance, "
            f"as in instance.{name}."
        )
