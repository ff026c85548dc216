"""
Ten thousand calls at once, as a batch and one by one.
"""

from __future__ import annotations

import asyncio
import time

from collections.abc import Awaitable, Callable, Sequence

import soak_tools as tools

from soak_calls import Sizes, Table

from tooldecl import ToolCall, ToolClient, ToolResult
from tooldecl.engines import AsyncioEngine, Engine, SequentialEngine


BOTH = {"together": "echo", "one by one": "echo_late"}
TOGETHER = {"together": "echo"}
ALONE = {"alone": "echo_alone"}


def large(sizes: Sizes) -> Table:
    """
    Make very many async calls in one batch, and one by one in one gather.
    """
    count, rows = sizes.batch, []

    def wide() -> Engine:
        return AsyncioEngine(max_concurrency=count)

    for label, make, run, bodies in (
        (f"batch, {count} places", wide, batch, BOTH),
        ("batch, 8 places", AsyncioEngine, batch, TOGETHER),
        ("batch, one serial group", AsyncioEngine, batch, ALONE),
        ("gather, no limit", SequentialEngine, gather, BOTH),
        (f"gather, {count} places", wide, gather, BOTH),
        ("gather, 8 places", AsyncioEngine, gather, TOGETHER),
    ):
        for ends, name in bodies.items():
            _, part, _ = asyncio.run(measure(make(), run, name, count // 4))
            took, used, in_order = asyncio.run(measure(make(), run, name, count))
            row = [label, ends, f"{took:.2f}", f"{count / took:,.0f}", f"{used:.2f}"]
            rows.append([*row, f"{used / part:.1f}", "yes" if in_order else "NO"])
    heads = ["calls", "bodies end", "s", "calls/s", "CPU s", "x of a quarter"]

    return f"{count} async calls at once", [*heads, "one each, in order"], rows


async def measure(
    engine: Engine,
    run: Callable[[ToolClient, str, int], Awaitable[Sequence[ToolResult]]],
    name: str,
    count: int,
) -> tuple[float, float, bool]:
    """
    Return seconds, those of the processor, and whether each call has its own answer.
    """
    client = ToolClient([tools.echo, tools.echo_late, tools.echo_alone], engine=engine)
    began, used = time.perf_counter(), time.process_time()
    results = await run(client, name, count)
    took, used = time.perf_counter() - began, time.process_time() - used

    return took, used, [r.value for r in results] == list(range(count))


async def batch(client: ToolClient, name: str, count: int) -> Sequence[ToolResult]:
    """
    Make *count* calls as one batch.
    """
    return await client.ainvoke_batch(
        [ToolCall(name, {"number": n}) for n in range(count)]
    )


async def gather(client: ToolClient, name: str, count: int) -> Sequence[ToolResult]:
    """
    Make *count* single calls at once.
    """
    return await asyncio.gather(
        *(client.ainvoke(name, {"number": n}) for n in range(count))
    )
