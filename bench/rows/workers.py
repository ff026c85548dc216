"""
A call in a warm worker process, beside a bare round trip.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bench_tools as tools
import floors

from measuring import Probe, Row, Sampler, in_turn

from tooldecl import ToolClient
from tooldecl.engines import ProcessEngine


@contextmanager
def ready(_quick: bool) -> Iterator[Sampler]:
    """
    Prepare the calls, and warm one worker.
    """
    declared = [tools.apart, tools.apart_limited]
    with (
        ProcessEngine(max_concurrency=1) as engine,
        ToolClient(declared, engine=engine) as client,
        floors.round_trip(tools.ARGUMENTS) as trip,
    ):
        text = tools.TEXT
        runs = {
            "floor": trip,
            "worker": lambda: client.invoke("apart", text),
            "limited": lambda: client.invoke("apart_limited", text),
        }
        for run in runs.values():
            for _ in range(20):
                run()
        yield lambda: in_turn(runs, calls=40)


PROBE = Probe(
    name="process",
    ready=ready,
    rows=(
        Row(
            title="process call, warm",
            value="worker",
            unit="us",
            floor="floor",
            what=floors.ROUND_TRIP,
            most=1.5,
        ),
        Row(
            title="process call, warm, with a timeout",
            value="limited",
            unit="us",
            floor="floor",
            what=floors.ROUND_TRIP,
        ),
    ),
)
