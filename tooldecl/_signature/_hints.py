"""
Read annotations one by one: at declaration where they can be, else at first use.

The names in an annotation are looked for in the class bodies and the function around the
declaration, then in the module. What those bodies hold is kept only while a hint of a
parameter is still missing.
"""

from __future__ import annotations

import ast
import builtins
import types
import typing

from collections.abc import AsyncIterable, Awaitable, Iterator, Mapping
from inspect import Signature
from types import FrameType, UnionType
from typing import Annotated, Any, Union, final

from .._context import ToolContext


UNKNOWN = Signature.empty

AWAITABLE_NAMES = {
    "AsyncGenerator",
    "AsyncIterable",
    "AsyncIterator",
    "Awaitable",
    "Coroutine",
    "Future",
    "Task",
}


# What ``list[int]`` and ``int | None`` are instances of.
_PARAMETRISED = (types.GenericAlias, types.UnionType)


# Classes that stand for no type by themselves.
_NO_HINTS = {id(typing.Generic), id(typing.Protocol)}


@final
class UnreadableHintError(Exception):
    """
    An annotation that cannot be read, with the reason as text.

    Attributes:
        later: Whether it may be readable once more of the program has run.
    """

    def __init__(self, reason: str, *, later: bool) -> None:
        super().__init__(reason)
        self.later = later


@final
class Scope:
    """
    Where the annotations of one function find their names.
    """

    __slots__ = ("_function", "_names")

    def __init__(self, function: object, frame: FrameType | None = None) -> None:
        self._function = function
        self._names = _names_around(_definition(function, frame))

    def read(self, annotation: object) -> object:
        """
        Return what *annotation* means.

        Raises:
            UnreadableHintError: It cannot be read, or not yet.
        """
        if annotation is None:
            return types.NoneType
        if _says_it_all(annotation):
            return annotation
        if isinstance(annotation, str) and (named := self._class_named(annotation)):
            return named
        holder = types.SimpleNamespace(
            __annotations__={"hint": annotation},
            __type_params__=getattr(self._function, "__type_params__", ()),
        )
        outer = getattr(self._function, "__globals__", {})
        try:
            return typing.get_type_hints(
                holder, outer, self._names, include_extras=True
            )["hint"]
        except NameError as exc:
            name = exc.name or "it"
            reason = f"the name {name!r} is not defined"
            raise UnreadableHintError(reason, later=True) from None
        except AttributeError as exc:
            raise UnreadableHintError(str(exc), later=True) from None
        except SyntaxError:
            raise UnreadableHintError("it is not Python", later=False) from None
        # An annotation is code of the user's: evaluating it may raise anything.
        except Exception as exc:
            reason = f"{type(exc).__name__}: {exc}"
            raise UnreadableHintError(reason, later=False) from None

    def _class_named(self, text: str) -> object | None:
        """
        Return the class that a text names, where it is a plain name and no more.
        """
        if not text.isidentifier() or getattr(self._function, "__type_params__", None):
            return None
        outer = getattr(self._function, "__globals__", {})
        places: list[Mapping[str, object]] = [self._names, outer]
        if _is_usual(outer.get("__builtins__")):
            places.append(vars(builtins))
        for names in places:
            if text in names:
                found = names[text]
                is_plain = isinstance(found, type) and id(found) not in _NO_HINTS
                return found if is_plain else None

        return None

    def forget(self) -> None:
        """
        Let go of what the bodies around the declaration held.
        """
        self._names = {}


def _is_usual(known: object) -> bool:
    """
    Tell the builtins that code has unless it was given others.
    """
    return known is vars(builtins) or known is builtins


def _says_it_all(annotation: object) -> bool:
    """
    Tell what holds no name that would have to be looked for: classes, and unions and
    lists and the like of them.
    """
    if isinstance(annotation, type):
        return True

    return type(annotation) in _PARAMETRISED and all(
        isinstance(part, type) or _says_it_all(part)
        for part in typing.get_args(annotation)
    )


