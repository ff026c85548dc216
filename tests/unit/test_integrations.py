"""
What holds of the adapters for other frameworks without any of them.
"""

from __future__ import annotations

import asyncio
import contextvars
import importlib
import sys
import threading

import pytest

from ordering import HANGS_AFTER
from tooldecl import ToolClient, tool
from tooldecl.engines import ThreadEngine
from tooldecl.integrations._turns import Turns


@tool
def add(a: int, b: int) -> int:
    """
    Add two integers.
    """
    return a + b


@pytest.mark.parametrize(
    ("name", "package", "distribution"),
    [
        ("pydantic_ai", "pydantic_ai", "pydantic-ai-slim"),
        ("langchain", "langchain_core", "langchain-core"),
        ("openai_agents", "agents", "openai-agents"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    monkeypatch, name, package, distribution
):
    """
    The adapters can be imported without the frameworks; using one says what to install.
    """
    for module in [m for m in sys.modules if m.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    module = importlib.import_module(f"tooldecl.integrations.{name}")
    convert = getattr(module, f"to_{name}")
    with pytest.raises(ModuleNotFoundError) as caught:
        convert(ToolClient([add]))

    extra = name.replace("_", "-")
    assert str(caught.value) == (
        f"to_{name} needs the package {distribution!r}, which is not installed. Install "
        f"it with: pip install 'tooldecl[{extra}]'"
    )


def test_a_client_shows_its_engine():
    """
    Whoever adapts a client has to know what it does with a batch.
    """
    engine = ThreadEngine(max_concurrency=2)

    assert ToolClient([add], engine=engine).engine is engine


async def test_who_comes_first_goes_first():
    """
    A serial call waits for those before it, and those after it wait for it.
    """
    turns = Turns()
    going = asyncio.Event()
    order = []

    async def call(name, alone):
        async with turns.ataken("turn", alone):
            order.append(f"{name} in")
            if len(order) == 2:
                going.set()
            if name in "ab":
                await going.wait()
            order.append(f"{name} out")

    calls = [("a", False), ("b", False), ("S", True), ("c", False), ("d", False)]
    async with asyncio.TaskGroup() as group:
        for name, alone in calls:
            group.create_task(call(name, alone))

    assert ["a in", "b in"] == order[:2]
    assert {"a out", "b out"} == set(order[2:4])
    assert ["S in", "S out"] == order[4:6]
    assert {"c in", "c out", "d in", "d out"} == set(order[6:])


async def test_other_turns_are_not_waited_for():
    """
    A call that waits for a person must not hold the runs of others.
    """
    turns = Turns()
    async with turns.ataken("one", alone=False):
        await asyncio.create_task(
            through(turns, "another"), context=contextvars.Context()
        )


async def through(turns, key):
    """
    Go through alone.
    """
    async with turns.ataken(key, alone=True):
        pass


async def test_a_call_inside_of_a_call_does_not_wait_for_it():
    """
    A tool may run an agent that has the same tools.
    """
    turns = Turns()
    async with turns.ataken("turn", alone=True):
        await asyncio.wait_for(through(turns, "turn"), HANGS_AFTER)


async def test_who_is_cancelled_while_waiting_holds_nobody_up():
    """
    A run that is given up leaves the line.
    """
    turns = Turns()
    async with turns.ataken("turn", alone=False):
        waiting = asyncio.create_task(
            through(turns, "turn"), context=contextvars.Context()
        )
        await asyncio.sleep(0)
        later = asyncio.create_task(entered(turns), context=contextvars.Context())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait_for(later, HANGS_AFTER)

    assert waiting.cancelled()
    assert {} == turns._lines


async def entered(turns):
    """
    Go through beside others.
    """
    async with turns.ataken("turn", alone=False):
        pass


def test_threads_and_loops_stand_in_one_line():
    """
    A framework may make some calls of a turn in threads, and await the others.
    """
    turns = Turns()
    inside = threading.Event()
    going = threading.Event()
    order = []

    def in_a_thread():
        with turns.taken("turn", alone=True):
            inside.set()
            going.wait(HANGS_AFTER)
            order.append("thread")

    async def in_a_loop():
        task = asyncio.create_task(through(turns, "turn"))
        await asyncio.sleep(0)
        assert not task.done()
        going.set()
        await task
        order.append("loop")

    thread = threading.Thread(target=in_a_thread)
    thread.start()
    inside.wait(HANGS_AFTER)
    asyncio.run(in_a_loop())
    thread.join()

    assert ["thread", "loop"] == order


def test_a_closed_loop_holds_nobody_up():
    """
    Whoever waited on a loop that is gone does not wait any more.
    """
    turns = Turns()
    loop = asyncio.new_event_loop()
    with turns.taken("turn", alone=True):
        task = loop.create_task(through(turns, "turn"), context=contextvars.Context())
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
    with turns.taken("turn", alone=True):
        pass
    task._log_destroy_pending = False

    assert {} == turns._lines
