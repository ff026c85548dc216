"""
What can be awaited, and on which loop.
"""

from __future__ import annotations

import asyncio

from collections.abc import Awaitable
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any

from ._waits import HELD_LOOPS


# Types that are certainly neither awaitable nor a generator: most results.
PLAIN = frozenset({str, int, float, bool, type(None), dict, list, tuple})

ITERABLE_COROUTINE = 0x100  # the flag that types.coroutine sets


def is_awaitable(value: object) -> bool:
    """
    Whether ``await`` takes *value*.
    """
    kind = type(value)
    if kind is CoroutineType or kind in PLAIN:
        return kind is CoroutineType
    if isinstance(value, GeneratorType):
        return bool(value.gi_code.co_flags & ITERABLE_COROUTINE)

    return isinstance(value, Awaitable)


def is_generator(value: object) -> bool:
    """
    Whether *value* is a generator, and no coroutine of the old style.
    """
    if isinstance(value, GeneratorType):
        return not value.gi_code.co_flags & ITERABLE_COROUTINE

    return False


def is_async_generator(value: object) -> bool:
    """
    Whether *value* is an async generator.
    """
    return type(value) is AsyncGeneratorType


def needs_loop(value: object) -> bool:
    """
    Whether what a sync body returned has to be run to its end on a loop.
    """
    return type(value) not in PLAIN and (
        is_awaitable(value) or is_async_generator(value)
    )


def on_its_loop(value: Awaitable[Any]) -> Awaitable[Any]:
    """
    Return what to await for *value*: a future of another loop is awaited there.
    """
    if isinstance(value, asyncio.Future) and not value.done():
        home = value.get_loop()
        if home is not asyncio.get_running_loop():
            if home in HELD_LOOPS:
                raise RuntimeError(
                    "The tool returned a future of the loop that waits for this call."
                )
            if not home.is_running():
                raise RuntimeError(
                    "The tool returned a future of a loop that is not running."
                )
            return asyncio.wrap_future(
                asyncio.run_coroutine_threadsafe(_await(value), home)
            )

    return value


async def _await(value: Awaitable[Any]) -> Any:
    return await value
