"""
What hooks hear of a run of a loop, and where they hear it.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

from loops import calls, outcomes, resume, run, scripted, stored
from tooldecl import ToolClient, ToolLoop, tool
from tooldecl.engines import ThreadEngine
from tooldecl.exceptions import BatchFailedError, ModelFailedError, ResumeError
from tooldecl.filters import Approval, Approved, Suspend
from tooldecl.telemetry import (
    BatchFinished,
    BatchStarted,
    CallFinished,
    CallStarted,
    LoopFinished,
    LoopStarted,
    ModelAsked,
)
from tooldecl.testing import FakeClock, RecordingHook


AMBIENT = contextvars.ContextVar("AMBIENT", default="root")
OF_RUNS = (LoopStarted, ModelAsked, LoopFinished)


@tool
def note(word: str) -> str:
    """Note a word."""
    return word


@tool
def boom() -> None:
    """Fail."""
    raise ValueError


@tool(sensitive=True)
def pay() -> str:
    """Pay."""
    return "paid"


def of_runs(hook):
    """
    List the events of runs, by their types and what they say.
    """
    return [
        (type(e), getattr(e, "turn", None) or getattr(e, "stop_reason", None))
        for e in hook.events
        if isinstance(e, OF_RUNS)
    ]


def test_one_cycle_in_events(front):
    """
    OBS-05: the run, the model, the turn's calls, the model, the end; on the client's own
    clock and under the name of the run.
    """
    hook = RecordingHook()
    client = ToolClient([note], hooks=[hook], clock=FakeClock(5))
    turn = calls(("a", "note", {"word": "x"}))
    run(front, ToolLoop(client, scripted(turn, "Done.")))
    named = [e for e in hook.events if isinstance(e, OF_RUNS)]

    assert [
        LoopStarted,
        ModelAsked,
        BatchStarted,
        CallStarted,
        CallFinished,
        BatchFinished,
        ModelAsked,
        LoopFinished,
    ] == [type(event) for event in hook.events]
    assert ([1, 2], "answer", 2) == (
        [e.turn for e in hook.of(ModelAsked)],
        hook.events[-1].stop_reason,
        hook.events[-1].turns,
    )
    assert (1, {5}) == (len({e.run_id for e in named}), {e.at for e in hook.events})


def test_a_run_that_goes_on_keeps_its_name(front):
    """
    OBS-05: what is told of both parts belongs together, and the turns count on; nobody
    asks a model for the calls that were resumed.
    """
    hook = RecordingHook()
    client = ToolClient(
        [pay], filters=[Approval(lambda request: Suspend())], hooks=[hook]
    )
    loop = ToolLoop(client, scripted(calls(("p", "pay")), "Done."))
    first = run(front, loop)
    resume(front, loop, stored(first.suspension), {"p": Approved()})

    assert [
        (LoopStarted, None),
        (ModelAsked, 1),
        (LoopFinished, "suspended"),
        (LoopStarted, None),
        (ModelAsked, 2),
        (LoopFinished, "answer"),
    ] == of_runs(hook)
    assert 1 == len({e.run_id for e in hook.events if isinstance(e, OF_RUNS)})


def test_a_refused_resume_leaves_the_run_suspended(front):
    """
    OBS-05: each beginning has an end, and this one says that nothing has changed.
    """
    hook = RecordingHook()
    client = ToolClient(
        [pay], filters=[Approval(lambda request: Suspend())], hooks=[hook]
    )
    loop = ToolLoop(client, scripted(calls(("p", "pay"))))
    first = run(front, loop)
    hook.events.clear()
    with pytest.raises(ResumeError):
        resume(front, loop, first.suspension, {"p": "yes"})

    assert [(LoopStarted, None), (LoopFinished, "suspended")] == of_runs(hook)


@pytest.mark.parametrize(
    ("turn", "options", "error"),
    [
        (ConnectionError("no"), {}, ModelFailedError),
        (calls(("b", "boom")), {"failures": "raise"}, BatchFailedError),
        (calls(("b", "boom")), {"eligible": lambda turn: 1 / 0}, ZeroDivisionError),
    ],
)
def test_an_error_that_leaves_a_run_ends_it(front, turn, options, error):
    """
    OBS-05: a time line without its end would look like a run that hangs.
    """
    hook = RecordingHook()
    loop = ToolLoop(ToolClient([boom], hooks=[hook]), scripted(turn), **options)
    with pytest.raises(error):
        run(front, loop)

    assert (LoopFinished, "cancelled") == of_runs(hook)[-1]


def test_hooks_run_where_the_loop_was_called(front):
    """
    OBS-03: on the caller's thread and in his context variables, whatever thread a body has.
    """
    seen, bodies = [], []

    @tool
    def where() -> None:
        """Look where it is."""
        bodies.append(threading.current_thread())

    def hook(event):
        if isinstance(event, OF_RUNS):
            seen.append((AMBIENT.get(), threading.current_thread()))

    AMBIENT.set("mine")
    client = ToolClient([where], hooks=[hook], engine=ThreadEngine())
    run(front, ToolLoop(client, scripted(calls(("a", "where")), "Done.")))
    here = threading.current_thread()

    assert [("mine", here)] * 4 == seen
    assert here not in bodies


def test_a_hook_that_fails_at_every_event_changes_nothing(front):
    """
    OBS-04, R131: the run is what it is without it.
    """

    def failing(event):
        raise ValueError

    results = []
    for hooks in ([failing], []):
        turns = [calls(("a", "note", {"word": "x"}), ("b", "boom")), "Done."]
        loop = ToolLoop(ToolClient([note, boom], hooks=hooks), scripted(*turns))
        results.append(run(front, loop))

    assert results[0].messages == results[1].messages
    assert [("a", "ok"), ("b", "tool_error")] == outcomes(results[0])


async def test_runs_at_once_are_told_apart():
    """
    OBS-05: by their names, where one hook hears both.
    """
    hook = RecordingHook()
    client = ToolClient([note], hooks=[hook])
    loops = [ToolLoop(client, scripted("Done.")) for _ in range(2)]
    await asyncio.gather(*(loop.arun("Hi") for loop in loops))

    assert 2 == len({event.run_id for event in hook.of(LoopStarted)})
