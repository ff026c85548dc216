"""
Filters that are cancelled, that cancel what is inside, and that run out of time.
"""

from __future__ import annotations

import asyncio
import threading

import pytest

from engine_tools import VAIN
from fronts import Listener, call, call_batch
from ordering import HANGS_AFTER
from tooldecl import ToolCall, ToolClient, tool
from tooldecl.engines import AsyncioEngine, ThreadEngine
from tooldecl.telemetry import CallFinished
from waiting import COLOURS, Noting, held_tools, layer, only


class Impatient:
    """
    Wait so many seconds for what is inside.
    """

    def __init__(self, seconds, log=None):
        self.seconds, self.log = seconds, log

    async def aaround(self, request, call_next):
        """
        Give up on what is inside.
        """
        try:
            async with asyncio.timeout(self.seconds):
                return await call_next(request)
        except TimeoutError:
            return "too slow"


class WaitsFor(Impatient):
    """
    The same by ``wait_for``, which runs what is inside in another task on Python 3.11.
    """

    async def aaround(self, request, call_next):
        """
        Give up on what is inside.
        """
        try:
            return await asyncio.wait_for(call_next(request), self.seconds)
        except TimeoutError:
            return "too slow"


class Races(Impatient):
    """
    The same without waiting for the end of what was cancelled.
    """

    async def aaround(self, request, call_next):
        """
        Give up on what is inside.
        """
        inside = asyncio.ensure_future(call_next(request))
        done, _ = await asyncio.wait({inside}, timeout=self.seconds)
        if done:
            return inside.result()
        inside.cancel()
        return "too slow"


FATES = [("hold", "abandoned"), ("ahold", "stopped")]


@pytest.mark.parametrize("kind", [Impatient, WaitsFor, Races])
@pytest.mark.parametrize(("name", "fate"), FATES)
def test_a_filter_may_give_up_on_what_is_inside(front, kind, name, fate, gate):
    """
    The commonest filter of all that waits: its own answer counts, and the result says
    what became of the body.
    """
    client = ToolClient(held_tools(gate), filters=[kind(VAIN / 2)])
    result = call(front, client, name)

    assert ("ok", "too slow", fate, 1) == (
        result.status,
        result.value,
        result.fate,
        result.attempts,
    )
    assert (["hold"] if fate == "abandoned" else []) == [
        c.name for c in client.abandoned
    ]


@pytest.mark.parametrize(("name", "fate"), FATES)
def test_a_limit_that_nobody_catches_is_a_failure_that_tells_the_fate(
    front, name, fate, gate
):
    """
    A filter without an ``except`` has failed, and the body may still be running.
    """

    class Strict:
        async def aaround(self, request, call_next):
            async with asyncio.timeout(VAIN / 2):
                return await call_next(request)

    result = call(front, ToolClient(held_tools(gate), filters=[Strict()]), name)
    tails = {
        "abandoned": "It may still be running and may still take effect.",
        "stopped": "It was stopped.",
    }

    assert ("guard_failed", fate, "transient") == (
        result.status,
        result.fate,
        result.error_class,
    )
    assert f"A check around tool '{name}' failed. {tails[fate]}" == result.content


@pytest.mark.parametrize("name", ["hold", "ahold"])
@pytest.mark.parametrize("engine", [ThreadEngine, AsyncioEngine])
def test_giving_up_on_one_call_leaves_its_siblings_alone(front, engine, name, gate):
    """
    The batch goes on: what a filter cancels is its own inside, not what it shares with
    others.
    """
    client = ToolClient(
        held_tools(gate),
        filters=[Impatient(VAIN / 2)],
        engine=engine(max_concurrency=3),
    )
    calls = [ToolCall(n) for n in ("quick", name, "quick")]
    with client:
        statuses = [r.value for r in call_batch(front, client, calls)]

    assert ["quick", "too slow", "quick"] == statuses


def test_what_was_given_up_may_be_followed_by_another_run(front, gate):
    """
    A fallback: the first body was given up and the second one is the answer.
    """
    runs = []

    @tool
    async def second() -> str:
        """Hang the first time."""
        runs.append(1)
        if len(runs) == 1:
            await asyncio.Event().wait()
        return "done"

    class Again:
        async def aaround(self, request, call_next):
            try:
                async with asyncio.timeout(VAIN / 2):
                    return await call_next(request)
            except TimeoutError:
                return await call_next(request)

    result = call(front, ToolClient([second], filters=[Again()]), "second")

    assert ("done", 2, "completed") == (result.value, result.attempts, result.fate)


@pytest.mark.parametrize(("name", "fate"), FATES)
@pytest.mark.parametrize("kinds", [["around"], ["aaround"], ["aaround", "around"]])
async def test_a_cancelled_caller_reaches_filters_and_body(kinds, name, fate, gate):
    """
    CAN: the filter gets to clean up, the body is stopped or known to be abandoned, and
    all that before the caller goes on.
    """
    log, listener = [], Listener()
    filters = [only(k, Noting(log)) for k in kinds]
    client = ToolClient(held_tools(gate), filters=filters, hooks=[listener])
    task = asyncio.create_task(client.ainvoke(name))
    await asyncio.to_thread(gate.wait_for_arrivals)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    [event] = listener.of(CallFinished)

    assert ("cancelled", fate) == (event.result.status, event.result.fate)
    for _ in range(100):  # a thread's filter is woken, not waited for
        if log.count("left") == len(kinds):
            break
        await asyncio.sleep(0.01)
    assert ["CancelledError", "left"] * len(kinds) == log


@pytest.mark.parametrize("manner", ["returns", "goes on", "raises"])
@pytest.mark.parametrize("kind", COLOURS)
async def test_no_filter_can_keep_a_caller_from_being_cancelled(kind, manner):
    """
    CAN: whatever it makes of the cancellation, no further body begins and the caller
    ends cancelled.
    """
    runs, done = [], threading.Event()

    @tool
    async def hang() -> None:
        """Hang."""
        runs.append(1)
        started.set()
        await asyncio.Event().wait()

    def steps(request):
        try:
            try:
                return (yield request)
            except BaseException:
                if manner == "raises":
                    raise ValueError from None
                if manner == "goes on":
                    return (yield request)
                return "swallowed"
        finally:
            done.set()

    started = asyncio.Event()
    client = ToolClient([hang], filters=[layer(kind, steps)])
    task = asyncio.create_task(client.ainvoke("hang"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(done.wait, HANGS_AFTER)

    assert [1] == runs
