"""
What a process has, and how busy the machine is: what the soak counts.
"""

from __future__ import annotations

import os
import statistics
import threading
import time

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final


# How long caches (idle threads: 1 s) and dying processes get to be gone.
SETTLE_SECONDS = 8.0


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """
    What this process has now; ``processes`` are all below it, zombies counted apart.
    """

    threads: int
    processes: int
    zombies: int
    fds: int
    rss: float

    @property
    def counts(self) -> tuple[int, ...]:
        """
        What has to be as before, in the end.
        """
        return self.threads, self.processes, self.zombies, self.fds


def take_census() -> Census:
    """
    Count.
    """
    states = [state for _, state in descendants()]

    return Census(
        threads=sum(1 for _ in Path("/proc/self/task").iterdir()),
        processes=sum(state not in "ZX" for state in states),
        zombies=sum(state in "ZX" for state in states),
        fds=sum(1 for _ in Path("/proc/self/fd").iterdir()) - 1,
        rss=int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20,
    )


def descendants() -> list[tuple[int, str]]:
    """
    List the processes below this one, with their states.
    """
    parents: dict[int, tuple[int, str]] = {}
    for folder in _all():
        try:
            stat = (folder / "stat").read_text(errors="replace")
        except OSError:
            continue
        state, parent = stat.rpartition(")")[2].split()[:2]
        parents[int(folder.name)] = (int(parent), state)
    own, found = os.getpid(), list[tuple[int, str]]()
    for pid, (_, state) in parents.items():
        at = pid
        while at in parents and at != own:
            at = parents[at][0]
        if at == own and pid != own:
            found.append((pid, state))

    return found


def marked(marker: str) -> list[int]:
    """
    List the processes that have *marker* as an argument, wherever they hang.
    """
    found = []
    for folder in _all():
        try:
            arguments = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if marker.encode() in arguments:
            found.append(int(folder.name))

    return found


def _all() -> list[Path]:
    return [folder for folder in Path("/proc").iterdir() if folder.name.isdigit()]


def settled(before: Census) -> Census:
    """
    Count once everything is as it was, or after a time in which it should have been.
    """
    until = time.monotonic() + SETTLE_SECONDS
    while True:
        now = take_census()
        pairs = zip(now.counts, before.counts, strict=True)
        if time.monotonic() > until or all(a <= b for a, b in pairs):
            return now
        time.sleep(0.05)


def left_over(before: Census) -> list[str]:
    """
    Say what is there that was not before.
    """
    after = settled(before)
    found = [
        f"{now - then} more {what}"
        for what, now, then in zip(
            ("threads", "processes", "zombies", "descriptors"),
            after.counts,
            before.counts,
            strict=True,
        )
        if now > then
    ]
    if after.threads > before.threads:
        found += [thread.name for thread in threading.enumerate()]

    return found


@final
class Machine:
    """
    How busy the machine was since the last look.
    """

    def __init__(self) -> None:
        self._last = self._read()

    def _read(self) -> list[int]:
        first = Path("/proc/stat").read_text().splitlines()[0]

        return [int(word) for word in first.split()[1:9]]

    def look(self) -> str:
        """
        Say it.
        """
        now = self._read()
        user, nice, system, idle, waiting, irq, soft, stolen = (
            a - b for a, b in zip(now, self._last, strict=True)
        )
        self._last = now
        total = user + nice + system + idle + waiting + irq + soft + stolen or 1
        busy = 100 * (total - idle - waiting) / total

        return (
            f"load {os.getloadavg()[0]:.1f}, processors busy {busy:.0f} %, "
            f"stolen {100 * stolen / total:.0f} %"
        )


def quantile(values: Sequence[float], share: float) -> float:
    """
    Return the value below which *share* of *values* is.
    """
    ordered = sorted(values)

    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def spread(seconds: Sequence[float]) -> list[str]:
    """
    Return median, 99th percentile and maximum, in milliseconds.
    """
    if not seconds:
        return ["-", "-", "-"]
    three = (statistics.median(seconds), quantile(seconds, 0.99), max(seconds))

    return [f"{value * 1e3:.1f}" for value in three]


def show(title: str, heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """
    Print a table.
    """
    cells = [list(heads), *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    print(f"\n{title}")
    for row in cells:
        first = row[0].ljust(widths[0])
        others = [c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)]
        print("  ".join([first, *others]), flush=True)
