"""
What a time limit adds to a sync call: a thread that can be given up.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bench_tools as tools
import floors

from measuring import Probe, Row, Sample, Sampler, in_turn

from tooldecl import ToolClient


@contextmanager
def ready(_quick: bool) -> Iterator[Sampler]:
    """
    Prepare the calls, and the bare hand-over.
    """
    thread = floors.HandOver()
    with ToolClient([tools.plain, tools.limited]) as client:
        text, given = tools.TEXT, tools.ARGUMENTS
        runs = {
            "hand over": lambda: thread.run(lambda: tools.read(**given)),
            "plain": lambda: client.invoke("plain", text),
            "limited": lambda: client.invoke("limited", text),
        }

        def sample() -> Sample:
            taken = in_turn(runs, calls=50)
            taken["added"] = taken["limited"] - taken["plain"]
            taken["both"] = taken["plain"] + taken["hand over"]

            return taken

        yield sample
    thread.close()


PROBE = Probe(
    name="timeout",
    ready=ready,
    rows=(
        Row(
            title="sync call with a timeout",
            value="limited",
            unit="us",
            floor="both",
            what="the sync call with JSON text + the hand-over",
        ),
        Row(
            title="what the timeout adds to it",
            value="added",
            unit="us",
            floor="hand over",
            what=floors.HAND_OVER,
            most=1.5,
        ),
    ),
)
