"""
What one call tells its caller on its way, and what it says of work done elsewhere.
"""

from __future__ import annotations

import asyncio
import logging

import pytest

from fronts import FRONTS, Listener, call
from tooldecl import Retry, ToolClient, ToolContext, tool


@tool
def halves(ctx: ToolContext) -> str:
    """
    Do one half, then the other.
    """
    ctx.progress(1, 2, "half")
    ctx.progress(2, 2)

    return "done"


@pytest.mark.parametrize("front", FRONTS)
def test_one_caller_hears_of_its_own_call(front):
    """
    Hooks hear of all calls; who passes progress on to one caller needs those of one.
    """
    hook, heard, others = Listener(), [], []
    client = ToolClient([halves], hooks=[hook])
    result = call(front, client, "halves", call_id="c1", on_progress=heard.append)
    call(front, client, "halves", on_progress=others.append)

    assert [(1, 2, "half"), (2, 2, None)] == [
        (e.done, e.total, e.message) for e in heard
    ]
    assert {"c1"} == {event.call_id for event in heard}
    assert 2 == len(others)
    assert heard == [e for e in hook.events if e in heard]
    assert result.ok


def test_a_listener_that_fails_is_logged_and_changes_nothing(caplog):
    """
    It watches, as a hook does.
    """

    def fail(event):
        raise ValueError("no")

    with caplog.at_level(logging.ERROR, logger="tooldecl"):
        result = ToolClient([halves]).invoke("halves", on_progress=fail)

    assert (True, 2) == (result.ok, len(caplog.records))


def test_a_listener_that_cannot_be_called_is_refused():
    """
    It would be silent for ever.
    """
    with pytest.raises(TypeError) as caught:
        ToolClient([halves]).invoke("halves", on_progress=3)

    assert "on_progress takes a function of one event, got int." == str(caught.value)


def leaving(**options):
    """
    Make a tool that waits for what it has begun elsewhere, and counts its bodies.
    """
    begun = []

    @tool(**options)
    async def far_away(ctx: ToolContext) -> None:
        """
        Begin something elsewhere.
        """
        begun.append(ctx.attempt)
        ctx.leave_running()
        await asyncio.Event().wait()

    return far_away, begun


@pytest.mark.parametrize("isolation", [{}, {"isolation": "thread"}], ids=["", "thread"])
@pytest.mark.parametrize("front", FRONTS)
def test_a_body_that_leaves_something_running_is_not_called_stopped(front, isolation):
    """
    What it has sent cannot be called back, so nobody may run it again as if it could.
    """
    far_away, begun = leaving(
        timeout=0.05, retry=Retry(attempts=3, delay=0), **isolation
    )
    client = ToolClient([far_away])
    result = call(front, client, "far_away")

    assert ("timeout", "abandoned") == (result.status, result.fate)
    assert [1] == begun
    assert () == client.abandoned


@pytest.mark.parametrize("front", FRONTS)
def test_an_idempotent_one_is_repeated(front):
    """
    Its author has said that it may be run twice at once.
    """
    far_away, begun = leaving(
        timeout=0.05, retry=Retry(attempts=2, delay=0), idempotent=True
    )
    call(front, ToolClient([far_away]), "far_away")

    assert [1, 2] == begun


@pytest.mark.parametrize("options", [{}, {"timeout": 30}], ids=["untimed", "timed"])
async def test_a_cancelled_caller_is_told_the_same(options):
    """
    The event of the call is all that is left of it.
    """
    hook, begun = Listener(), asyncio.Event()

    @tool(**options)
    async def far_away(ctx: ToolContext) -> None:
        """
        Begin something elsewhere.
        """
        ctx.leave_running()
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(ToolClient([far_away], hooks=[hook]).ainvoke("far_away"))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    last = hook.events[-1].result
    assert ("cancelled", "abandoned") == (last.status, last.fate)


def test_what_ended_by_itself_is_completed():
    """
    What goes on elsewhere says nothing of a body that had its time.
    """

    @tool
    def told(ctx: ToolContext) -> int:
        """
        Begin something, and see its end.
        """
        ctx.leave_running()

        return 1

    assert "completed" == ToolClient([told]).invoke("told").fate
