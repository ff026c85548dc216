"""
Hooks at the end of a call: escaped errors, cancellations, late ends, and calls of their own.
"""

from __future__ import annotations

import asyncio

import pytest

from fronts import call, call_batch
from scenarios.watched_tools import add, flaky, kinds, write
from tooldecl import ToolCall, ToolClient, ToolContext, tool
from tooldecl.exceptions import CallCancelledError, ToolFailedError
from tooldecl.telemetry import (
    AttemptFailed,
    BatchFinished,
    CallFinished,
    CallStarted,
    LateFinish,
    Progress,
    WriteConflict,
)
from tooldecl.testing import RecordingHook


@tool
def fatal() -> None:
    """Run out of memory."""
    raise MemoryError


def test_an_error_that_leaves_the_client_still_ends_the_call(front):
    """
    A time line in which a call never ends would be read as a hang.
    """
    hook = RecordingHook()
    client = ToolClient([fatal], hooks=[hook], result_limit=5)
    with pytest.raises(MemoryError):
        call(front, client, "fatal", call_id="c1")
    result = hook.events[-1].result

    assert [CallStarted, CallFinished] == kinds(hook)
    assert ("c1", "tool_error", "completed", 1, ToolFailedError, MemoryError) == (
        result.call_id,
        result.status,
        result.fate,
        result.attempts,
        type(result.error),
        type(result.error.__cause__),
    )
    assert "Tool 'fatal' failed: MemoryError." == result.content


@pytest.mark.parametrize("timed", [False, True])
async def test_a_cancelled_call_ends_too(timed):
    """
    R58: whoever keeps the transcript can answer the open call from this event.
    """
    started = asyncio.Event()

    @tool(timeout=60 if timed else None)
    async def hang() -> None:
        """Wait for ever."""
        started.set()
        await asyncio.Event().wait()

    hook = RecordingHook()
    client = ToolClient([hang], hooks=[hook])
    task = asyncio.create_task(client.ainvoke("hang", call_id="c1"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    result = hook.events[-1].result

    assert [CallStarted, CallFinished] == kinds(hook)
    assert ("c1", "cancelled", "stopped", CallCancelledError) == (
        result.call_id,
        result.status,
        result.fate,
        type(result.error),
    )
    assert "The call of 'hang' was cancelled. It was stopped." == result.content


async def test_a_call_that_is_cancelled_between_attempts_ends_too():
    """
    R58: its body had completed; only the next attempt was never made.
    """
    hook, failed = RecordingHook(), asyncio.Event()

    def waiting(event):
        if type(event) is AttemptFailed:
            failed.set()

    client = ToolClient([flaky], hooks=[hook, waiting])
    task = asyncio.create_task(client.ainvoke("flaky"))
    await failed.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert ("cancelled", "completed", 1) == (
        hook.events[-1].result.status,
        hook.events[-1].result.fate,
        hook.events[-1].result.attempts,
    )


def test_a_hook_may_use_the_client_it_watches(front):
    """
    OBS-03: nothing is held while a hook runs, so it may ask and even call.
    """
    seen = []

    def asking(event):
        if type(event) in (BatchFinished, WriteConflict):
            seen.append((type(event), dict(client.state), client.abandoned))
        if type(event) is CallFinished and event.name == "write":
            seen.append(client.invoke("add", {"a": 1, "b": 2}).value)

    client = ToolClient([write, add], hooks=[asking])
    call_batch(front, client, [ToolCall("write")] * 2)

    assert [3, 3, (WriteConflict, {"x": 1}, ()), (BatchFinished, {"x": 1}, ())] == seen


def test_a_hook_that_hears_of_a_late_end_may_call_a_tool(front, gate, listener):
    """
    OBS-03: it runs on the thread whose body has just ended; a call that needs a thread
    must not wait for this one.
    """
    answers = []

    @tool(timeout=0.05)
    def late() -> None:
        """Hang."""
        gate.pass_through()

    @tool(timeout=30)
    def quick() -> str:
        """Return at once."""
        return "quick"

    def calling(event):
        if type(event) is LateFinish:
            answers.append(client.invoke("quick").value)

    client = ToolClient([late, quick], hooks=[calling, listener])
    call(front, client, "late")
    gate.open()
    [event] = listener.wait_for(LateFinish)

    assert (["quick"], "late", True) == (answers, event.name, event.late_by >= 0)


def test_progress_after_the_answer_is_dropped(front, gate, listener):
    """
    R17: a bar that moves on after its call has failed would be believed.
    """

    @tool(timeout=0.02)
    def late(ctx: ToolContext) -> None:
        """Report, hang, report."""
        ctx.progress(1)
        gate.pass_through()
        ctx.progress(2)

    call(front, ToolClient([late], hooks=[listener]), "late")
    gate.open()
    listener.wait_for(LateFinish)

    assert [1] == [event.done for event in listener.of(Progress)]