def _definition(function: object, frame: FrameType | None) -> FrameType | None:
    """
    Return where *function* is defined: further out where a helper declares it.
    """
    code = getattr(function, "__code__", None)
    around = frame
    while around is not None:
        for constant in around.f_code.co_consts:
            if constant is code:
                return around
        around = around.f_back

    return frame


def _names_around(frame: FrameType | None) -> dict[str, Any]:
    """
    Copy the names of the class bodies around a declaration and of the function there.
    """
    bodies: list[typing.Mapping[str, Any]] = []
    while frame is not None and frame.f_code.co_name != "<module>":
        bodies.append(frame.f_locals)
        frame = frame.f_back if "__qualname__" in frame.f_locals else None
    names: dict[str, Any] = {}
    for body in reversed(bodies):
        names.update(body)

    return names


def means_context(hint: object) -> bool:
    """
    Tell whether a hint asks for the `ToolContext`, however it is spelled.
    """
    members = [m for m in _members(hint) if m is not types.NoneType]

    return bool(members) and all(
        isinstance(m, type) and issubclass(m, ToolContext) for m in members
    )


def means_awaitable(hint: object) -> bool:
    """
    Tell whether a return hint promises something to be awaited.
    """
    members = [typing.get_origin(m) or m for m in _members(hint)]

    return bool(members) and all(
        isinstance(m, type) and issubclass(m, (Awaitable, AsyncIterable))
        for m in members
    )


def result_of(hint: object) -> Any:
    """
    Return what comes out of an awaitable; of a stream nothing is known as a whole.
    """
    origin = typing.get_origin(hint) or hint
    if not isinstance(origin, type):
        return hint
    if issubclass(origin, (Iterator, AsyncIterable)):
        return UNKNOWN
    if issubclass(origin, Awaitable):
        return (typing.get_args(hint) or (UNKNOWN,))[-1]

    return hint


def spells_context(annotation: object) -> bool:
    """
    Tell by its text alone whether an annotation that cannot be read names `ToolContext`.

    A name that is imported for type checkers only can be known in no other way.
    """
    names = _spelled(annotation)

    return bool(names) and names <= {ToolContext.__name__}


def spells_awaitable(annotation: object) -> bool:
    """
    Tell by its text alone whether a return annotation promises an awaitable.
    """
    names = _spelled(annotation)

    return bool(names) and names <= AWAITABLE_NAMES


def _members(hint: object) -> list[object]:
    """
    Open ``Annotated``, aliases and unions.
    """
    if isinstance(hint, type):
        return [hint]
    origin = typing.get_origin(hint)
    if origin is Annotated:
        return _members(typing.get_args(hint)[0])
    if origin in (Union, UnionType):
        return [m for arg in typing.get_args(hint) for m in _members(arg)]
    if type(hint).__name__ == "TypeAliasType":
        return _members(getattr(hint, "__value__", None))

    return [hint]


def _spelled(annotation: object) -> set[str]:
    if not isinstance(annotation, str):
        return set()
    try:
        node = ast.parse(annotation.strip(), mode="eval").body
    except SyntaxError:
        return set()

    return _names_in(node) - {"None"}


def _names_in(node: ast.expr) -> set[str]:
    """
    Collect the last words of the types that an annotation names at its top.
    """
    match node:
        case ast.BinOp(op=ast.BitOr()):
            return _names_in(node.left) | _names_in(node.right)
        case ast.Subscript(slice=ast.Tuple(elts=inner)):
            inner = inner[:1] if "Annotated" in _names_in(node.value) else inner
        case ast.Subscript():
            inner = [node.slice]
        case ast.Attribute():
            return {node.attr}
        case ast.Name():
            return {node.id}
        case ast.Constant(value=str(text)):
            return _spelled(text)
        case ast.Constant(value=None):
            return {"None"}
        case _:
            return {"?"}
    outer = _names_in(node.value)
    if outer <= {"Annotated", "Optional", "Union"}:
        return {name for part in inner for name in _names_in(part)}

    return outer
