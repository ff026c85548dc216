"""
The shapes that cross between the SDK and the tools.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, TypeVar


if TYPE_CHECKING:
    from mcp.server import Server, ServerRequestContext

    Served: TypeAlias = Server[dict[str, Any]]
    Request: TypeAlias = ServerRequestContext[Any, Any]


T = TypeVar("T")

JSON: TypeAlias = dict[str, Any]
Given: TypeAlias = Mapping[str, Any]
Work: TypeAlias = Coroutine[Any, Any, T]


def is_object(value: object) -> TypeGuard[JSON]:
    """
    Tell whether a value that was read from JSON is an object.
    """
    return isinstance(value, dict)
