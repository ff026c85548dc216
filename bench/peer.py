"""
Measure one peer beside this package, in the peer's own environment; print a sample.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import importlib.metadata
import json
import logging
import sys

from pathlib import Path


# With PYTHONSAFEPATH the folder of a script is not searched.
sys.path.insert(0, str(Path(__file__).resolve().parent))

import bench_tools as tools

from measuring import Sample, ain_turn
from peers import TEXT, VALUE, Ways, as_way

from tooldecl import ToolClient
from tooldecl.engines import ProcessEngine


CALLS = 20


def ours(client: ToolClient) -> Ways:
    """
    Return the same kinds of calls of this package.
    """
    return {
        "sync": as_way(lambda: client.invoke("plain", TEXT).value),
        "sync limited": as_way(lambda: client.invoke("limited", TEXT).value),
        "sync awaited": lambda: value_of(client, "plain"),
        "async": lambda: value_of(client, "awaited"),
        "async limited": lambda: value_of(client, "awaited_limited"),
        "retry": as_way(lambda: client.invoke("retried", TEXT).value),
    }


async def value_of(client: ToolClient, name: str) -> object:
    """
    Await a call.
    """
    return (await client.ainvoke(name, TEXT)).value


async def measure(name: str) -> Sample:
    """
    Let the calls of both take turns.
    """
    peer = importlib.import_module(f"peers.{name}")
    declared = [tools.plain, tools.limited, tools.retried]
    declared += [tools.awaited, tools.awaited_limited]
    with ToolClient(declared) as client, ProcessEngine(max_concurrency=1) as engine:
        own = {f"ours: {kind}": way for kind, way in ours(client).items()}
        worker = ToolClient([tools.apart, tools.apart_limited], engine=engine)
        if name == "pebble":
            own["ours: process"] = as_way(lambda: worker.invoke("apart", TEXT).value)
            own["ours: process limited"] = as_way(
                lambda: worker.invoke("apart_limited", TEXT).value
            )
        async with peer.ways() as ways:
            runs = own | ways
            for kind, way in runs.items():
                if (value := await way()) not in (VALUE, str(VALUE)):
                    raise AssertionError(f"{name}, {kind}: {value!r}")
            gc.collect()
            gc.freeze()

            return await ain_turn(runs, calls=CALLS)


def main() -> None:
    """
    Print the sample, and what was measured.
    """
    logging.disable()
    (name,) = sys.argv[1:]
    sample = asyncio.run(measure(name))
    packages = importlib.import_module(f"peers.{name}").PACKAGES
    versions = {package: importlib.metadata.version(package) for package in packages}
    print(json.dumps({"sample": sample, "versions": versions}))


if __name__ == "__main__":
    main()
