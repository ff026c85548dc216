"""
Nothing declared, nothing made: no thread, no task and no timer for a call without a limit.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

from tooldecl import ToolCall, ToolClient, tool
from tooldecl.engines import SequentialEngine


def surroundings() -> dict[str, object]:
    """
    Name what a body could have been given: its thread, the others, tasks and timers.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        loop = None

    return {
        "thread": threading.get_ident(),
        "threads": [id(thread) for thread in threading.enumerate()],
        "loop": id(loop),
        "tasks": [] if loop is None else sorted(map(id, asyncio.all_tasks(loop))),
        "timers": 0 if loop is None else len(loop._scheduled),
    }


def made_since(before: dict[str, object], seen: dict[str, object]) -> dict[str, object]:
    """
    Return what is other than before; idle threads of earlier tests may end meanwhile.
    """
    changes = {key: seen[key] for key in before if seen[key] != before[key]}
    changes["threads"] = [t for t in seen["threads"] if t not in before["threads"]]

    return {key: change for key, change in changes.items() if change}


@tool
def look() -> dict:
    """
    Look around.
    """
    return surroundings()


@tool
async def look_async() -> dict:
    """
    Look around.
    """
    return surroundings()


@tool(timeout=None)
def look_unlimited() -> dict:
    """
    Look around.
    """
    return surroundings()


@tool(isolation="inline")
async def look_inline() -> dict:
    """
    Look around.
    """
    return surroundings()


TOOLS = [look, look_async, look_unlimited, look_inline]


@pytest.fixture
def client():
    """
    Build a client whose engine has no limit either.
    """
    with ToolClient(TOOLS) as client:
        yield client


@pytest.mark.parametrize("name", ["look", "look_unlimited"])
def test_a_sync_body_runs_on_the_callers_thread(client, name):
    """
    TMO-21: from the sync front an untimed call is a function call.
    """
    here = surroundings()

    assert {} == made_since(here, client.invoke(name).value)


def test_declared_none_makes_nothing_under_a_timed_engine():
    """
    TMO-20: "no limit" costs as little as no declaration.
    """
    here = surroundings()
    client = ToolClient([look_unlimited], engine=SequentialEngine(timeout=60))

    assert {} == made_since(here, client.invoke("look_unlimited").value)


def test_a_batch_runs_on_the_callers_thread(client):
    """
    TMO-21: so does every call of a sequential batch.
    """
    here = surroundings()
    results = client.invoke_batch([ToolCall("look"), ToolCall("look_unlimited")])

    assert [{}, {}] == [made_since(here, result.value) for result in results]


@pytest.mark.parametrize("name", ["look_async", "look_inline"])
async def test_an_async_body_runs_in_the_callers_task(client, name):
    """
    TMO-21: from the async front an untimed call is an await.
    """
    here = surroundings()

    assert {} == made_since(here, (await client.ainvoke(name)).value)


async def test_the_callers_task_is_the_bodys(client):
    """
    The same, seen from the body: what it asks asyncio for is the caller's.
    """

    @tool
    async def task_name() -> str:
        """
        Name the task.
        """
        return asyncio.current_task().get_name()

    asyncio.current_task().set_name("the caller's own")

    assert (
        "the caller's own"
        == (await client.adding(task_name).ainvoke("task_name")).value
    )


async def test_what_it_sets_is_not_the_callers(client):
    """
    Sharing the task does not mean sharing the context variables.
    """
    variable = contextvars.ContextVar("variable", default="caller's")

    @tool
    async def change() -> str:
        """
        Change it, before and after a wait.
        """
        variable.set("body's")
        await asyncio.sleep(0)
        return variable.get()

    result = await client.adding(change).ainvoke("change")

    assert ("body's", "caller's") == (result.value, variable.get())


async def test_a_sync_body_never_runs_on_the_loop(client, gate):
    """
    R01: timed or not, the loop goes on while it blocks; the body waits here for what
    only the loop can do.
    """

    @tool
    def block() -> bool:
        """
        Block until the loop has turned.
        """
        gate.pass_through()
        return threading.current_thread() is threading.main_thread()

    running = asyncio.ensure_future(client.adding(block).ainvoke("block"))
    await asyncio.to_thread(gate.wait_for_arrivals)
    gate.open()

    assert False is (await running).value


async def test_a_limit_makes_what_it_needs(client):
    """
    The control: a task and a timer are seen where a limit is declared.
    """

    @tool(timeout=60)
    async def timed() -> dict:
        """
        Look around.
        """
        await asyncio.sleep(0)
        return surroundings()

    before = surroundings()
    result = await client.adding(timed).ainvoke("timed")

    assert {"tasks", "timers"} == {*made_since(before, result.value)}


async def test_an_inline_body_does_run_on_the_loop():
    """
    The control: declared ``inline``, a sync body takes the caller's thread, loop and all.
    """

    @tool(isolation="inline")
    def here() -> dict:
        """
        Say where it runs.
        """
        return surroundings()

    before = surroundings()
    result = await ToolClient([here]).ainvoke("here")

    assert {} == made_since(before, result.value)
