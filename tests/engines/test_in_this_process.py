"""
What only bodies of the caller's own process can see.
"""

from __future__ import annotations

import asyncio

from contextvars import ContextVar

import pytest

from fronts import FRONTS, call_batch
from tooldecl import ToolCall, ToolClient, ToolContext, current_context, tool
from tooldecl.engines import AsyncioEngine, SequentialEngine, ThreadEngine


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("kind", [ThreadEngine, AsyncioEngine, SequentialEngine])
def test_context_variables_reach_every_body(front, kind):
    """
    ENG-10: the caller's, in one call and in several, under every engine; and changes do
    not come back or go sideways.
    """
    variable = ContextVar("variable", default="root")

    @tool
    def look(word: str) -> list[str]:
        """Look at the variable, and change it."""
        seen = variable.get()
        variable.set(word)
        return [seen, current_context().call_id]

    client = ToolClient([look], engine=kind())
    variable.set("mine")
    for size in (1, 2, 5):
        calls = [ToolCall("look", {"word": str(n)}, f"c{n}") for n in range(size)]
        results = call_batch(front, client, calls)

        assert [["mine", f"c{n}"] for n in range(size)] == [r.value for r in results]
    assert "mine" == variable.get()


async def test_one_object_of_the_host_reaches_every_body():
    """
    SPEC 4: ``deps`` is that very object, and state is one snapshot.
    """

    @tool
    async def same(ctx: ToolContext) -> bool:
        """Tell whether it is that very object."""
        await asyncio.sleep(0)
        return ctx.deps is deps

    deps = object()
    client = ToolClient([same], engine=AsyncioEngine())
    results = await client.ainvoke_batch([ToolCall("same")] * 5, deps=deps)

    assert [True] * 5 == [r.value for r in results]
