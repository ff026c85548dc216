"""
What a call leaves behind in memory: nothing that only the garbage collector could free.

A stored exception keeps the frames of its traceback, and these keep the frames that called
them. If one of those keeps the result, all of it stays until the collector comes by, and a
server with large values and a rare collector grows.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import weakref

import pytest

from tooldecl import NotFound, Retry, ToolClient, tool
from tooldecl.testing import FakeClock


class Big:
    """
    A value whose end can be seen.
    """


GONE: list[weakref.ref[Big]] = []


def make():
    """
    Make a value and watch it.
    """
    big = Big()
    GONE.append(weakref.ref(big))

    return big


@tool
def fail() -> None:
    """Fail with a value in hand."""
    _big = make()
    raise ValueError("no")


@tool(timeout=60)
def fail_in_time() -> None:
    """Fail with a value in hand, on a thread of its own."""
    _big = make()
    raise ValueError("no")


@tool
async def fail_later() -> None:
    """Fail with a value in hand, on a loop."""
    _big = make()
    raise ValueError("no")


@tool(retry=Retry(attempts=3, delay=0))
def fail_often() -> None:
    """Fail with a value in hand, three times."""
    _big = make()
    raise ConnectionError("no")


@tool
def find_nothing() -> None:
    """Find nothing, with a value in hand."""
    _big = make()
    raise NotFound


@tool
def strange() -> object:
    """Return what has no JSON form."""
    return make()


@tool(result_limit=1)
def talk() -> list[str]:
    """Return too much."""
    _big = make()

    return ["much"]


@tool
def whole() -> str:
    """Return text."""
    _big = make()

    return "text"


TOOLS = [
    fail,
    fail_in_time,
    fail_later,
    fail_often,
    find_nothing,
    strange,
    talk,
    whole,
]


def passing(request):
    """
    Let every call through.
    """
    return (yield request)


@pytest.fixture(autouse=True)
def _no_collector(caplog):
    caplog.set_level(logging.CRITICAL)  # a record would keep the error
    GONE.clear()
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def kept():
    """
    Count the values that are still there.
    """
    return [gone() is not None for gone in GONE].count(True)


@pytest.mark.parametrize("filters", [[], [passing]], ids=["bare", "filtered"])
@pytest.mark.parametrize("name", [t.__name__ for t in TOOLS])
def test_a_result_that_is_dropped_is_gone(name, filters):
    """
    From the sync front, where the body runs below the caller's own frame.
    """
    client = ToolClient(TOOLS, filters=filters, clock=FakeClock())
    result = client.invoke(name)
    assert (name, True) == (result.name, len(GONE) in (1, 3))
    del result

    assert 0 == kept()


@pytest.mark.parametrize("filters", [[], [passing]], ids=["bare", "filtered"])
@pytest.mark.parametrize("name", [t.__name__ for t in TOOLS])
async def test_a_result_that_is_dropped_on_a_loop_is_gone(name, filters):
    """
    From the async front, where a loop keeps what it has just run for a turn.
    """
    client = ToolClient(TOOLS, filters=filters, clock=FakeClock())
    result = await client.ainvoke(name)
    assert (name, True) == (result.name, len(GONE) in (1, 3))
    del result
    await asyncio.sleep(0)

    assert 0 == kept()


class Watched(dict):
    """
    Arguments whose end can be seen.
    """


@pytest.mark.parametrize("given", [{"x": 1}, {"x": object()}])
def test_refused_arguments_are_gone(given):
    """
    A refusal has a traceback too, through the frames that hold what was sent.
    """
    client = ToolClient([whole])
    arguments = Watched(given)
    gone = weakref.ref(arguments)
    result = client.invoke("whole", arguments)
    assert ("invalid", None) == (result.status, result.error.__traceback__)
    del arguments, result

    assert gone() is None
