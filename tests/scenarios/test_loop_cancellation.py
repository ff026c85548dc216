"""
A run of a loop that is cancelled, or told to stop: nothing more begins, nothing is lost.
"""

from __future__ import annotations

import asyncio
import logging

import pytest

from loops import calls, check, outcomes, run, scripted
from scenarios.noting_tools import RUNS, note, notes
from tooldecl import (
    Fate,
    Status,
    ToolCall,
    ToolClient,
    ToolLoop,
    Turn,
    tool,
)
from tooldecl.engines import AsyncioEngine, SequentialEngine, ThreadEngine
from tooldecl.exceptions import ModelFailedError
from tooldecl.filters import Approval, Approved, Suspend
from tooldecl.telemetry import CallStarted, LoopFinished, ModelAsked
from tooldecl.testing import RecordingHook


class Hanging:
    """
    A model that answers the first turn and hangs in the second.
    """

    def __init__(self, first):
        self.asked = 0
        self.hangs = asyncio.Event()
        self._first = first

    async def arespond(self, request):
        """
        Return the next turn.
        """
        self.asked += 1
        if self.asked == 1:
            return Turn(calls=self._first)
        self.hangs.set()

        return await asyncio.get_running_loop().create_future()


async def test_a_run_that_is_cancelled_in_its_model_keeps_what_was_done():
    """
    R58, E-36: the caller gets its cancellation; the transcript and the results are told.
    """
    ends = []
    model = Hanging(notes("a", "b"))
    loop = ToolLoop(ToolClient([note]), model)
    task = asyncio.create_task(loop.arun("Hi", on_end=ends.append))
    await model.hangs.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    [end] = ends
    check(end.messages)

    assert ("cancelled", 1, 2, [("a", "ok"), ("b", "ok")], 4) == (
        end.stop_reason,
        end.turns,
        model.asked,
        outcomes(end),
        len(end.messages),
    )


@pytest.mark.parametrize("make", [SequentialEngine, AsyncioEngine, ThreadEngine])
async def test_a_run_that_is_cancelled_in_a_batch_answers_every_call(make):
    """
    CAN-02, CAN-06, R25, R58, E-36: one call has ended, one runs and gets its cancel, one
    has not begun; each has its answer, and no model is asked again.
    """
    started, heard, ends, begun = asyncio.Event(), [], [], []

    @tool
    async def quick() -> str:
        """Be quick."""
        return "done"

    @tool
    async def hang() -> None:
        """Wait for ever."""
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            heard.append("cancel")

    @tool(serial=True)
    async def last() -> None:
        """Come last."""
        begun.append("last")

    model = scripted(calls(("a", "quick"), ("b", "hang"), ("c", "last")), "Never said.")
    loop = ToolLoop(ToolClient([quick, hang, last], engine=make()), model)
    task = asyncio.create_task(loop.arun("Hi", on_end=ends.append))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    [end] = ends
    check(end.messages)

    assert (["cancel"], [], 1) == (heard, begun, len(model.requests))
    assert [
        ("a", Status.OK, Fate.COMPLETED),
        ("b", Status.CANCELLED, Fate.STOPPED),
        ("c", Status.CANCELLED, Fate.NOT_STARTED),
    ] == [(r.call_id, r.status, r.fate) for r in end.results]


EVENTS_OF_A_RUN = 15


@pytest.mark.parametrize("place", range(EVENTS_OF_A_RUN))
async def test_a_run_can_be_cancelled_at_every_point(place):
    """
    CAN-02, R25: at each event of a run of two turns; after it no model is asked, no body
    begins, and every call has one answer.
    """

    @tool
    async def later(word: str) -> str:
        """Note a word, and take some time."""
        RUNS.append(word)
        await asyncio.sleep(0)
        return word

    ends, seen, at = [], [], []

    def cancelling(event):
        if len(seen) == place:
            task.cancel()
            at.append((len(RUNS), len(model.requests)))
        seen.append(event)

    word = {"word": "w"}
    turn = calls(("a", "later", word), ("b", "note", word))
    model = scripted(turn, notes("c"), "Done.")
    client = ToolClient([later, note], hooks=[cancelling])
    task = asyncio.create_task(ToolLoop(client, model).arun("Hi", on_end=ends.append))
    with pytest.raises(asyncio.CancelledError):
        await task
    [end], [(ran, asked)] = ends, at
    check(end.messages)

    assert (ran, asked) == (len(RUNS), len(model.requests))
    assert isinstance(seen[-1], LoopFinished)
    last = place == EVENTS_OF_A_RUN - 1
    assert ("answer" if last else "cancelled") == end.stop_reason


async def test_the_points_above_are_all_there_are():
    """
    CAN-02: a run of the same turns without a cancel, which is the control, tells of as
    many events.
    """
    hook = RecordingHook()
    client = ToolClient([note], hooks=[hook])
    loop = ToolLoop(client, scripted(notes("a", "b"), notes("c"), "Done."))
    await loop.arun("Hi")

    assert (EVENTS_OF_A_RUN, 3) == (len(hook.events), len(hook.of(CallStarted)))
    assert 3 == len(hook.of(ModelAsked))


