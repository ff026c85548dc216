"""
Look through the wrappers around a function, at what runs and at what it was made of.

A callable may be wrapped many times: by `functools.partial`, by decorators that set
``__wrapped__``, by binding. `inward` goes one step from the outside to the function.
"""

from __future__ import annotations

import functools
import inspect

from collections.abc import Iterator
from inspect import Parameter
from types import FunctionType, MethodType
from typing import Any

from .._refs import type_of
from ..exceptions import UnsupportedSignatureError


MISSING = Parameter.empty
POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)

ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

# Wrappers of real programs are a few deep; a chain of this length goes in a circle.
DEEPEST = 100


def inward(function: Any) -> Any:
    """
    Return what *function* wraps, or None for the function inside.

    The type is asked, never the object: proxies claim to be what they wrap.
    """
    kind = type_of(function)
    if kind is FunctionType:  # its class gives nothing away
        return function.__dict__.get("__wrapped__")
    if issubclass(kind, (classmethod, staticmethod, MethodType)):
        return function.__func__
    if issubclass(kind, functools.partial):
        return function.func
    if is_wrapper(function):
        return function.__wrapped__
    if inspect.isroutine(function) or isinstance(function, type):
        return None
    call = getattr(function, "__call__", None)  # noqa: B004 (its code is wanted)

    return call if type(call) in (FunctionType, MethodType) else None


def is_wrapper(function: object) -> bool:
    """
    Tell whether there is something inside, without running code of the object.
    """
    if inspect.getattr_static(function, "__wrapped__", None) is not None:
        return True

    return _is_proxy(type_of(function))


def _is_proxy(kind: type[object]) -> bool:
    """
    Tell wrapt's proxies, in C and in Python, where nothing static gives them away.
    """
    return any(
        "__wrapped__" in vars(c) or c.__module__.startswith("wrapt.")
        for c in kind.__mro__
    )


def layers(function: object) -> Iterator[Any]:
    """
    Yield *function* and all that it wraps, from the outside in.

    Raises:
        UnsupportedSignatureError: The wrappers go in a circle.
    """
    for _ in range(DEEPEST):
        yield function
        function = inward(function)
        if function is None:
            return

    raise UnsupportedSignatureError(
        "The wrappers around a function go in a circle: it cannot be a tool.",
        tool=type(function).__name__,
        parameter=None,
    )


def innermost(function: object) -> Any:
    """
    Return the function inside of all wrappers.
    """
    *_, inside = layers(function)

    return inside


def parameters_of(function: Any) -> list[Parameter]:
    """
    Return the parameters that a caller of *function* can give.

    Raises:
        UnsupportedSignatureError: They cannot be known.
    """
    kind = type_of(function)
    if issubclass(kind, functools.partial):
        return _left_by(function)
    if issubclass(kind, MethodType):
        return without_first(parameters_of(function.__func__))
    inside = inward(function)
    if inside is not None and not _has_own_signature(function):
        return parameters_of(inside)
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise UnsupportedSignatureError(
            f"{name_of(function)} cannot be a tool: it has no signature to read. Call "
            "it from a function of your own.",
            tool=name_of(function),
            parameter=None,
        ) from None


def _has_own_signature(function: Any) -> bool:
    """
    Tell a wrapper that says itself what it takes.
    """
    kind = type_of(function)
    if kind is FunctionType and "__signature__" in vars(function):
        return True

    return any("__signature__" in vars(c) for c in kind.__mro__)


def without_first(parameters: list[Parameter]) -> list[Parameter]:
    """
    Leave out the parameter that binding fills.
    """
    if parameters and parameters[0].kind in POSITIONAL:
        return parameters[1:]

    return parameters


def _left_by(partial: functools.partial[Any]) -> list[Parameter]:
    """
    Return the parameters that a partial has not filled.
    """
    parameters = parameters_of(partial.func)
    for _ in partial.args:
        if not parameters or parameters[0].kind is Parameter.KEYWORD_ONLY:
            _refuse_partial(partial, "more arguments than it takes")
        parameters = without_first(parameters)
    open_ended = any(p.kind is Parameter.VAR_KEYWORD for p in parameters)
    for name in partial.keywords:
        if not open_ended and all(p.name != name for p in parameters):
            _refuse_partial(partial, f"an argument {name!r} that it does not take")
    left: list[Parameter] = []
    by_name = False
    for parameter in parameters:
        if parameter.name in partial.keywords:
            by_name = True
        elif by_name and parameter.kind is Parameter.POSITIONAL_OR_KEYWORD:
            left.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))
        else:
            left.append(parameter)

    return left


def _refuse_partial(partial: functools.partial[Any], what: str) -> None:
    name = name_of(partial)
    raise UnsupportedSignatureError(
        f"{name} cannot be a tool: functools.partial gives it {what}.",
        tool=name,
        parameter=None,
    )


def name_of(function: object) -> str:
    """
    Return the name of a function, or of the class of a callable object.
    """
    for layer in layers(function):
        name = getattr(layer, "__name__", None)
        if isinstance(name, str):
            return name
        if not isinstance(layer, functools.partial):
            return type(layer).__name__

    raise AssertionError("unreachable")


def docstring_of(function: object) -> str | None:
    """
    Return the first docstring there is, from the outside in.
    """
    for layer in layers(function):
        doc = getattr(layer, "__doc__", None)
        if type(layer) is FunctionType:
            pass
        elif isinstance(layer, functools.partial):
            doc = vars(layer).get("__doc__")
        elif not _is_code(layer):
            doc = getattr(inward(layer), "__doc__", None) or _class_doc(layer.__class__)
        if isinstance(doc, str) and doc.strip():
            return doc

    return None


def _class_doc(cls: type[object]) -> str | None:
    doc = vars(cls).get("__doc__")
    made_up = isinstance(doc, str) and doc.startswith(f"{cls.__name__}(")

    return None if made_up else doc


def _is_code(layer: object) -> bool:
    """
    Tell functions, methods and wrappers around them from objects with ``__call__``.
    """
    return inspect.isroutine(layer) or hasattr(layer, "__wrapped__")


def runs_async(function: Any) -> bool:
    """
    Tell whether calling *function* gives a coroutine or an async generator.
    """
    if type(function) is FunctionType and not function.__dict__:
        return bool(function.__code__.co_flags & ASYNC)
    while _is_transparent(function):
        function = inward(function)
    if not inspect.isroutine(function) and not isinstance(function, type):
        function = getattr(function, "__call__", function)  # noqa: B004

    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


def answers_at_once(given: object) -> bool:
    """
    Tell whether *given* can be called and gives nothing that has to be awaited.
    """
    return callable(given) and not runs_async(given)


def _is_transparent(function: object) -> bool:
    """
    Tell the wrappers that add no code of their own: what they give is what is inside.
    """
    kind = type_of(function)
    inert = (functools.partial, classmethod, staticmethod)

    return issubclass(kind, inert) or _is_proxy(kind)


def is_method(function: object) -> bool:
    """
    Tell by its name whether a function was defined in the body of a class.
    """
    owner = getattr(function, "__qualname__", "").rpartition(".")[0]

    return bool(owner) and not owner.endswith("<locals>")
