"""
One call with more and more of something around it.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import json
import threading
import time

from collections.abc import Awaitable, Callable

import bench_tools as tools

from measuring import Sample, ain_turn, in_turn
from pydantic import TypeAdapter
from rows.sources import functions
from typing_extensions import TypedDict

from tooldecl import JSONLimits, ToolCall, ToolClient, tool
from tooldecl._strictjson import loads_strict
from tooldecl.engines import AsyncioEngine


class Items(TypedDict):
    """
    What a tool with a list takes.
    """

    items: list[object]


@functools.cache
def client_of(count: int) -> ToolClient:
    """
    Return a client of so many tools.
    """
    others = [tool(function) for function in functions(count - 1)]
    made = ToolClient([tools.plain, *others])
    made.invoke("plain", tools.TEXT)
    gc.collect()
    gc.freeze()

    return made


def with_tools(count: int) -> Sample:
    """
    Call one tool of many.
    """
    client, text = client_of(count), tools.TEXT

    return in_turn({"call": lambda: client.invoke("plain", text)}, calls=100)


def with_arguments(size: int) -> Sample:
    """
    Call with a long text and with a long list.
    """
    limits = JSONLimits(max_chars=2 * size + 1_000)
    client = ToolClient([tools.length, tools.entries], json_limits=limits)
    text = json.dumps({"text": "lorem ipsum " * (size // 12)})
    count = max(1, size // 62)
    items = json.dumps({"items": tools.LARGE[:count]})
    check = TypeAdapter(Items).validate_json

    def bare() -> None:
        loads_strict(items, limits)
        check(items, strict=True, extra="forbid")

    return in_turn(
        {
            "one text": lambda: client.invoke("length", text).unwrap(),
            "list of objects": lambda: client.invoke("entries", items).unwrap(),
            "floor: reader + validator, list": bare,
        },
        calls=max(1, 20_000 // size),
        turns=5,
    )


def in_batch(count: int) -> Sample:
    """
    Make a batch, with a place for each call and with eight.
    """
    calls = [ToolCall("echo", {"number": n}) for n in range(count)]
    few = ToolClient([tools.echo], engine=AsyncioEngine())
    many = ToolClient([tools.echo], engine=AsyncioEngine(max_concurrency=count))

    async def bare() -> None:
        await asyncio.gather(*(tools.echo(n) for n in range(count)))

    async def each(run: Callable[[], Awaitable[object]]) -> float:
        times = []
        for _ in range(max(1, 300 // count)):
            began = time.perf_counter()
            await run()
            times.append(time.perf_counter() - began)

        return min(times) / count

    runs: dict[str, Callable[[], Awaitable[object]]] = {
        "8 places": lambda: few.ainvoke_batch(calls),
        "a place for each": lambda: many.ainvoke_batch(calls),
        "floor: gather of the bodies": bare,
    }

    return {name: asyncio.run(each(run)) for name, run in runs.items()}


def beside_others(count: int) -> Sample:
    """
    Make a quick timed call while others are in flight.
    """
    return asyncio.run(beside_tasks(count)) | beside_threads(count)


async def beside_tasks(count: int) -> Sample:
    """
    Have the others wait on the same loop.
    """

    @tool(timeout=60)
    async def wait() -> None:
        """Wait until told."""
        await event.wait()

    event = asyncio.Event()
    client = ToolClient([wait, tools.awaited_limited])
    others = [asyncio.create_task(client.ainvoke("wait")) for _ in range(count)]
    for _ in range(5):
        await asyncio.sleep(0)
    text = tools.TEXT
    taken = await ain_turn(
        {"async tool": lambda: client.ainvoke("awaited_limited", text)}, calls=50
    )
    event.set()
    await asyncio.gather(*others)

    return taken


def beside_threads(count: int) -> Sample:
    """
    Have the others wait on threads.
    """
    event, inside = threading.Event(), threading.Semaphore(0)

    @tool(timeout=60)
    def wait() -> None:
        """Wait until told."""
        inside.release()
        event.wait()

    client, text = ToolClient([wait, tools.limited]), tools.TEXT
    callers = [
        threading.Thread(target=client.invoke, args=["wait"]) for _ in range(count)
    ]
    for caller in callers:
        caller.start()
    for _ in callers:
        inside.acquire()
    taken = in_turn({"sync tool": lambda: client.invoke("limited", text)}, calls=50)
    event.set()
    for caller in callers:
        caller.join()

    return taken