async def test_a_model_that_swallows_the_cancellation_goes_no_further():
    """
    R58: the calls that it makes all the same are not run, and it is asked no more.
    """
    ran, begun = [], asyncio.Event()

    @tool
    def send() -> str:
        """Send."""
        ran.append(1)

        return "sent"

    class Stubborn:
        async def arespond(self, request):
            if begun.is_set():
                return Turn("Asked again.")
            begun.set()
            try:
                await asyncio.get_running_loop().create_future()
            except asyncio.CancelledError:
                return Turn(calls=[ToolCall("send", {}, "s")])

    ends = []
    loop = ToolLoop(ToolClient([send]), Stubborn())
    task = asyncio.create_task(loop.arun("Hi", on_end=ends.append))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert ([], ["cancelled"]) == (ran, [end.stop_reason for end in ends])


async def test_a_model_that_limits_itself_is_not_cancelled():
    """
    The control: a limit of the model's own ends nothing but what it limits.
    """

    class Limited:
        async def arespond(self, request):
            try:
                async with asyncio.timeout(0):
                    await asyncio.get_running_loop().create_future()
            except TimeoutError:
                return Turn("Too late.")

    assert (
        "Too late." == (await ToolLoop(ToolClient([note]), Limited()).arun("Hi")).text
    )


async def test_a_cancellation_of_the_models_own_is_its_failure():
    """
    R23: nobody cancelled the run; what the model waited for was cancelled elsewhere.
    """

    class Cancelling:
        async def arespond(self, request):
            raise asyncio.CancelledError

    with pytest.raises(ModelFailedError) as caught:
        await ToolLoop(ToolClient([note]), Cancelling()).arun("Hi")

    assert "The model failed: CancelledError" == str(caught.value)


async def test_a_run_that_is_out_of_time_is_cancelled_as_any_task():
    """
    CAN-02: with asyncio's own timeout around it the host gets a TimeoutError, and the
    transcript all the same.
    """
    ends = []
    model = Hanging(notes("a"))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await ToolLoop(ToolClient([note]), model).arun("Hi", on_end=ends.append)

    assert ["cancelled"] == [end.stop_reason for end in ends]


@pytest.mark.parametrize("make", [SequentialEngine, ThreadEngine])
def test_an_interrupt_leaves_the_transcript(make):
    """
    R58, FAT-06: Ctrl-C, or whatever else means stop, goes out as it is; what was done is
    told before.
    """
    ends = []

    @tool(serial=True)
    def interrupted() -> None:
        """Be interrupted."""
        raise KeyboardInterrupt

    turn = [*notes("a"), *calls(("b", "interrupted")), *notes("c")]
    loop = ToolLoop(ToolClient([note, interrupted], engine=make()), scripted(turn))
    with pytest.raises(KeyboardInterrupt):
        loop.run("Hi", on_end=ends.append)
    [end] = ends
    check(end.messages)

    assert (["a"], ["ok", "cancelled"]) == (
        RUNS,
        [r.status for r in end.results if r.call_id != "b"],
    )


async def test_a_cancelled_resume_answers_the_whole_turn():
    """
    R58, E-25: what had run before it was suspended keeps its result, what was taken up
    its cancel, and what waits on is answered too.
    """
    started, ends = asyncio.Event(), []

    @tool(sensitive=True)
    async def hang(n: int) -> None:
        """Wait for ever."""
        started.set()
        await asyncio.Event().wait()

    client = ToolClient([note, hang], filters=[Approval(lambda request: Suspend())])
    waiting = calls(("x", "hang", {"n": 1}), ("y", "hang", {"n": 2}))
    loop = ToolLoop(client, scripted([*notes("a"), *waiting]))
    first = await loop.arun("Hi")
    going_on = loop.aresume(first.suspension, {"x": Approved()}, on_end=ends.append)
    task = asyncio.create_task(going_on)
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    [end] = ends
    check(end.messages)

    assert [
        ("ok", "completed"),
        ("cancelled", "stopped"),
        ("cancelled", "not_started"),
    ] == [(r.status, r.fate) for r in end.results]


def test_every_end_is_told_once(front):
    """
    OBS-01, OBS-04: with the result that is returned; what is told and fails is logged, and
    changes nothing.
    """
    ends = []
    loop = ToolLoop(ToolClient([note]), scripted(notes("a"), "Done."))
    result = run(front, loop, on_end=ends.append)

    assert [result] == ends
    assert result is ends[0]


def test_who_is_told_of_an_end_cannot_change_it(front, caplog):
    """
    OBS-04: as with any hook.
    """

    def failing(result):
        raise ValueError("no")

    loop = ToolLoop(ToolClient([note]), scripted("Done."))
    with caplog.at_level(logging.ERROR, "tooldecl"):
        result = run(front, loop, on_end=failing)

    assert ("answer", ["What was told of the end of a loop's run failed."]) == (
        result.stop_reason,
        caplog.messages,
    )


def test_a_model_that_fails_is_an_end_as_well(front):
    """
    R30: told with the same messages that the error has.
    """
    ends = []
    loop = ToolLoop(ToolClient([note]), scripted(notes("a"), ConnectionError("no")))
    with pytest.raises(ModelFailedError) as caught:
        run(front, loop, on_end=ends.append)

    assert [("cancelled", caught.value.messages)] == [
        (end.stop_reason, end.messages) for end in ends
    ]
