"""
One async call on the caller's loop, with and without a time limit.
"""

from __future__ import annotations

import asyncio

from collections.abc import Iterator
from contextlib import contextmanager

import bench_tools as tools
import floors

from measuring import Probe, Row, Sampler, ain_turn

from tooldecl import ToolClient


@contextmanager
def ready(_quick: bool) -> Iterator[Sampler]:
    """
    Prepare the calls.
    """
    declared = [tools.plain, tools.awaited, tools.awaited_limited]
    with ToolClient(declared) as client:
        text, call = tools.TEXT, client.ainvoke
        runs = {
            "floor": floors.agate(text, tools.aread),
            "limited floor": floors.agate_timed(text, tools.aread),
            "awaited": lambda: call("awaited", text),
            "limited": lambda: call("awaited_limited", text),
            "sync tool": lambda: call("plain", text),
        }
        yield lambda: asyncio.run(ain_turn(runs, calls=40))


PROBE = Probe(
    name="await",
    ready=ready,
    rows=(
        Row(
            title="async call",
            value="awaited",
            unit="us",
            floor="floor",
            what=f"{floors.GATE}, awaited",
            limit=10,
        ),
        Row(
            title="async call with a timeout",
            value="limited",
            unit="us",
            floor="limited floor",
            what="the same inside asyncio.timeout",
            limit=15,
        ),
        Row(
            title="async call of a sync tool (a thread)",
            value="sync tool",
            unit="us",
            floor="floor",
            what=f"{floors.GATE}, awaited",
        ),
    ),
)
