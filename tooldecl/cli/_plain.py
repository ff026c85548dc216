"""
Plain JSON data, told apart for the type checkers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeGuard


def is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    """
    Tell a JSON object.
    """
    return isinstance(value, Mapping)


def is_array(value: object) -> TypeGuard[Sequence[object]]:
    """
    Tell a JSON array.
    """
    return isinstance(value, (list, tuple))


def is_listed(value: object) -> TypeGuard[Iterable[object]]:
    """
    Tell what lists other things, as a client takes it.
    """
    no_list = isinstance(value, (str, bytes, Mapping))

    return isinstance(value, Iterable) and not no_list
