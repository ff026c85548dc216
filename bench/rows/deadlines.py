"""
From the deadline of a body to the answer of its call, alone and with 1,000 in flight.
"""

from __future__ import annotations

import asyncio
import time

from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

import bench_tools as tools

from measuring import Probe, Row, Sample, Sampler, quantile

from tooldecl import ToolClient


WHAT = "as many tasks, each a future and a timer that ends it"


async def flight(
    count: int, one: Callable[[list[float]], Awaitable[object]]
) -> list[float]:
    """
    Return how late each of *count* answers is, in seconds.
    """

    async def late() -> float:
        deadlines: list[float] = []
        await one(deadlines)
        return time.monotonic() - deadlines[0]

    return await asyncio.gather(*(late() for _ in range(count)))


async def bare(deadlines: list[float]) -> None:
    """
    Wait for a timer.
    """
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    deadlines.append(loop.time() + tools.LONG)
    loop.call_at(deadlines[0], future.set_result, None)
    await future


async def release(client: ToolClient) -> None:
    """
    Wait until the bodies that were given up have ended.
    """
    while client.abandoned:  # noqa: ASYNC110 (bodies of any thread)
        await asyncio.sleep(0.05)


@contextmanager
def ready(count: int, quick: bool) -> Iterator[Sampler]:
    """
    Prepare the calls.
    """
    count = min(count, 100) if quick else count
    with ToolClient([tools.late_task, tools.late_thread]) as client:

        async def measured(name: str) -> list[float]:
            late = await flight(count, lambda deps: client.ainvoke(name, deps=deps))
            await release(client)

            return late

        def sample() -> Sample:
            found = {
                "bare": asyncio.run(flight(count, bare)),
                "task": asyncio.run(measured("late_task")),
                "thread": asyncio.run(measured("late_thread")),
            }
            taken: Sample = {}
            for name, late in found.items():
                taken[f"{name} p50"] = quantile(late, 0.5)
                taken[f"{name} p99"] = quantile(late, 0.99)

            return taken

        yield sample


def lines(count: str, share: str, limit: float | None) -> tuple[Row, ...]:
    """
    Return the rows of one quantile.
    """
    return tuple(
        Row(
            title=f"deadline to answer, {count} in flight, {body}, {share}",
            value=f"{key} {share}",
            unit="ms",
            floor=f"bare {share}",
            what=WHAT,
            limit=limit,
        )
        for key, body in (("task", "async tool"), ("thread", "sync tool"))
    )


def readied(count: int) -> Callable[[bool], AbstractContextManager[Sampler]]:
    """
    Return what prepares so many calls.
    """
    return partial(ready, count)


ALONE = Probe(
    name="deadline 1", ready=readied(1), every=2, rows=lines("1", "p50", None)
)
CROWD = Probe(
    name="deadline 1000",
    ready=readied(1_000),
    every=5,
    rows=lines("1,000", "p50", None) + lines("1,000", "p99", 10),
)
