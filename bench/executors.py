"""
Print what a warm call costs through each engine that runs bodies in processes.

    python bench/executors.py [--rounds N]

`ProcessEngine`, `ExecutorEngine` over threads and over what is installed of loky and
Dask, and `RayEngine` over a Ray of its own where that is, in turn in one process. The
page is docs/how-to/choose-an-engine.md.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import platform
import sys

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path


# With PYTHONSAFEPATH the folder of a script is not searched.
sys.path.insert(0, str(Path(__file__).resolve().parent))

import bench_tools as tools

from measuring import Line, Row, in_turn, load
from table import show

from tooldecl import ToolClient
from tooldecl.engines import Engine, ExecutorEngine, ProcessEngine, RayEngine


ROUNDS, CALLS, WARM = 15, 20, 30
FLOOR = "ProcessEngine"


@contextlib.contextmanager
def loky() -> Iterator[Executor]:
    """
    Have one process of loky's.
    """
    from loky import ProcessPoolExecutor

    executor = ProcessPoolExecutor(1, timeout=600)
    yield executor
    executor.shutdown(kill_workers=True)


@contextlib.contextmanager
def distributed() -> Iterator[Executor]:
    """
    Have one worker of Dask's, with one thread.
    """
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, Client(cluster) as client:
        yield client.get_executor(pure=False, retries=0)


MAKERS: dict[str, Callable[[], AbstractContextManager[Executor]]] = {
    "threads": lambda: ThreadPoolExecutor(1),
    "loky": loky,
    "distributed": distributed,
}


def found(name: str) -> bool:
    """
    Tell whether a package is installed.
    """
    return name == "threads" or importlib.util.find_spec(name) is not None


def main() -> None:
    """
    Measure, and print.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    before = load()
    with ExitStack() as stack:
        engines: dict[str, Engine] = {FLOOR: ProcessEngine(max_concurrency=1)}
        for name, make in MAKERS.items():
            if found(name):
                engines[name] = ExecutorEngine(stack.enter_context(make()))
        if found("ray"):
            engines["ray"] = stack.enter_context(RayEngine("local", max_concurrency=1))
        runs = {}
        for name, engine in engines.items():
            client = stack.enter_context(
                ToolClient([tools.apart_limited], engine=engine)
            )
            runs[name] = lambda client=client: client.invoke(
                "apart_limited", tools.TEXT
            )
            for _ in range(WARM):
                result = runs[name]()
                if not result.ok:
                    raise SystemExit(f"{name}: {result.content}")
        samples = [in_turn(runs, calls=CALLS, turns=5) for _ in range(rounds)]
    rows = [
        Row(
            title=f"a warm call: {name}", value=name, unit="us", floor=FLOOR, what=FLOOR
        )
        for name in runs
    ]
    machine = (
        f"Python {platform.python_version()}, {os.cpu_count()} processors, {rounds} "
        f"rounds; load before: {before}, after: {load()}"
    )
    print(show([Line(row, "executors", samples) for row in rows], machine))


if __name__ == "__main__":
    main()
