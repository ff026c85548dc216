"""
Records: frozen dataclasses with slots whose methods cost nothing until they are needed.

``dataclasses.dataclass`` compiles six methods of a frozen class, which takes most of a
millisecond, and there are sixty such classes here. What `record` makes is the same to
whoever looks at it, but the methods that are alike are shared functions, and
``__init__`` is compiled when the first record is made or somebody asks for it.
"""

from __future__ import annotations

import dataclasses

from collections.abc import Callable, Iterable
from dataclasses import Field, FrozenInstanceError
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, TypeAlias


__all__ = ["record"]

# A class under construction, of which nothing can be known.
Class: TypeAlias = Any
Fields: TypeAlias = dict[str, Field[object]]

UNCOPIED = {"__dict__", "__weakref__"}


if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(*, frozen, slots, kw_only=False, eq=True):
        """
        Make of a class a frozen dataclass with slots.

        Args:
            frozen: True; type checkers read it.
            slots: True, as well.
            kw_only: The fields are given by name.
            eq: Records with equal fields are equal; otherwise only with itself.
        """
        if not (frozen and slots):
            raise TypeError("A record is frozen and has slots.")

        return lambda cls: _made_of(cls, kw_only=kw_only, eq=eq)


def _made_of(cls: Class, *, kw_only: bool, eq: bool) -> Class:
    own = _namespace_of(cls)
    # What the fields are is left to the dataclass decorator, which compiles nothing here.
    read: Class = dataclasses.dataclass(
        init=False, repr=False, eq=False, kw_only=kw_only
    )(type(cls.__name__, (), own))
    fields: Fields = {}
    for base in cls.__mro__[:0:-1]:
        fields |= getattr(base, "__dataclass_fields__", {})
    fields |= read.__dataclass_fields__
    _note(read.__dataclass_params__, eq=eq)
    taken = {name for base in cls.__mro__ for name in getattr(base, "__slots__", ())}
    namespace = {k: v for k, v in _namespace_of(read).items() if k not in fields}
    namespace["__slots__"] = tuple(name for name in fields if name not in taken)
    namespace["__dataclass_fields__"] = fields
    namespace["__match_args__"] = tuple(
        name for name, field in fields.items() if field.init and not field.kw_only
    )
    made: Class = type(cls)(cls.__name__, cls.__bases__, namespace)
    made.__qualname__ = cls.__qualname__
    methods = _methods(made, fields) | (_comparisons(fields) if eq else {})
    for name, method in methods.items():
        if name not in own:
            method.__name__ = name
            method.__qualname__ = f"{made.__qualname__}.{name}"
            setattr(made, name, method)
    if "__init__" not in own:
        made.__init__ = _Init(made)

    return made


def _namespace_of(cls: type[object]) -> dict[str, object]:
    return {name: v for name, v in vars(cls).items() if name not in UNCOPIED}


def _note(params: Class, *, eq: bool) -> None:
    """
    Write down what the class is, for dataclasses that are derived from it.
    """
    noted = {"init": True, "repr": True, "eq": eq, "frozen": True, "slots": True}
    for name, value in noted.items():
        if hasattr(params, name):
            setattr(params, name, value)


def _methods(made: Class, fields: Fields) -> dict[str, Class]:
    shown = [name for name, field in fields.items() if field.repr]

    @recursive_repr()
    def represent(self: object) -> str:
        texts = [f"{name}={getattr(self, name)!r}" for name in shown]

        return f"{type(self).__qualname__}({', '.join(texts)})"

    def assign(self: object, name: str, value: object) -> None:
        if type(self) is made or name in fields:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(made, self).__setattr__(name, value)

    def delete(self: object, name: str) -> None:
        if type(self) is made or name in fields:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(made, self).__delattr__(name)

    def state_of(self: object) -> list[object]:
        return [getattr(self, name) for name in fields]

    def fill(self: object, state: Iterable[object]) -> None:
        for name, value in zip(fields, state, strict=False):
            object.__setattr__(self, name, value)

    return {
        "__repr__": represent,
        "__setattr__": assign,
        "__delattr__": delete,
        "__getstate__": state_of,
        "__setstate__": fill,
    }


def _comparisons(fields: Fields) -> dict[str, Class]:
    compared = _reader([n for n, f in fields.items() if f.compare])
    hashed = _reader(
        [n for n, f in fields.items() if (f.compare if f.hash is None else f.hash)]
    )

    def equals(self: object, other: object) -> object:
        if other.__class__ is not self.__class__:
            return NotImplemented

        return compared(self) == compared(other)

    def hash_of(self: object) -> int:
        return hash(hashed(self))

    return {"__eq__": equals, "__hash__": hash_of}


def _reader(names: list[str]) -> Callable[[object], tuple[object, ...]]:
    if len(names) > 1:
        return attrgetter(*names)

    return lambda record: tuple(getattr(record, name) for name in names)


class _Init:
    """
    Stands for the ``__init__`` of a record and puts the real one in its place.
    """

    def __init__(self, made: Class) -> None:
        self._made = made

    def __get__(self, instance: object, owner: Class) -> object:
        made = self._made
        if made.__dict__["__init__"] is self:
            made.__init__ = _compiled(made)

        return made.__dict__["__init__"].__get__(instance, owner)


def _compiled(made: Class) -> Class:
    """
    Have the dataclass decorator write the ``__init__`` of all fields.
    """
    fields: Fields = made.__dataclass_fields__
    namespace: dict[str, object] = {
        **fields,
        "__annotations__": {name: field.type for name, field in fields.items()},
        "__module__": made.__module__,
        "__qualname__": made.__qualname__,
        "__doc__": made.__doc__,
    }
    if hasattr(made, "__post_init__"):
        namespace["__post_init__"] = made.__post_init__
    written: Class = dataclasses.dataclass(
        repr=False, eq=False, frozen=True, slots=True
    )(type(made.__name__, (), namespace))

    return written.__init__
