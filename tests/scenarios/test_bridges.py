"""
Between sync and async: every front, from every place, for every kind of tool.
"""

from __future__ import annotations

import asyncio
import threading

from concurrent.futures import ThreadPoolExecutor

import pytest

from fronts import call
from ordering import HANGS_AFTER
from tooldecl import ToolClient, tool
from tooldecl.engines import SequentialEngine


AMPLE = 60


@tool
def add(x: int, y: int) -> int:
    """
    Add.
    """
    return x + y


@tool
async def add_async(x: int, y: int) -> int:
    """
    Add, on a loop.
    """
    await asyncio.sleep(0)
    return x + y


@tool(isolation="thread")
async def add_apart(x: int, y: int) -> int:
    """
    Add, on a loop of its own.
    """
    await asyncio.sleep(0)
    return x + y


@tool
def add_later(x: int, y: int) -> int:
    """
    Return something to be awaited.
    """
    return add_async(x, y)


NAMES = ["add", "add_async", "add_apart", "add_later"]


@pytest.fixture(params=[None, AMPLE], ids=["free", "timed"])
def client(request):
    """
    Build a client of every kind of tool, with and without a limit.
    """
    tools = [add, add_async, add_apart, add_later]
    with ToolClient(tools, engine=SequentialEngine(timeout=request.param)) as client:
        yield client


def sums(client: ToolClient) -> list[object]:
    """
    Call every tool by the sync front.
    """
    return [client.invoke(name, {"x": 1, "y": 2}).value for name in NAMES]


async def asums(client: ToolClient) -> list[object]:
    """
    Call every tool by the async front.
    """
    return [(await client.ainvoke(name, {"x": 1, "y": 2})).value for name in NAMES]


EXPECTED = [3, 3, 3, 3]


class TestFromEverywhere:
    """
    R149, R08: the same results, wherever the call comes from.
    """

    def test_a_script(self, client):
        """
        R149: no loop anywhere.
        """
        assert EXPECTED == sums(client)

    async def test_inside_of_a_running_loop(self, client):
        """
        R149: a notebook or a web handler has one, and the sync front works there too.
        """
        assert EXPECTED == sums(client)

    async def test_awaited(self, client):
        """
        R08: the async front gives the same.
        """
        assert EXPECTED == await asums(client)

    def test_many_threads_at_once(self, client):
        """
        R149: one client serves them all.
        """
        start = threading.Barrier(8)

        def run():
            start.wait(HANGS_AFTER)
            return sums(client)

        with ThreadPoolExecutor(8) as pool:
            futures = [pool.submit(run) for _ in range(8)]

        assert [EXPECTED] * 8 == [future.result() for future in futures]

    def test_two_loops_one_after_the_other_and_at_once(self, client):
        """
        R152: nothing of a client is bound to the loop it was first used on.
        """
        assert EXPECTED == asyncio.run(asums(client))
        start = threading.Barrier(2)

        def run():
            start.wait(HANGS_AFTER)
            return asyncio.run(asums(client))

        with ThreadPoolExecutor(2) as pool:
            futures = [pool.submit(run) for _ in range(2)]

        assert [EXPECTED] * 2 == [future.result() for future in futures]

    @pytest.mark.parametrize("outer", ["sync", "async", "apart"])
    def test_inside_of_a_tool_of_the_same_client(self, front, client, outer):
        """
        R149: nested calls wait for no loop that waits for them, however deep.
        """

        def nested() -> list:
            """
            Call every tool of the same client.
            """
            return sums(client)

        async def nested_async() -> list:
            """
            Call every tool of the same client, on the loop that is held meanwhile.
            """
            return sums(client)

        options = {"name": "nested", "isolation": "thread"}
        declared = {
            "sync": tool(name="nested")(nested),
            "async": tool(name="nested")(nested_async),
            "apart": tool(**options)(nested_async),
        }[outer]
        client = client.adding(declared)

        assert EXPECTED == call(front, client, "nested").value

    def test_inside_of_tools_that_call_each_other_across_threads(self, client):
        """
        R149: an async tool waits for a thread that waits for an async tool of the same
        client; the loop is held by the first, so the last gets one of its own.
        """

        @tool(isolation="thread")
        def middle() -> list:
            """
            Call every tool, from a thread.
            """
            return sums(client)

        @tool
        async def outer() -> list:
            """
            Call the thread.
            """
            return client.invoke("middle").value

        client = client.adding(middle, outer)

        assert EXPECTED == client.invoke("outer").value

    def test_inside_of_two_clients_that_call_each_other(self, client):
        """
        R149: the same across two clients.
        """

        @tool
        async def there() -> list:
            """
            Call the first client.
            """
            return sums(client)

        other = ToolClient([there])

        @tool
        async def here() -> list:
            """
            Call the second client.
            """
            return other.invoke("there").value

        client = client.adding(here)

        assert EXPECTED == client.invoke("here").value

    async def test_under_an_eager_task_factory(self, client):
        """
        R149: where every task starts at once, within whoever makes it (from 3.12 on).
        """
        loop = asyncio.get_running_loop()
        loop.set_task_factory(getattr(asyncio, "eager_task_factory", None))

        assert EXPECTED == await asyncio.ensure_future(asums(client))
