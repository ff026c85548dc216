"""
64 calls that sleep 50 ms each, together, under each engine.
"""

from __future__ import annotations

import _thread
import asyncio
import time

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import bench_tools as tools

from measuring import Probe, Row, Sample, Sampler, timed

from tooldecl import ToolCall, ToolClient
from tooldecl.engines import (
    AsyncioEngine,
    ProcessEngine,
    SequentialEngine,
    ThreadEngine,
)


COUNT = 64
ENGINES = {"thread": ThreadEngine, "asyncio": AsyncioEngine, "process": ProcessEngine}
THREADS = "64 raw threads that sleep and open a lock"
TASKS = "asyncio.gather of 64 sleeps, in asyncio.run"


def bare_threads() -> None:
    """
    Sleep in as many threads, and wait for the last one to say that it is over.
    """
    over = [_thread.allocate_lock() for _ in range(COUNT)]

    def main(lock: _thread.LockType) -> None:
        time.sleep(tools.NAP)
        lock.release()

    for lock in over:
        lock.acquire()
        _thread.start_new_thread(main, (lock,))
    for lock in over:
        lock.acquire()


def bare_tasks() -> None:
    """
    Sleep in as many tasks.
    """

    async def main() -> None:
        await asyncio.gather(*(asyncio.sleep(tools.NAP) for _ in range(COUNT)))

    asyncio.run(main())


def batch(client: ToolClient, name: str) -> Callable[[], None]:
    """
    Return what makes the calls from sync code.
    """
    calls = [ToolCall(name, {"number": n}) for n in range(COUNT)]

    def run() -> None:
        results = client.invoke_batch(calls)
        if [result.value for result in results] != list(range(COUNT)):
            raise AssertionError(results)

    return run


def abatch(client: ToolClient, name: str) -> Callable[[], None]:
    """
    Return what makes the calls from async code.
    """
    calls = [ToolCall(name, {"number": n}) for n in range(COUNT)]

    def run() -> None:
        results = asyncio.run(client.ainvoke_batch(calls))
        if [result.value for result in results] != list(range(COUNT)):
            raise AssertionError(results)

    return run


@contextmanager
def ready_sync(_quick: bool) -> Iterator[Sampler]:
    """
    Prepare the sync tool under every engine; workers are started before.
    """
    with ready_all("nap", batch, {"floor": bare_threads}) as sampler:
        yield sampler


@contextmanager
def ready_async(_quick: bool) -> Iterator[Sampler]:
    """
    Prepare the async tool under every engine.
    """
    with ready_all("anap", abatch, {"floor": bare_tasks}) as sampler:
        yield sampler


@contextmanager
def ready_all(
    name: str,
    make: Callable[[ToolClient, str], Callable[[], None]],
    runs: dict[str, Callable[[], None]],
) -> Iterator[Sampler]:
    """
    Prepare one tool under every engine.
    """
    with ExitStack() as stack:
        for label, kind in ENGINES.items():
            engine = stack.enter_context(kind(max_concurrency=COUNT))
            client = ToolClient([tools.nap, tools.anap], engine=engine)
            runs[label] = make(stack.enter_context(client), name)
            runs[label]()

        def sample() -> Sample:
            return {label: timed(run) for label, run in runs.items()}

        yield sample


@contextmanager
def ready_one_by_one(_quick: bool) -> Iterator[Sampler]:
    """
    Prepare the engine that makes one call after the other, with eight calls.
    """
    with ToolClient([tools.nap], engine=SequentialEngine()) as client:
        calls = [ToolCall("nap", {"number": n}) for n in range(8)]

        def sample() -> Sample:
            took = timed(lambda: client.invoke_batch(calls))
            bare = timed(lambda: [time.sleep(tools.NAP) for _ in calls])

            return {"sequential": took, "floor": bare}

        yield sample


def lines(colour: str, what: str, limit: float) -> tuple[Row, ...]:
    """
    Return the rows of a colour.
    """
    return tuple(
        Row(
            title=f"64 x 50 ms, {colour} tool, {kind.__name__}",
            value=label,
            unit="ms",
            floor="floor",
            what=what,
            limit=limit,
        )
        for label, kind in ENGINES.items()
    )


SYNC = Probe(
    name="batch sync", ready=ready_sync, every=2, rows=lines("sync", THREADS, 60)
)
ASYNC = Probe(
    name="batch async", ready=ready_async, every=2, rows=lines("async", TASKS, 55)
)
ONE_BY_ONE = Probe(
    name="batch sequential",
    ready=ready_one_by_one,
    every=5,
    rows=(
        Row(
            title="8 x 50 ms, sync tool, SequentialEngine",
            value="sequential",
            unit="ms",
            floor="floor",
            what="the sleeps, one after the other",
        ),
    ),
)
