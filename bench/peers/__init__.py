"""
What users would pick instead, each driven through its own real path.

A module has ``PACKAGES``, ``IMPORT`` and `ways`, which yields what is called, by kind: each
takes the JSON text of a model and ends with the value that the body returned.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias


# In the order in which they are measured.
NAMES = (
    "pydantic_ai",
    "openai_agents",
    "langgraph",
    "fastmcp",
    "mcp",
    "smolagents",
    "agno",
    "retrying",
    "pebble",
)

Way: TypeAlias = Callable[[], Awaitable[object]]
Ways: TypeAlias = Mapping[str, Way]

TEXT = '{"path": "some/long/file.txt", "limit": 30, "tags": ["alpha", "beta"]}'
VALUE = 32


def read(path: str, limit: int, tags: list[str]) -> int:
    """Count.

    Args:
        path: Where it is.
        limit: How many at most.
        tags: What it has to have.
    """
    return limit + len(tags)


async def aread(path: str, limit: int, tags: list[str]) -> int:
    """Count.

    Args:
        path: Where it is.
        limit: How many at most.
        tags: What it has to have.
    """
    return limit + len(tags)


def as_way(function: Callable[[], Any]) -> Way:
    """
    Make something sync a way.
    """

    async def way() -> object:
        return function()

    return way
