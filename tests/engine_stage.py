"""
Engines to run a test under, and a place where bodies of any process meet the test.
"""

from __future__ import annotations

import os
import threading

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine_tools import HANGS_AFTER, TOOLS, post, take
from fronts import call_batch
from given import GIVEN
from tooldecl import ToolCall, ToolClient
from tooldecl._isolation import Line, Ticket
from tooldecl.engines import (
    AsyncioEngine,
    Engine,
    ExecutorEngine,
    ProcessEngine,
    SequentialEngine,
    ThreadEngine,
)


BOXES = ("arrived", "go", "done", "left", "right")


@dataclass(frozen=True)
class Case:
    """
    One engine, and what a test may expect of it.
    """

    name: str
    make: Callable[..., Engine]
    overlaps: bool = True

    @property
    def kind(self) -> str:
        """
        Name of the engine's class.
        """
        return type(self.make()).__name__


class OnThreads(Executor):
    """
    An executor with a thread for each call, which ends with it.
    """

    def submit(self, function: Callable[..., Any], /, *args: Any) -> Future[Any]:
        """
        Begin at once.
        """
        return begin(function, *args)


def on_threads(**options: Any) -> ExecutorEngine:
    """
    Make an engine over an executor.
    """
    return ExecutorEngine(OnThreads(), **options)


SEQUENTIAL = Case("sequential", SequentialEngine, overlaps=False)
OVERLAPPING = [
    Case("threads", ThreadEngine),
    Case("asyncio", AsyncioEngine),
    Case("processes", ProcessEngine),
    Case("executor", on_threads),
]
if GIVEN:
    OVERLAPPING = [Case(name, module.make) for name, module in GIVEN.items()]
ENGINES = [*([] if GIVEN else [SEQUENTIAL]), *OVERLAPPING]


class Stage:
    """
    A directory with a journal and boxes of tokens; `engine_tools` has the other side.
    """

    def __init__(self, where: Path) -> None:
        self.where = str(where)
        for box in BOXES:
            os.mkfifo(where / box)
        # Held open, so that a token waits for whoever wants it.
        self._held = [os.open(where / box, os.O_RDWR) for box in BOXES]

    def close(self) -> None:
        """
        Let everybody go who is still held.
        """
        post(self.where, "go", 1_000)
        for fd in self._held:
            os.close(fd)

    def arrivals(self, count: int) -> None:
        """
        Wait until so many bodies more have come.
        """
        for _ in range(count):
            take(self.where, "arrived")

    def go(self, count: int = 1) -> None:
        """
        Let so many bodies go.
        """
        post(self.where, "go", count)

    def take(self, box: str) -> None:
        """
        Wait for a token in a box.
        """
        take(self.where, box)

    @property
    def journal(self) -> list[str]:
        """
        What bodies have noted, in order.
        """
        path = Path(self.where) / "journal"

        return path.read_text().splitlines() if path.exists() else []

    def calls(self, *entries: tuple[str, ...]) -> list[ToolCall]:
        """
        Make calls of `engine_tools` from pairs of tool and word, the word as their id.
        """
        return [
            ToolCall(name, {"where": self.where, "word": word}, word)
            for name, word in entries
        ]

    def call(self, name: str, **arguments: object) -> ToolCall:
        """
        Make one call with other arguments.
        """
        return ToolCall(name, {"where": self.where, **arguments})


def peak(journal: list[str]) -> int:
    """
    Return how many bodies were inside at once.
    """
    inside = highest = 0
    for line in journal:
        inside += 1 if line.startswith("in ") else -1
        highest = max(highest, inside)

    return highest


def client_of(engine: Engine | None = None, **options: Any) -> ToolClient:
    """
    Build a client of all tools.
    """
    return ToolClient(TOOLS, engine=engine, **options)


def begin(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """
    Call *function* on a thread of its own.
    """
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(function(*args, **kwargs))
        except BaseException as error:  # whoever waits gets it
            future.set_exception(error)

    threading.Thread(target=run, name="front", daemon=True).start()

    return future


def begin_batch(
    front: str, client: ToolClient, calls: list[ToolCall], **options: Any
) -> Future[Any]:
    """
    Run a batch by either front, on a thread of its own.
    """
    return begin(call_batch, front, client, calls, **options)


def outcome(future: Future[Any]) -> Any:
    """
    Wait for what `begin` began.
    """
    return future.result(HANGS_AFTER)


def taken(line: Line, **wants: Any) -> Ticket:
    """
    Return a ticket that has what it wants.
    """
    ticket = Ticket(**wants)
    assert line.stand(ticket)

    return ticket


def stood(line: Line, **wants: Any) -> Ticket:
    """
    Return a ticket that waits.
    """
    ticket = Ticket(**wants)
    assert not line.stand(ticket)

    return ticket


class PoolEngine(Engine):
    """
    An engine of a host's own, which knows nothing of serial calls.
    """

    def __init__(self):
        self.steps = []

    def run_batch(self, calls, run):
        """
        Run all at once on an executor.
        """
        self.steps.append(len(calls))
        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(run, calls))

    async def arun_batch(self, calls, run):
        """
        Run one after the other, last one first.
        """
        self.steps.append(len(calls))
        return [await run(call) for call in reversed(calls)]
