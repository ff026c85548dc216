"""
Cancelling the caller of a batch cancels every call of it.
"""

from __future__ import annotations

import asyncio

import pytest

from ordering import HANGS_AFTER
from tooldecl import ToolCall, ToolClient, tool
from tooldecl.engines import AsyncioEngine, SequentialEngine, ThreadEngine
from tooldecl.telemetry import BatchFinished, CallFinished
from tooldecl.testing import RecordingHook


def ends(hook):
    """
    Tell how each call ended, by its id.
    """
    return {
        event.call_id: (event.result.status, event.result.fate)
        for event in hook.of(CallFinished)
    }


@pytest.mark.parametrize("kind", [SequentialEngine, ThreadEngine, AsyncioEngine])
async def test_cancelling_the_caller_cancels_every_call(kind):
    """
    R20, R58: what runs gets its cancellation, what waits never begins, and both have an
    end that the hooks are told of.
    """
    began, running = asyncio.Event(), []
    at_once = 1 if kind is SequentialEngine else 2

    @tool
    async def hang(word: str) -> None:
        """Wait for ever."""
        running.append(word)
        if len(running) == at_once:
            began.set()
        await asyncio.sleep(HANGS_AFTER)

    hook = RecordingHook()
    client = ToolClient([hang], engine=kind(max_concurrency=2), hooks=[hook])
    calls = [ToolCall("hang", {"word": w}, w) for w in "abcd"]
    task = asyncio.create_task(client.ainvoke_batch(calls))
    await began.wait()
    task.cancel()
    await asyncio.wait({task})

    assert (True, running) == (task.cancelled(), list("abcd")[: len(running)])
    assert {
        word: ("cancelled", "stopped" if word in running else "not_started")
        for word in "abcd"
    } == ends(hook)
    assert 1 == len(hook.of(BatchFinished))


@pytest.mark.parametrize("kind", [ThreadEngine, AsyncioEngine])
async def test_a_body_that_refuses_is_not_waited_for(kind, gate):
    """
    SPEC 5: untimed as it is, the batch ends within the grace and lists it.
    """
    began, refused = asyncio.Event(), asyncio.Event()

    @tool
    async def refuse() -> None:
        """Refuse to end."""
        began.set()
        while not refused.is_set():
            try:
                await refused.wait()
            except asyncio.CancelledError:
                pass

    client = ToolClient([refuse], engine=kind())
    task = asyncio.create_task(client.ainvoke_batch([ToolCall("refuse")] * 2))
    await began.wait()
    task.cancel()
    await asyncio.wait({task}, timeout=HANGS_AFTER)
    listed = len(client.abandoned)
    refused.set()

    assert (True, 2) == (task.cancelled(), listed)


@pytest.mark.parametrize("ticks", range(20))
@pytest.mark.parametrize("kind", [ThreadEngine, AsyncioEngine])
async def test_a_cancellation_surfaces_at_every_tick(kind, ticks):
    """
    R25: wherever it lands, the caller ends cancelled, unless the batch was over before.
    """

    @tool
    async def turn() -> int:
        """Take a few turns of the loop."""
        for _ in range(4):
            await asyncio.sleep(0)
        return 1

    engine = kind(max_concurrency=2)
    client = ToolClient([turn], engine=engine)
    task = asyncio.create_task(client.ainvoke_batch([ToolCall("turn")] * 4))
    for _ in range(ticks):
        await asyncio.sleep(0)
    asked = task.cancel()
    await asyncio.wait({task})

    assert (asked, 0, 0) == (task.cancelled(), engine.line.taken, len(engine.ledger))
