"""
Many requests at once, requests that are cancelled, and tools that run alone.
"""

from __future__ import annotations

import asyncio

import pytest

from mcp import Client, MCPError
from mcp_stage import (
    appears,
    connected,
    in_each_era,
    on_each_wire,
    text_of,
)

from fronts import Listener
from tooldecl import Budget, Retry, ToolClient, ToolContext, tool
from tooldecl.engines import AsyncioEngine
from tooldecl.integrations.mcp import server


@on_each_wire
async def test_fifty_requests_run_at_once(wire, folder):
    """
    All of them are inside before any may leave.
    """
    async with connected(wire, folder) as client:
        names = [f"n{number}" for number in range(50)]
        calls = [
            asyncio.create_task(client.call_tool("with_others", {"name": name}))
            for name in names
        ]
        for name in names:
            await appears(folder / f"{name}-here")
        for name in names:
            (folder / f"{name}-go").touch()
        results = await asyncio.gather(*calls)

    assert 50 == sum(not result.is_error for result in results)


@on_each_wire
@in_each_era
async def test_a_request_that_nobody_waits_for_cancels_the_body(wire, era, folder):
    """
    The client's own limit passed, or its caller was cancelled: the body hears of it.
    """
    async with connected(wire, folder, era) as client:
        call = client.call_tool("wait_here", {"name": "a"}, read_timeout_seconds=0.3)
        with pytest.raises(MCPError):
            await call
        await appears(folder / "a-cancelled")
        task = asyncio.create_task(client.call_tool("wait_here", {"name": "b"}))
        await appears(folder / "b-begun")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await appears(folder / "b-cancelled")


@pytest.mark.parametrize(
    ("options", "fate"),
    [
        ({}, "stopped"),
        ({"timeout": 30}, "stopped"),
        ({"isolation": "thread"}, "stopped"),
    ],
    ids=["untimed", "timed", "thread"],
)
@in_each_era
async def test_the_event_of_a_cancelled_call_says_the_fate(options, fate, era):
    """
    The SDK cancels again and again: what the call awaits meanwhile must not suffer.
    """
    hook, begun = Listener(), asyncio.Event()
    loop = asyncio.get_running_loop()

    @tool(**options)
    async def wait_for_ever():
        """
        Wait, and take a moment to end.
        """
        loop.call_soon_threadsafe(begun.set)
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)

    client = ToolClient([wait_for_ever], hooks=[hook])
    async with Client(server(client), mode=era) as connection:
        call = asyncio.create_task(connection.call_tool("wait_for_ever"))
        await begun.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    result = hook.events[-1].result
    assert ("cancelled", fate) == (result.status, result.fate)


async def test_a_tool_that_runs_alone_has_no_company(folder):
    """
    Requests come one by one, so what is a barrier in a batch is one for all of them:
    earlier ones end, it runs, later ones follow.
    """
    async with connected("memory", folder) as client:
        first = asyncio.create_task(client.call_tool("with_others", {"name": "first"}))
        await appears(folder / "first-here")
        alone = asyncio.create_task(client.call_tool("alone", {"name": "alone"}))
        await asyncio.sleep(0)
        later = asyncio.create_task(client.call_tool("with_others", {"name": "later"}))
        await asyncio.sleep(0.05)
        waits = [not (folder / name).exists() for name in ("alone-begun", "later-here")]
        (folder / "first-go").touch()
        result = await alone
        await appears(folder / "later-here")
        (folder / "later-go").touch()
        await asyncio.gather(first, later)

    assert ([True, True], "true") == (waits, text_of(result))


async def test_who_waits_for_a_turn_can_be_cancelled(folder):
    """
    It leaves the line, and those behind it move up.
    """
    async with connected("memory", folder) as client:
        first = asyncio.create_task(client.call_tool("with_others", {"name": "first"}))
        await appears(folder / "first-here")
        alone = asyncio.create_task(client.call_tool("alone", {"name": "alone"}))
        await asyncio.sleep(0.05)
        later = asyncio.create_task(client.call_tool("with_others", {"name": "later"}))
        await asyncio.sleep(0.05)
        alone.cancel()
        await appears(folder / "later-here")
        for name in ("first", "later"):
            (folder / f"{name}-go").touch()
        await asyncio.gather(first, later)

    assert not (folder / "alone-begun").exists()


async def test_calls_of_a_group_do_not_overlap():
    """
    Groups are kept by the client, whoever calls.
    """
    inside = most = 0

    @tool(serial="shop")
    async def order() -> None:
        """
        Order something.
        """
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0)
        inside -= 1

    async with Client(server(ToolClient([order]))) as connection:
        results = await asyncio.gather(
            *(connection.call_tool("order") for _ in range(20))
        )

    assert (1, 20) == (most, len(results))


async def test_retries_budgets_and_limits_hold():
    """
    A request goes through the client like any other call.
    """

    @tool(retry=Retry(attempts=3, delay=0))
    async def try_again(ctx: ToolContext) -> int:
        """
        Succeed in the end.
        """
        if ctx.attempt < 3:
            raise ConnectionError

        return ctx.attempt

    @tool(result_limit=10)
    async def talk() -> str:
        """
        Say too much.
        """
        return "a" * 100

    client = ToolClient([try_again, talk], budget=Budget(calls=2))
    async with Client(server(client)) as connection:
        results = [
            await connection.call_tool(name)
            for name in ("try_again", "talk", "try_again")
        ]

    assert {"result": 3} == results[0].structured_content
    assert [None, "too_large", "budget"] == [
        (result.meta or {}).get("tooldecl/status") for result in results
    ]


async def test_a_full_engine_is_busy():
    """
    What the engine refuses is refused to the client, at once.
    """
    begun, go = asyncio.Event(), asyncio.Event()

    @tool
    async def stay() -> None:
        """
        Stay.
        """
        begun.set()
        await go.wait()

    engine = AsyncioEngine(max_concurrency=1, over_limit="reject")
    async with Client(server(ToolClient([stay], engine=engine))) as connection:
        first = asyncio.create_task(connection.call_tool("stay"))
        await begun.wait()
        second = await connection.call_tool("stay")
        go.set()
        await first

    assert "busy" == second.meta["tooldecl/status"]
