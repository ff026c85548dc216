"""
Filters that hang, within a batch's time.
"""

from __future__ import annotations

import asyncio
import threading

import pytest

from engine_stage import begin, outcome
from engine_tools import VAIN
from fronts import call_batch
from ordering import HANGS_AFTER, Gate
from tooldecl import ToolCall, ToolClient
from tooldecl.engines import AsyncioEngine, ThreadEngine
from waiting import Noting, held_tools, layer, only


FATES = [("hold", "abandoned"), ("ahold", "stopped")]


def hanging(place, log):
    """
    Make a filter that hangs before or after the body.
    """
    never = threading.Event()

    class Hanging:
        def around(self, request, call_next):
            result = call_next(request) if place == "after" else None
            log.append("hangs")
            never.wait(HANGS_AFTER)
            return result or call_next(request)

        async def aaround(self, request, call_next):
            result = await call_next(request) if place == "after" else None
            log.append("hangs")
            await asyncio.to_thread(asyncio.Event)
            await asyncio.Event().wait()
            return result

    return Hanging(), never


@pytest.mark.parametrize("engine", [None, ThreadEngine, AsyncioEngine])
@pytest.mark.parametrize(
    ("place", "status", "fate"),
    [("before", "not_run", "not_started"), ("after", "timeout", "completed")],
)
def test_a_filter_that_hangs_is_bounded_by_its_batch(
    front, colour, engine, place, status, fate
):
    """
    R130: ``within`` holds whatever a filter does, the answer tells what the body did, and
    nothing begins later.
    """
    log = []
    hangs, never = hanging(place, log)
    client = ToolClient(
        held_tools(Gate()),
        filters=[only(colour, hangs)],
        engine=None if engine is None else engine(),
    )
    [result] = call_batch(front, client, [ToolCall("quick")], within=VAIN)
    never.set()

    assert (["hangs"], status, fate) == (log, result.status, result.fate)


@pytest.mark.parametrize(("name", "fate"), FATES)
def test_a_body_inside_of_filters_keeps_to_the_batchs_time(
    front, colour, name, fate, gate
):
    """
    The time is the batch's: a filter around it changes nothing, and sees the timeout.
    """
    seen = []

    def steps(request):
        result = yield request
        seen.append((result.status, result.fate))
        return result

    client = ToolClient(held_tools(gate), filters=[layer(colour, steps)])
    [result] = call_batch(front, client, [ToolCall(name)], within=VAIN)

    assert ([("timeout", fate)], "timeout", fate) == (seen, result.status, result.fate)


def test_ctrl_c_ends_a_sync_call_inside_of_an_async_filter(gate):
    """
    Ctrl-C ends the call at once; what is inside is stopped, and nothing begins later.
    """
    log, runs = [], []

    class Waits(Noting):
        async def aaround(self, request, call_next):
            result = await Noting.aaround(self, request, call_next)
            runs.append("went on")
            return result

    class Interrupting:
        def around(self, request, call_next):
            raise KeyboardInterrupt

    client = ToolClient(
        held_tools(gate), filters=[only("aaround", Waits(log)), Interrupting()]
    )
    future = begin(client.invoke, "hold")
    with pytest.raises(KeyboardInterrupt):
        outcome(future)

    assert (["KeyboardInterrupt", "left"], []) == (log, runs)
