"""
Data nobody can change: equal to the plain dict or list, picklable, read-only at depth.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, NoReturn, TypeVar


K = TypeVar("K")
V = TypeVar("V")


def _refuse(self: object, *_args: object, **_kwargs: object) -> NoReturn:
    kind = "dict" if isinstance(self, dict) else "list"
    raise TypeError(f"This {kind} is read-only: make a copy to change it.")


class ReadOnlyDict(dict[K, V], Generic[K, V]):
    """
    A dict whose mutators raise TypeError.
    """

    __slots__ = ()

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)

    def __copy__(self) -> ReadOnlyDict[K, V]:
        return self

    def __deepcopy__(self, memo: object) -> ReadOnlyDict[K, V]:
        return self


class ReadOnlyList(list[V], Generic[V]):
    """
    A list whose mutators raise TypeError.
    """

    __slots__ = ()

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = pop = remove = _refuse
    clear = sort = reverse = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (list(self),)

    def __copy__(self) -> ReadOnlyList[V]:
        return self

    def __deepcopy__(self, memo: object) -> ReadOnlyList[V]:
        return self


# Typed so that checkers do not narrow to containers of unknown things.
_FROZEN: Any = (ReadOnlyDict, ReadOnlyList)
_MAPPING: Any = Mapping
_LIST: Any = list
_TUPLE: Any = tuple
_SET: Any = set

# What most values are, known without asking an abstract class.
_LEAVES = frozenset((str, int, float, bool, type(None)))


def freeze(value: Any) -> Any:
    """
    Copy dicts, lists, tuples and sets into read-only ones, at every depth.

    Anything else is left as it is.
    """
    if type(value) in _LEAVES or isinstance(value, _FROZEN):
        return value
    if isinstance(value, _MAPPING):
        return frozen_mapping(value)
    if isinstance(value, _LIST):
        return ReadOnlyList([freeze(v) for v in value])
    if type(value) is _TUPLE:
        return tuple([freeze(v) for v in value])
    if isinstance(value, _SET):
        return frozenset(value)

    return value


def frozen_mapping(value: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """
    `freeze` for what is known to be a mapping.
    """
    if isinstance(value, ReadOnlyDict):
        return value

    return ReadOnlyDict({k: freeze(v) for k, v in value.items()})
