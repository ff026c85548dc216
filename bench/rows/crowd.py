"""
Ten thousand async calls at once.
"""

from __future__ import annotations

import asyncio
import time

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import bench_tools as tools

from measuring import Probe, Row, Sample, Sampler

from tooldecl import ToolCall, ToolClient
from tooldecl.engines import AsyncioEngine


WHAT = "asyncio.gather of as many coroutines with that body"
RUNS = {
    "8 places": "one batch, 8 places",
    "all places": "one batch, 10,000 places",
    "gather": "gather of single calls, no limit",
}


@contextmanager
def ready(quick: bool) -> Iterator[Sampler]:
    """
    Prepare the calls.
    """
    count = 1_000 if quick else 10_000
    calls = [ToolCall("echo", {"number": n}) for n in range(count)]
    few = ToolClient([tools.echo], engine=AsyncioEngine())
    many = ToolClient([tools.echo], engine=AsyncioEngine(max_concurrency=count))
    free = ToolClient([tools.echo])

    async def bare() -> object:
        return await asyncio.gather(*(tools.echo(n) for n in range(count)))

    async def gather() -> object:
        single = (free.ainvoke("echo", {"number": n}) for n in range(count))
        return await asyncio.gather(*single)

    def sample() -> Sample:
        runs: dict[str, Callable[[], Awaitable[object]]] = {
            "floor": bare,
            "8 places": lambda: few.ainvoke_batch(calls),
            "all places": lambda: many.ainvoke_batch(calls),
            "gather": gather,
        }

        return {name: asyncio.run(each(run)) / count for name, run in runs.items()}

    with few, many, free:
        yield sample


async def each(run: Callable[[], Awaitable[object]]) -> float:
    """
    Return the seconds of the processor, without those of the loop's start and end.
    """
    began = time.process_time()
    await run()

    return time.process_time() - began


PROBE = Probe(
    name="crowd",
    ready=ready,
    every=5,
    rows=tuple(
        Row(
            title=f"10,000 async calls, each: {label}",
            value=name,
            unit="us cpu",
            floor="floor",
            what=WHAT,
        )
        for name, label in RUNS.items()
    ),
)
