"""
The faults that were seen in other packages, as checks that a driver has none of them.

Each takes a driver of `everywhere` and is named for what holds instead of the fault.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

import tooldecl

from everywhere import Answer, Driver
from hanging import Stage, cancelled
from ordering import HANGS_AFTER, Gate
from tooldecl import Budget, Retry, ToolCall, ToolClient, ToolContext, tool


Fault: TypeAlias = Callable[[Driver], Awaitable[None]]


def calls(*names: str) -> list[ToolCall]:
    """
    Make calls without arguments.
    """
    return [ToolCall(name, {}, f"call_{place}") for place, name in enumerate(names)]


async def driven(
    drive: Driver, tools: Iterable[object], *names: str, **options: Any
) -> list[Answer]:
    """
    Let a driver call some tools, each without arguments.
    """
    async with ToolClient(tools, **options) as client:
        return await drive(client, calls(*names))


@tool
def quick() -> str:
    """
    Answer.
    """
    return "quick"


async def a_blocked_tool_is_answered_at_its_limit(drive: Driver) -> None:
    """
    A framework waits for the thread, or cannot limit it at all.
    """
    gate = Gate()

    @tool(timeout=0.5)
    def blocked() -> str:
        """
        Wait.
        """
        gate.pass_through()
        return "late"

    try:
        # The body waits for what happens after the answer: it cannot have been awaited.
        first, second = await driven(drive, [blocked, quick], "blocked", "quick")
        assert Answer(True, "quick") == second
        assert not first.well
        assert "did not finish within 0.5 s" in first.content
    finally:
        gate.open()


async def an_own_timeout_error_is_no_deadline(drive: Driver) -> None:
    """
    A framework takes the tool's own TimeoutError for its deadline.
    """

    @tool(timeout=60)
    def gave_up() -> str:
        """
        Give up.
        """
        raise TimeoutError("the database gave up")

    [answer] = await driven(drive, [gave_up], "gave_up")

    assert Answer(False, "Tool 'gave_up' failed: TimeoutError.") == answer


async def a_late_value_is_no_success(drive: Driver) -> None:
    """
    A framework delivers what comes after the deadline as if nothing had happened.
    """
    loops: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    @tool(timeout=0.5)
    async def stubborn() -> str:
        """
        Do not mind being cancelled.
        """
        going = asyncio.Event()
        loops.append((asyncio.get_running_loop(), going))
        while not going.is_set():
            try:
                await going.wait()
            except asyncio.CancelledError:
                continue
        return "late"

    async with ToolClient([stubborn]) as client:
        [answer] = await drive(client, calls("stubborn"))
        assert not answer.well
        assert "may still be running" in answer.content
        for loop, going in loops:
            loop.call_soon_threadsafe(going.set)


async def an_ordinary_error_keeps_the_run_and_its_text(drive: Driver) -> None:
    """
    A framework ends the run, or shows the model the text of the exception.
    """

    @tool
    def leak() -> str:
        """
        Fail.
        """
        raise ValueError("secret-token")

    found = await driven(drive, [leak, quick], "quick", "leak", "quick")

    assert [
        Answer(True, "quick"),
        Answer(False, "Tool 'leak' failed: ValueError."),
        Answer(True, "quick"),
    ] == found


async def a_retry_repeats_the_failing_call_alone(drive: Driver) -> None:
    """
    A framework runs the other calls of the turn again, or asks the model.
    """
    ran: list[str] = []

    @tool(retry=Retry(attempts=3, delay=0))
    def flaky() -> str:
        """
        Fail twice.
        """
        ran.append("flaky")
        if ran.count("flaky") < 3:
            raise ConnectionError("reset")
        return "well"

    @tool
    def effect() -> str:
        """
        Leave a trace.
        """
        ran.append("effect")
        return "done"

    found = await driven(drive, [flaky, effect], "effect", "flaky", "effect")

    assert ["done", "well", "done"] == [answer.content for answer in found]
    assert ["effect"] * 2 + ["flaky"] * 3 == sorted(ran)


async def what_ends_programs_ends_one_call(drive: Driver) -> None:
    """
    A framework is torn down by what a tool raises, or waits for ever.
    """

    @tool
    def leave() -> str:
        """
        Leave.
        """
        raise SystemExit(3)

    @tool
    async def aleave() -> str:
        """
        Leave.
        """
        raise SystemExit(3)

    @tool
    def stop() -> str:
        """
        Stop.
        """
        raise StopIteration

    @tool
    async def cancel() -> str:
        """
        Look like a caller who is cancelled.
        """
        raise asyncio.CancelledError

    names = ("leave", "aleave", "stop", "cancel", "quick")
    found = await driven(drive, [leave, aleave, stop, cancel, quick], *names)

    assert [False, False, False, False, True] == [answer.well for answer in found]
    assert all(repr(n) in a.content for n, a in zip(names[:4], found, strict=False))


async def a_cancelled_run_cancels_its_calls(drive: Driver) -> None:
    """
    A framework leaves behind what runs when its run is cancelled.
    """
    stage = Stage()
    task = asyncio.ensure_future(driven(drive, [stage.tool], "work"))
    await asyncio.wait_for(stage.began.wait(), HANGS_AFTER)
    task.cancel()

    assert await cancelled(task)
    await asyncio.wait_for(stage.over.wait(), HANGS_AFTER)
    assert ["cancelled"] == stage.ended


async def a_serial_tool_runs_alone(drive: Driver) -> None:
    """
    A framework that starts the calls of a turn by itself knows of no barrier.
    """
    lock = threading.Lock()
    inside: list[str] = []
    seen: list[tuple[str, int]] = []
    # Those before the serial one can only be through together, and those after it too.
    meeting = threading.Barrier(2, timeout=HANGS_AFTER)

    def entered(name: str) -> None:
        with lock:
            inside.append(name)
            seen.append((name, len(inside)))

    @tool
    def together() -> str:
        """
        Meet somebody.
        """
        entered("together")
        meeting.wait()
        with lock:
            inside.remove("together")
        return "met"

    @tool(serial=True)
    def alone() -> str:
        """
        Run alone.
        """
        entered("alone")
        with lock:
            inside.remove("alone")
        return "alone"

    names = ("together", "together", "alone", "together", "together")
    found = await driven(drive, [together, alone], *names)

    assert ["met", "met", "alone", "met", "met"] == [a.content for a in found]
    assert 5 == len(seen)
    assert ("alone", 1) == seen[2]


async def a_serial_tool_overlaps_nothing(drive: Driver) -> None:
    """
    The same where threads decide who comes first.
    """
    lock = threading.Lock()
    inside: list[str] = []
    seen: list[list[str]] = []

    def stay(name: str) -> str:
        with lock:
            inside.append(name)
        threading.Event().wait(0.02)  # long enough for others to come, if they may
        with lock:
            seen.append([*inside])
            inside.remove(name)
        return name

    @tool
    def free() -> str:
        """
        Take a moment.
        """
        return stay("free")

    @tool(serial=True)
    def alone() -> str:
        """
        Take a moment, alone.
        """
        return stay("alone")

    found = await driven(drive, [free, alone], *["free", "alone", "free"] * 3)

    assert all(answer.well for answer in found)
    assert [["alone"]] * 3 == [names for names in seen if "alone" in names]


async def a_serial_group_never_overlaps(drive: Driver) -> None:
    """
    Calls of one group keep apart, whoever starts them.
    """
    inside: list[str] = []
    most: list[int] = []

    @tool(serial="ledger")
    async def book() -> str:
        """
        Book.
        """
        inside.append("book")
        await asyncio.sleep(0)
        most.append(len(inside))
        inside.remove("book")
        return "booked"

    found = await driven(drive, [book], *["book"] * 5)

    assert [Answer(True, "booked")] * 5 == found
    assert [1] * 5 == most


async def ids_are_those_of_the_model(drive: Driver) -> None:
    """
    Events and answers can be brought together by the ids that the model gave.
    """

    @tool
    def who(context: ToolContext) -> str:
        """
        Say which call this is.
        """
        return context.call_id

    found = await driven(drive, [who], "who", "who")

    assert ["call_0", "call_1"] == [answer.content for answer in found]


async def a_budget_counts_every_call(drive: Driver) -> None:
    """
    A framework counts requests to the model, or ends the run.
    """
    budget = Budget(calls=2)
    found = await driven(drive, [quick], "quick", "quick", "quick", budget=budget)

    assert [True, True, False] == sorted((a.well for a in found), reverse=True)


@tool(isolation="process", timeout=0.5)
def endless() -> str:
    """
    Go on for ever.
    """
    while True:
        pass


async def a_process_is_killed_at_its_limit(drive: Driver) -> None:
    """
    A framework can stop no tool.
    """
    [answer] = await driven(drive, [endless], "endless")

    assert not answer.well
    assert "was killed" in answer.content


FAULTS: list[Fault] = [
    a_blocked_tool_is_answered_at_its_limit,
    an_own_timeout_error_is_no_deadline,
    a_late_value_is_no_success,
    an_ordinary_error_keeps_the_run_and_its_text,
    a_retry_repeats_the_failing_call_alone,
    what_ends_programs_ends_one_call,
    a_cancelled_run_cancels_its_calls,
    a_serial_tool_runs_alone,
    a_serial_tool_overlaps_nothing,
    a_serial_group_never_overlaps,
    ids_are_those_of_the_model,
    a_budget_counts_every_call,
    a_process_is_killed_at_its_limit,
]


HANGS_FOR_EVER = """
import asyncio, threading
from tooldecl import ToolCall, ToolClient, tool
from {module} import {drive} as drive

@tool(timeout=0.5)
def hang() -> str:
    "Hang for ever."
    threading.Event().wait()
    return "never"

[answer] = asyncio.run(drive(ToolClient([hang]), [ToolCall("hang", {{}}, "call_0")]))
print(answer.content)
"""


def ends_after_a_hung_tool(module: str, drive: str) -> str:
    """
    Run a program whose tool never returns, and return what it has printed when it ended.
    """
    folders = [Path(__file__).parent, Path(tooldecl.__file__).parent.parent]
    done: subprocess.CompletedProcess[Any] = subprocess.run(
        [sys.executable, "-c", HANGS_FOR_EVER.format(module=module, drive=drive)],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))},
        text=True,
        timeout=120,
    )
    assert (0, "") == (done.returncode, done.stderr)

    return done.stdout.strip()
