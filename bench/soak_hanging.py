"""
Bodies that hang: what they keep, how late their answers are, and whom they hold up.
"""

from __future__ import annotations

import asyncio
import threading
import time

from typing import Any

import soak_tools as tools

from soak_calls import (
    WORKERS,
    Deadlines,
    Sizes,
    Table,
    calls,
    fly,
    late_by,
    over,
    said,
    until,
)
from soak_census import Census, settled, spread, take_census

from tooldecl import ToolClient, ToolResult
from tooldecl.engines import AsyncioEngine, Engine, ProcessEngine, SequentialEngine


QUICK_CALLS = 20
PLACES = 64


def hanging(sizes: Sizes) -> Table:
    """
    Let many bodies hang, then make a quick call, under each isolation.
    """
    start = take_census()

    def wide() -> Engine:
        return AsyncioEngine(max_concurrency=PLACES)

    def few() -> Engine:
        return ProcessEngine(max_concurrency=WORKERS)

    rows = []
    for label, make, hung, quick, from_sync in (
        ("task, refuses to end", wide, tools.hung_task, tools.quick_async, False),
        ("the same, sync front", wide, tools.hung_task, tools.quick_async, True),
        ("thread", wide, tools.hung_thread, tools.quick_sync, False),
        ("thread, sync front", wide, tools.hung_thread, tools.quick_sync, True),
        ("private loop", wide, tools.hung_loop, tools.quick_loop, False),
        ("process", few, tools.hung_process, tools.quick_process, False),
    ):
        with make() as engine:
            before = settled(start)
            client = ToolClient([hung, quick], engine=engine)
            row, during = asyncio.run(hang(client, sizes.many, from_sync=from_sync))
        counts = before, during, settled(start)
        row += [over(name, *counts) for name in ("threads", "processes", "fds", "rss")]
        rows.append([label, *row])
    title = f"{sizes.many} bodies that hang (before / hung / closed), then a quick one"
    heads = ["isolation", "answers", "s", "quick: first ms", "median ms", "given up"]

    return title, [*heads, "threads", "processes", "fds", "RSS MiB"], rows


async def hang(
    client: ToolClient, count: int, *, from_sync: bool
) -> tuple[list[str], Census]:
    """
    Let *count* bodies hang; return what came of it, and what they kept.
    """
    hung, quick = client.table
    await client.ainvoke_batch(
        calls(quick, WORKERS)
    )  # workers take their time to start
    began = time.monotonic()
    if from_sync:
        results = await asyncio.to_thread(client.invoke_batch, calls(hung, count))
    else:
        results = await client.ainvoke_batch(calls(hung, count))
    took = time.monotonic() - began
    times = [await quick_one(client, quick, from_sync) for _ in range(QUICK_CALLS)]
    during, given_up = take_census(), len(client.abandoned)
    tools.release()
    await until(lambda: not client.abandoned)
    still = len(client.abandoned)
    await client.aclose()
    row = [said(results), f"{took:.1f}", f"{times[0] * 1e3:.1f}", spread(times)[0]]

    return [*row, f"{given_up} / {still}"], during


async def quick_one(client: ToolClient, name: str, from_sync: bool) -> float:
    """
    Return the seconds of a quick call, which has to succeed.
    """
    began = time.monotonic()
    if from_sync:
        answer = await asyncio.to_thread(client.invoke, name)
    else:
        answer = await client.ainvoke(name)
    answer.unwrap()

    return time.monotonic() - began


def lateness(sizes: Sizes) -> Table:
    """
    Have many bodies run into one deadline, under each isolation.
    """
    rows = []
    for label, tool, count in (
        ("task", tools.long_task, sizes.many),
        ("task, refuses to end", tools.long_swallow, sizes.many),
        ("thread", tools.long_thread, sizes.many),
    ):
        rows.append([label, *asyncio.run(flight(SequentialEngine(), tool, count))])
    rows.append(["thread, sync front", *sync_flight(sizes.many)])
    for crowd in sizes.crowds:
        with ProcessEngine(max_concurrency=crowd) as engine:
            row = asyncio.run(flight(engine, tools.long_process, crowd))
            rows.append(["process", *row])
    heads = ["body", "calls", "at once", "answers", "p50 ms", "p99 ms", "max ms"]

    return "Timed calls in flight at once: answer minus deadline", heads, rows


async def flight(engine: Engine, tool: Any, count: int) -> list[str]:
    """
    Make *count* calls from one loop.
    """
    heard = Deadlines()
    client = ToolClient([tool], engine=engine, hooks=[heard])
    (name,) = client.table
    results = await fly(client, heard, name, [None] * count)
    tools.release()
    await until(lambda: not client.abandoned)
    await client.aclose()
    is_remote = tool is tools.long_process
    late = late_by(results, tools.LONG) if is_remote else heard.late

    return [str(count), str(heard.together), said(results), *spread(late)]


def sync_flight(count: int) -> list[str]:
    """
    Make *count* calls from as many threads.
    """
    heard, results = Deadlines(), list[ToolResult]()
    client = ToolClient([tools.long_thread], hooks=[heard])

    def one(number: int) -> None:
        result = client.invoke("long_thread", call_id=str(number))
        heard.answered(str(number))
        results.append(result)

    threads = [threading.Thread(target=one, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tools.release()
    client.close()

    return [str(count), str(heard.together), said(results), *spread(heard.late)]
