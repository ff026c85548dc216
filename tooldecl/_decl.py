"""
The decorator: note what is declared, and leave the function what it is.

The run-time object is a proxy that calls straight through. What it holds must be named
``_self_...`` and be set in ``__init__``: an annotation in the body of a proxy class,
even one for type checkers alone, would become the ``__annotations__`` of every tool.
"""

from __future__ import annotations

import sys

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from inspect import isclass
from itertools import takewhile
from pickle import PicklingError
from types import FrameType, MethodType
from typing import Any, Generic, NoReturn, ParamSpec, TypeVar, overload

from wrapt import BoundFunctionWrapper, FunctionWrapper

from ._declared import Carrier, Declaration, carrier_in, meta_of
from ._groups import prefixed, tools_in
from ._meta import ToolMeta, ToolOptions
from ._refs import label_of, ref_to, site_of, type_of
from ._sentinels import UNSET
from ._signature import (
    MISSING,
    Promise,
    innermost,
    is_method,
    layers,
    name_of,
    promise_of,
    runs_async,
)
from ._spec import ToolSpec
from .exceptions import DeclarationError


__all__ = ["ToolSpec", "meta_of", "prefixed", "tool", "tools_in"]

P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])

OPTIONS = [f.name for f in fields(ToolOptions)]
RECORD = {"meta", *(f.name for f in fields(ToolMeta))}


class BoundTool(Carrier, BoundFunctionWrapper):
    """
    A tool taken from an instance or a class.
    """

    __test__ = False

    def _self_declaration(self) -> Declaration:
        declaration: Declaration = self._self_parent._self_declaration()
        return declaration

    def _self_is_bound(self) -> bool:
        bound_before = self.__wrapped__ is self._self_parent.__wrapped__
        return isinstance(self, MethodType) and not bound_before

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"A bound tool takes no attribute {name!r}.")

    def __copy__(self) -> BoundTool:
        return self

    def __deepcopy__(self, memo: object) -> BoundTool:
        return self

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is BoundTool
            and self._self_parent is other._self_parent
            and bool(self.__wrapped__ == other.__wrapped__)
        )

    # A proxy defines this one too, so it does not follow from __eq__.
    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((id(self._self_parent), self.__wrapped__))

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        holder = self._self_instance
        holder = self._self_owner if holder is None else holder

        return getattr, (holder, self.__name__)

    def __repr__(self) -> str:
        name = self._self_declaration().meta.name

        return f"<tool {name} of {self._self_instance!r}>"

    def __str__(self) -> str:
        return repr(self)


class Tool(Carrier, FunctionWrapper):
    """
    A function declared with ``@tool``.
    """

    __bound_function_wrapper__ = BoundTool
    __test__ = False  # pytest takes what looks like a function named test_* for a test

    def __init__(self, function: Any, declaration: Declaration) -> None:
        # Disabled, so that a call goes straight to the function.
        super().__init__(function, None, False)
        self._self_declared = declaration

    def _self_declaration(self) -> Declaration:
        return self._self_declared

    def __setattr__(self, name: str, value: object) -> None:
        if name in RECORD:
            raise AttributeError(
                f"{name} is part of what was declared and cannot be changed: declare it "
                f"with @tool."
            )
        if name.startswith("_self_") or (name.startswith("__") and name.endswith("__")):
            super().__setattr__(name, value)
        else:
            # Other attributes stay here; a proxy would put them on the function.
            self.__self_setattr__(name, value)

    def __copy__(self) -> Tool:
        return self

    def __deepcopy__(self, memo: object) -> Tool:
        return self

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __reduce_ex__(self, protocol: object) -> str:
        name = getattr(self.__wrapped__, "__qualname__", None)
        if not isinstance(name, str):
            raise PicklingError(
                f"Tool {self._self_declared.meta.name!r} is not a function of a module: "
                "it cannot be found again by its name."
            )

        return name

    def __repr__(self) -> str:
        return f"<tool {self._self_declared.meta.name}>"

    def __str__(self) -> str:
        return repr(self)


class _Decorator(Generic[P]):
    """
    Declare a function as a tool: ``@tool``, or ``@tool(option=...)``.

    The options are the fields of `ToolMeta`, all given by name. The function stays what
    it is: the same call, result, exceptions, signature and type. Nothing is registered.

    Raises:
        DeclarationError: The function cannot be a tool, or an option does not fit.
        TypeError: There is no such option.
    """

    def __init__(self, options: Callable[P, ToolOptions]) -> None:
        self.__doc__ = type(self).__doc__
        self._options: Callable[..., ToolOptions] = options

    @overload
    def __call__(self, function: F, /) -> F: ...

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Callable[[F], F]: ...

    def __call__(self, *functions: Any, **kwargs: Any) -> Any:
        for function in functions:
            if kwargs or len(functions) > 1:
                raise DeclarationError(
                    "@tool takes either a function, or options by their names."
                )
            return _declare(function, ToolOptions(), sys._getframe(1))
        try:
            options = self._options(**kwargs)
        except TypeError as error:
            text = str(error).replace(f"{ToolOptions.__name__}.__init__()", "tool()")
            raise TypeError(text) from None

        def decorate(function: F) -> F:
            declared: Any = _declare(function, options, sys._getframe(1))
            result: F = declared
            return result

        return decorate

    def __repr__(self) -> str:
        return "<decorator tooldecl.tool>"


tool = _Decorator(ToolOptions)


def _declare(function: Any, options: ToolOptions, frame: FrameType) -> Tool:
    _refuse_what_is_no_function(function)
    promise = promise_of(function, frame)
    promise.read_early(excused=_self_of(function, promise))
    given = {name: getattr(options, name) for name in OPTIONS}
    if given["name"] is UNSET:
        given["name"] = name_of(function)
    if given["description"] is UNSET:
        given["description"] = _description(promise)
    meta = ToolMeta(
        **given,
        is_async=runs_async(function) or promise.returns_awaitable(),
        ref=ref_to(promise.inside),
        site=site_of(promise.inside),
    )

    return Tool(function, Declaration(meta=meta, promise=promise))


def _description(promise: Promise) -> str:
    if not promise.doc.text:
        raise DeclarationError(
            f"{promise.label} cannot be a tool: it has no description. Give it a docstring (an "
            "f-string is none) or @tool(description=...)."
        )

    return promise.doc.text


def _self_of(function: object, promise: Promise) -> Any:
    """
    Return the parameter that only binding fills, where there may be one.
    """
    first = promise.written[0] if promise.written else None
    if first is None or first.annotation is not MISSING:
        return None
    if any(isinstance(x, (MethodType, staticmethod)) for x in layers(function)):
        return None

    return first if is_method(promise.inside) else None


def _refuse_what_is_no_function(function: object) -> None:
    if isclass(function):
        _refuse(f"a function, got the class {label_of(ref_to(function))}")
    kind = type_of(function)
    if not callable(function) and not issubclass(kind, classmethod):
        _refuse(f"a function, got {kind.__name__}: options go by their names")
    carrier = carrier_in(function)
    if carrier is not None and not _is_filled_in(function):
        raise DeclarationError(
            f"{label_of(ref_to(innermost(function)))} is a tool already: declare it once."
        )


def _is_filled_in(function: object) -> bool:
    """
    Tell a tool with arguments filled in, which may be declared anew under another name.
    """
    outside = takewhile(_is_around, map(type_of, layers(function)))

    return any(issubclass(kind, partial) for kind in outside)


def _is_around(kind: type[object]) -> bool:
    return not issubclass(kind, Carrier)


def _refuse(takes: str) -> NoReturn:
    raise DeclarationError(f"@tool takes {takes}.")
