"""
Rows of figures, each beside its floor, from interleaved rounds.

A probe takes a sample in every round: what is measured and its floors, in turn, in one
process, which is the probe's own. Of short calls a sample has the best of many slices. A
row shows medians over the rounds, and the median of the ratios *within* a round, because
a machine that is shared moves both by more than the code does.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import subprocess
import sys
import time

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import repeat
from typing import Self, TypeAlias, TypeVar, final


# What a probe returns: seconds or bytes, by name.
Sample: TypeAlias = dict[str, float]
Sampler: TypeAlias = Callable[[], Sample]

T = TypeVar("T")

# "cpu" is the time of the processor, for work that is long and never waits: on a busy
# machine the clock on the wall shows the neighbours.
UNITS = {"us": 1e6, "ms": 1e3, "us cpu": 1e6, "ms cpu": 1e3, "KiB": 1 / 1024}
TURNS = 15


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """
    One line of the table.

    Attributes:
        title: What is measured.
        value: Name of its figure in a sample.
        unit: How it is shown.
        floor: Name of the figure that it is divided by, if any.
        what: What the floor is, in one line.
        most: The ratio to reach, if that is the target.
        limit: The figure to reach, in *unit*, if that is the target.
        least: A ratio that is the target from below.
    """

    title: str
    value: str
    unit: str
    floor: str | None = None
    what: str = ""
    most: float | None = None
    limit: float | None = None
    least: float | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """
    What takes the samples of some rows.

    Attributes:
        name: For ``--only``.
        rows: What is made of the samples.
        ready: Prepares for measuring; given whether few and small samples will do.
        every: A sample is taken every so many rounds.
    """

    name: str
    rows: tuple[Row, ...]
    ready: Callable[[bool], AbstractContextManager[Sampler]]
    every: int = 1


@final
@dataclass(frozen=True, slots=True)
class Line:
    """
    A row with its figures.
    """

    row: Row
    probe: str
    samples: Sequence[Sample] = field(default=(), repr=False)

    @property
    def median(self) -> float:
        """
        The figure, in seconds or bytes.
        """
        return statistics.median(sample[self.row.value] for sample in self.samples)

    @property
    def best(self) -> float:
        """
        The figure of the best round, which neighbours disturbed least.
        """
        return min(sample[self.row.value] for sample in self.samples)

    @property
    def floor(self) -> float | None:
        """
        The floor, in seconds or bytes.
        """
        if self.row.floor is None:
            return None

        return statistics.median(sample[self.row.floor] for sample in self.samples)

    @property
    def ratio(self) -> float | None:
        """
        The median of the ratios.
        """
        name = self.row.floor
        if name is None:
            return None

        return statistics.median(s[self.row.value] / s[name] for s in self.samples)

    @property
    def met(self) -> str:
        """
        Whether the target is reached; "at best" is in the best round only, not the median.
        """
        row, ratio = self.row, self.ratio
        if row.limit is not None:
            scale = UNITS[row.unit]
            if self.median * scale > row.limit:
                return "at best" if self.best * scale <= row.limit else "NO"
            return "yes"
        if ratio is None or (row.most is None and row.least is None):
            return ""
        reached = (row.most is None or ratio <= row.most) and (
            row.least is None or ratio >= row.least
        )

        return "yes" if reached else "NO"


def serve(probe: Probe, *, quick: bool) -> None:
    """
    Take a sample for each line that comes in, in a process of the probe's own.

    What one probe keeps in memory, on threads and in caches is then no cost of another.
    """
    with probe.ready(quick) as sampler:
        # What stays from here on is not looked at again by each collection.
        gc.collect()
        gc.freeze()
        print("{}", flush=True)
        for _ in sys.stdin:
            gc.collect()
            print(json.dumps(sampler()), flush=True)
        gc.unfreeze()


@final
class Served:
    """
    A probe that is ready in a process of its own.
    """

    def __init__(self, probe: Probe, command: Sequence[str]) -> None:
        self.probe = probe
        self.samples: list[Sample] = []
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        self._read()

        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()

    def _read(self) -> Sample:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise RuntimeError(f"The process of {self.probe.name!r} has ended.")
        sample: Sample = json.loads(line)

        return sample

    def take(self) -> None:
        """
        Take a sample.
        """
        if self._process.stdin is not None:
            self._process.stdin.write("\n")
            self._process.stdin.flush()
        self.samples.append(self._read())

    @property
    def lines(self) -> list[Line]:
        """
        The rows with their figures.
        """
        return [Line(row, self.probe.name, self.samples) for row in self.probe.rows]


def in_turn(
    runs: Mapping[str, Callable[[], object]], *, calls: int, turns: int = TURNS
) -> Sample:
    """
    Return the seconds of one call of each, the best of short slices that take turns.
    """
    times: dict[str, list[float]] = {name: [] for name in runs}
    clock = time.perf_counter
    for turn in range(turns):
        for name, run in ordered(runs, turn):
            began = clock()
            for _ in repeat(None, calls):
                run()
            times[name].append((clock() - began) / calls)

    return {name: min(taken) for name, taken in times.items()}


async def ain_turn(
    runs: Mapping[str, Callable[[], Awaitable[object]]],
    *,
    calls: int,
    turns: int = TURNS,
) -> Sample:
    """
    Do the same with what is awaited.
    """
    times: dict[str, list[float]] = {name: [] for name in runs}
    clock = time.perf_counter
    for turn in range(turns):
        for name, run in ordered(runs, turn):
            began = clock()
            for _ in repeat(None, calls):
                await run()
            times[name].append((clock() - began) / calls)

    return {name: min(taken) for name, taken in times.items()}


def ordered(runs: Mapping[str, T], turn: int) -> list[tuple[str, T]]:
    """
    List them forwards and backwards by turns, so that none is always the first.
    """
    listed = list(runs.items())

    return listed[::-1] if turn % 2 else listed


def timed(run: Callable[[], object]) -> float:
    """
    Return the seconds of one run.
    """
    began = time.perf_counter()
    run()

    return time.perf_counter() - began


def worked(run: Callable[[], object]) -> float:
    """
    Return the seconds that processors worked for one run, in this process.
    """
    began = time.process_time()
    run()

    return time.process_time() - began


def quantile(values: Sequence[float], share: float) -> float:
    """
    Return the value below which a *share* of the values lie.
    """
    ordered_values = sorted(values)

    return ordered_values[min(len(values) - 1, int(len(values) * share))]


def load() -> str:
    """
    Say how busy the machine is.
    """
    return " ".join(f"{value:.1f}" for value in os.getloadavg())
