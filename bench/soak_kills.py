"""
Workers that are ended, by the deadline or from outside.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import threading
import time

from collections.abc import Iterable
from pathlib import Path
from typing import Any, final

import soak_tools as tools

from soak_calls import WORKERS, Deadlines, Sizes, Table, calls, fly, late_by, over, said
from soak_census import descendants, marked, spread, take_census

from tooldecl import ToolCall, ToolClient, ToolResult
from tooldecl.engines import ProcessEngine
from tooldecl.telemetry import Event, Progress


# What bodies start sleeps so many seconds: an argument that is found again.
MARKERS = (f"3600.{os.getpid()}4", f"3600.{os.getpid()}5")


def kills(sizes: Sizes) -> Table:
    """
    End very many bodies at their deadline.
    """
    rows = [
        ["sleeps", *asyncio.run(kill(tools.hung_process, sizes.kills))],
        ["loops", *asyncio.run(kill(tools.spin_process, sizes.kills // 5))],
        ["has a child apart", *asyncio.run(kill(tools.hung_parent, sizes.kills // 5))],
    ]
    heads = ["body", "answers", "s", "p50 ms", "p99 ms", "max ms", "orphans"]
    heads += ["processes", "zombies", "threads", "fds", "RSS MiB"]

    return f"Kills, {WORKERS} workers (before / at the end / 0.5 s later)", heads, rows


async def kill(tool: Any, count: int) -> list[str]:
    """
    Have *count* bodies run into their deadline.
    """
    engine = ProcessEngine(max_concurrency=WORKERS)
    client = ToolClient([tool, tools.quick_process], engine=engine)
    # Workers and threads that are kept are no leak: they are there before.
    await client.ainvoke_batch(calls("quick_process", 50))
    counts, name = [take_census()], next(iter(client.table))
    given = {"marker": MARKERS[0]} if tool is tools.hung_parent else None
    began = time.monotonic()
    results = await fly(client, Deadlines(), name, [given] * count)
    took = time.monotonic() - began
    counts.append(take_census())
    orphans = len(marked(MARKERS[0]))
    await asyncio.sleep(0.5)
    counts.append(take_census())
    await client.aclose()
    await engine.aclose()
    late = late_by(results, client.table[name].timeout)
    row = [said(results), f"{took:.1f}", *spread(late), str(orphans)]
    counted = ("processes", "zombies", "threads", "fds", "rss")

    return [*row, *(over(what, *counts) for what in counted)]


def shooting(sizes: Sizes) -> Table:
    """
    End workers from outside while a batch runs.
    """
    victims = frozenset(range(0, sizes.run, 10))
    rows = [
        ["the worker of every tenth call", *shoot(sizes.run, victims)],
        ["any worker, at any moment", *shoot(sizes.run, frozenset())],
    ]
    heads = ["shot", "shots", "answers", "s", "one each, in order", "orphans"]
    title = f"{sizes.run} calls, {WORKERS} workers, some shot from outside"

    return title, [*heads, "bystanders hurt"], rows


def shoot(count: int, victims: frozenset[int]) -> list[str]:
    """
    Run a batch, and shoot the workers of *victims*, or any where there are none.
    """
    shooter = Shooter(map(str, victims))
    engine = ProcessEngine(max_concurrency=WORKERS)
    client = ToolClient([tools.work], engine=engine, hooks=[shooter])
    given = [
        {"number": n, "marker": MARKERS[1], "victim": n in victims}
        for n in range(count)
    ]
    over = threading.Event()
    thread = threading.Thread(target=shooter.shoot_any, args=(count // 10, over))
    began = time.monotonic()
    if not victims:
        thread.start()
    results = client.invoke_batch(
        [ToolCall("work", one, id=str(n)) for n, one in enumerate(given)]
    )
    over.set()
    took = time.monotonic() - began
    if not victims:
        thread.join()
    orphans = len(marked(MARKERS[1]))
    client.close()
    engine.close()
    once = [r.call_id for r in results] == [str(n) for n in range(count)]
    right = all(r.value[0] == n for n, r in enumerate(results) if r.ok)
    row = [str(len(shooter.shot)), said(results), f"{took:.1f}"]

    return [
        *row,
        "yes" if once and right else "NO",
        str(orphans),
        str(shooter.hurt(results)),
    ]


@final
class Shooter:
    """
    Ends workers from outside: those of chosen calls as soon as they say where they run.
    """

    def __init__(self, chosen: Iterable[str]) -> None:
        self._chosen = set(chosen)
        self._ran_in: dict[str, int] = {}
        self.shot: set[int] = set()

    def __call__(self, event: Event) -> None:
        if isinstance(event, Progress):
            pid = self._ran_in[event.call_id] = int(event.done)
            if event.call_id in self._chosen:
                self._shoot(pid)

    def _shoot(self, pid: int) -> None:
        self.shot.add(pid)
        os.kill(pid, signal.SIGKILL)

    def shoot_any(self, count: int, over: threading.Event) -> None:
        """
        Shoot *count* workers, idle or not, at moments of chance.
        """
        chance = random.Random(5)  # noqa: S311
        while len(self.shot) < count and not over.wait(chance.uniform(0, 0.04)):
            living = workers()
            if living:
                self._shoot(chance.choice(living))

    def hurt(self, results: Iterable[ToolResult]) -> int:
        """
        Count the failures whose worker was not shot.
        """
        failed = [result for result in results if not result.ok]
        known = [self._ran_in.get(result.call_id) for result in failed]
        hurt = sum(pid is not None and pid not in self.shot for pid in known)

        return max(hurt, len(failed) - len(self.shot))


def workers() -> list[int]:
    """
    List the workers that live: they lead their groups, below the zygote, our child.
    """
    found = []
    for pid, state in descendants():
        try:
            parent, group = ancestry(pid)
            grandparent, _ = ancestry(parent)
        except OSError:
            continue
        if group == pid and state not in "ZX" and grandparent == os.getpid():
            found.append(pid)

    return found


def ancestry(pid: int) -> tuple[int, int]:
    """
    Return the parent and the group of a process.
    """
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()

    return int(fields[1]), int(fields[2])
