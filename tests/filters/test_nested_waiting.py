"""
Filters and approvers that call tools of their own client, from wherever they run.
"""

from __future__ import annotations

import asyncio

import pytest

from engine_stage import begin, outcome
from fronts import call, call_batch
from tooldecl import ToolCall, ToolClient, tool
from tooldecl.engines import AsyncioEngine, SequentialEngine, ThreadEngine
from tooldecl.filters import Approval, Approved
from waiting import only


@tool
async def ashow(x: int) -> int:
    """Show a number."""
    await asyncio.sleep(0)

    return x


@tool
def show(x: int) -> int:
    """Show a number."""
    return x


@tool(sensitive=True)
async def guarded(x: int) -> int:
    """Show a number that somebody guards."""
    return x


class Asking:
    """
    Call other tools of the client before going on, to some depth.
    """

    def __init__(self):
        self.client, self.left = None, 3

    def ask(self):
        """
        Call a tool of the client, from sync code, on whatever thread this is.
        """
        if self.left:
            self.left -= 1
            name = "ashow" if self.left % 2 else "show"
            assert self.left == self.client.invoke(name, {"x": self.left}).value

    def around(self, request, call_next):
        """
        Call a tool, then go on.
        """
        self.ask()
        return call_next(request)

    async def aaround(self, request, call_next):
        """
        Call a tool, which holds the loop, then go on.
        """
        self.ask()
        return await call_next(request)


ENGINES = {
    "sequential": SequentialEngine,
    "one thread": lambda: ThreadEngine(max_concurrency=1),
    "threads": ThreadEngine,
    "one task": lambda: AsyncioEngine(max_concurrency=1),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("colour", ["around", "aaround"])
@pytest.mark.parametrize("name", ["show", "ashow"])
def test_a_filter_may_call_tools_of_its_client(front, engine, colour, name):
    """
    A cache that is filled by another tool, say; a filter that holds the client's loop
    while it waits for a call would wait for ever if that call needed the same loop.
    """
    asking = Asking()
    with ENGINES[engine]() as e:
        client = ToolClient([ashow, show], engine=e, filters=[only(colour, asking)])
        asking.client = client
        single = outcome(begin(call, front, client, name, {"x": 9}))
        asking.left = 3
        batch = outcome(
            begin(call_batch, front, client, [ToolCall(name, {"x": 9})] * 3)
        )
        client.close()

    assert (9, [9] * 3, 0) == (single.value, [r.value for r in batch], asking.left)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["sync", "async", "awaits"])
def test_an_approver_may_call_tools_of_its_client(front, engine, kind):
    """
    It looks something up before it decides, and may do so in whatever way it likes.
    """

    def ask(request):
        assert 1 == client.invoke("ashow", {"x": 1}).value
        return Approved()

    async def aask(request):
        return ask(request)

    async def awaits(request):
        assert 1 == (await client.ainvoke("ashow", {"x": 1})).value
        return Approved()

    approver = {"sync": ask, "async": aask, "awaits": awaits}[kind]
    with ENGINES[engine]() as e:
        asking = Asking()
        asking.left = 0
        client = ToolClient(
            [ashow, show, guarded],
            engine=e,
            filters=[only("aaround", asking), Approval(approver)],
        )
        result = outcome(begin(call, front, client, "guarded", {"x": 3}))
        client.close()

    assert 3 == result.value
