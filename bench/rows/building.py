"""
Clients of few and of many tools: what they cost to build, and one call in each.
"""

from __future__ import annotations

import gc

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import bench_tools as tools

from measuring import Probe, Row, Sample, Sampler, in_turn, worked

from tooldecl import ToolClient, tool

from .sources import functions


SIZES = (1, 100, 10_000)


def fresh(count: int) -> list[object]:
    """
    Declare tools that no client has seen.
    """
    return [tools.plain, *(tool(function) for function in functions(count - 1))]


@contextmanager
def ready(quick: bool) -> Iterator[Sampler]:
    """
    Prepare the tools and a client of each size.
    """
    sizes = {size: min(size, 1_000) if quick else size for size in SIZES}
    lists = {size: fresh(real) for size, real in sizes.items()}
    text = tools.TEXT
    with ExitStack() as stack:
        clients = {
            size: stack.enter_context(ToolClient(listed))
            for size, listed in lists.items()
        }
        runs = {
            f"call {size}": lambda client=client: client.invoke("plain", text)
            for size, client in clients.items()
        }
        for run in runs.values():
            run()

        def sample() -> Sample:
            taken = in_turn(runs, calls=100)
            for size, real in sizes.items():
                unseen = fresh(real)
                gc.collect()
                taken[f"build {size}"] = worked(
                    lambda unseen=unseen: ToolClient(unseen)
                )
            taken["hundred"] = 100 * taken["build 100"]

            return taken

        yield sample


PROBE = Probe(
    name="build",
    ready=ready,
    every=3,
    rows=(
        Row(title="building a client of 1 tool", value="build 1", unit="ms cpu"),
        Row(title="building a client of 100 tools", value="build 100", unit="ms cpu"),
        Row(
            title="building a client of 10,000 tools",
            value="build 10000",
            unit="ms cpu",
            floor="hundred",
            what="100 times the client of 100: above 1 it grows faster than the tools",
        ),
        Row(title="one call in a client of 1 tool", value="call 1", unit="us"),
        Row(
            title="one call in a client of 100 tools",
            value="call 100",
            unit="us",
            floor="call 1",
            what="the same call in a client of 1",
        ),
        Row(
            title="one call in a client of 10,000 tools",
            value="call 10000",
            unit="us",
            floor="call 1",
            what="the same call in a client of 1",
            most=1.1,
        ),
    ),
)
