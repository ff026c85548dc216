"""
Filters that wait, under every engine.
"""

from __future__ import annotations

import asyncio
import threading

import pytest

from engine_stage import ENGINES, client_of
from engine_tools import VAIN
from fronts import call_batch
from ordering import HANGS_AFTER
from tooldecl import ToolCall, ToolClient, tool
from tooldecl.engines import AsyncioEngine, ThreadEngine
from waiting import layer


@tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@pytest.mark.parametrize("case", ENGINES, ids=lambda case: case.name)
def test_every_engine_runs_filters_of_either_colour(front, colour, case, tmp_path):
    """
    FLT-02: where the body runs is the engine's affair, and none of the filter's.
    """
    seen = []

    def steps(request):
        seen.append(request.call_id)
        result = yield request
        return f"{result.value} seen"

    calls = [ToolCall("tell", {"number": n}, i) for n, i in enumerate(("a", "b", "c"))]
    with case.make() as engine, client_of(engine, filters=[layer(colour, steps)]) as c:
        batch = call_batch(front, c, calls)

    assert ["a", "b", "c"] == sorted(seen)
    assert [f"[{n}, '{i}'" for n, i in enumerate("abc")] == [
        r.value.partition(", 1,")[0] for r in batch
    ]
    assert ["ok"] * 3 == [r.status for r in batch]


class Meeting:
    """
    Where the filters of several calls meet: all are inside before any may leave.
    """

    def __init__(self, count, seconds):
        self._barrier = threading.Barrier(count)
        self._left, self._seconds = count, seconds
        self._here = asyncio.Event()

    def around(self, request, call_next):
        """
        Meet on a thread.
        """
        self._barrier.wait(self._seconds)
        return call_next(request)

    async def aaround(self, request, call_next):
        """
        Meet on a loop.
        """
        self._left -= 1
        if not self._left:
            self._here.set()
        await asyncio.wait_for(self._here.wait(), self._seconds)
        return await call_next(request)


class SyncMeeting:
    """
    One that has the sync form alone.
    """

    def __init__(self, count, seconds):
        self.around = Meeting(count, seconds).around


class AsyncMeeting:
    """
    One that has the async form alone.
    """

    def __init__(self, count, seconds):
        self.aaround = Meeting(count, seconds).aaround


def met(front, colour, engine, *, seconds):
    """
    Run a batch whose filters meet; return the statuses.
    """
    kind = SyncMeeting if colour == "around" else AsyncMeeting
    calls = [ToolCall("add", {"a": n, "b": 0}) for n in range(12)]
    client = ToolClient([add], engine=engine, filters=[kind(12, seconds)])
    with engine, client:
        return [result.status for result in call_batch(front, client, calls)]


@pytest.mark.parametrize("engine", [ThreadEngine, AsyncioEngine])
def test_filters_of_calls_of_one_batch_wait_at_once(front, colour, engine):
    """
    A filter that waits for a slow service holds its own call and no other one.
    """
    statuses = met(front, colour, engine(max_concurrency=12), seconds=HANGS_AFTER)

    assert ["ok"] * 12 == statuses


def test_filters_of_calls_that_come_one_by_one_never_meet(front, colour):
    """
    The control: whoever waits for the others under an engine for one waits in vain.
    """
    statuses = met(front, colour, ThreadEngine(max_concurrency=1), seconds=VAIN / 5)

    assert statuses.count("guard_failed") in (11, 12)  # the last one may find them all
