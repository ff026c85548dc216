"""
What means stop ends a batch at once, from any of its calls.
"""

from __future__ import annotations

import asyncio
import signal
import threading

import pytest

from engine_stage import begin_batch, client_of, outcome
from fronts import Listener, call_batch
from ordering import HANGS_AFTER
from scripts import SOON, ended, start
from tooldecl import Retry, ToolCall, ToolClient, ToolContext, tool
from tooldecl.engines import AsyncioEngine, ThreadEngine
from tooldecl.telemetry import BatchFinished, CallFinished, LateFinish
from tooldecl.testing import RecordingHook


KINDS = {"memory": MemoryError, "keyboard": KeyboardInterrupt}

# Whoever pressed the keys ended the call; it is no failure of the tool.
ENDS = {"memory": ("tool_error", "completed"), "keyboard": ("cancelled", "stopped")}


def ends(hook):
    """
    Tell how each call ended, by its id.
    """
    return {
        event.call_id: (event.result.status, event.result.fate)
        for event in hook.of(CallFinished)
    }


@pytest.mark.parametrize("name", ["fatal", "afatal"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_it_escapes_raw_from_any_position(case, front, stage, name, kind, place):
    """
    FAT-06, FAT-07: of three calls, the very exception, not wrapped, under every engine.
    """
    entries = [("work", "a"), ("work", "b")]
    entries.insert(place, (name, kind))
    hook = RecordingHook()
    client = client_of(case.make(), hooks=[hook])
    with pytest.raises(KINDS[kind]) as caught:
        call_batch(front, client, stage.calls(*entries))

    assert ("out", KINDS[kind]) == (str(caught.value), type(caught.value))
    assert (3, 1) == (len(ends(hook)), len(hook.of(BatchFinished)))
    assert ENDS[kind] == ends(hook)[kind]


def test_nobody_waits_for_the_others(overlapping, front, stage):
    """
    FAT-07: the error surfaces while two bodies are held, and two more never begin.
    """
    hook = RecordingHook()
    client = client_of(overlapping.make(max_concurrency=3), hooks=[hook])
    entries = [("hold", "a"), ("hold", "b"), ("fatal", "memory")]
    entries += [("work", "c"), ("work", "d")]
    future = begin_batch(front, client, stage.calls(*entries))
    with pytest.raises(MemoryError):
        outcome(future)
    begun = {line for line in stage.journal if line.startswith("in ")}

    assert begun <= {"in a", "in b", "in memory"}
    assert [("cancelled", "not_started")] * 2 == [ends(hook)[word] for word in "cd"]
    assert 1 == len(hook.of(BatchFinished))


class StopTheRunError(Exception):
    """
    A host's own signal.
    """


def held_and_stopped(gate, contexts, *, with_wait=False, **options):
    """
    Build a client with a sync body that is held, one that stops all, and others.
    """
    waits = threading.Event()

    @tool(**options)
    def hold(ctx: ToolContext) -> str:
        """Hang."""
        contexts.append(ctx)
        gate.pass_through()
        return "late"

    @tool
    async def wait(ctx: ToolContext) -> None:
        """Wait for ever."""
        contexts.append(ctx)
        waits.set()
        try:
            await asyncio.sleep(HANGS_AFTER)
        finally:
            ended_waits.append(True)

    @tool
    def stop() -> None:
        """Stop the run once the others are where they stay."""
        gate.wait_for_arrivals()
        if with_wait:
            waits.wait(HANGS_AFTER)
        raise StopTheRunError

    ended_waits = []

    return [hold, wait, stop], ended_waits


@pytest.mark.parametrize("isolation", ["thread", "inline"])
@pytest.mark.parametrize("kind", [ThreadEngine, AsyncioEngine])
def test_bodies_that_run_are_given_up_and_told(kind, gate, isolation):
    """
    SPEC 5, FAT-07: a sync body sees ``ctx.cancelled``, is listed while it runs, and its
    late end is told; ``stop_on`` counts like the rest.
    """
    contexts, listener = [], Listener()
    tools, _ = held_and_stopped(gate, contexts, isolation=isolation)
    client = ToolClient(
        tools, engine=kind(), stop_on=[StopTheRunError], hooks=[listener]
    )
    calls = [ToolCall("hold", None, "h"), ToolCall("stop", None, "s")]
    with pytest.raises(StopTheRunError):
        client.invoke_batch(calls)
    listed = [(c.name, c.call_id) for c in client.abandoned]
    gate.open()
    late = listener.wait_for(LateFinish)

    assert ([("hold", "h")], True) == (listed, contexts[0].cancelled)
    assert ("h", "late", ()) == (late[0].call_id, late[0].value, client.abandoned)


def test_async_bodies_are_cancelled(front, gate):
    """
    FAT-07: they get their cancellation, and end with it.
    """
    contexts, hook = [], RecordingHook()
    tools, ended_waits = held_and_stopped(gate, contexts, with_wait=True)
    client = ToolClient(
        tools, engine=ThreadEngine(), stop_on=[StopTheRunError], hooks=[hook]
    )
    calls = [ToolCall(n, None, n) for n in ("wait", "hold", "stop")]
    with pytest.raises(StopTheRunError):
        call_batch(front, client, calls)
    gate.open()

    assert ([True], True) == (ended_waits, all(c.cancelled for c in contexts))
    assert {
        "wait": ("cancelled", "stopped"),
        "hold": ("cancelled", "abandoned"),
    }.items() <= ends(hook).items()


def test_a_call_between_attempts_makes_no_other(gate):
    """
    R20: a body that failed before the stop is not begun again after it.
    """
    runs, stopped = [], threading.Event()

    class Clock:
        def monotonic(self):
            return 0.0

        def sleep(self, seconds):
            gate.pass_through()
            stopped.wait(HANGS_AFTER)

        async def asleep(self, seconds):
            raise AssertionError("unreachable")

    @tool(retry=Retry(attempts=2, jitter=0))
    def fail() -> None:
        """Fail for now."""
        runs.append("fail")
        raise ConnectionError

    @tool
    def stop() -> None:
        """Stop the run while the other waits for its next attempt."""
        gate.wait_for_arrivals()
        gate.open()
        raise MemoryError

    listener = Listener()
    client = ToolClient(
        [fail, stop], engine=ThreadEngine(), clock=Clock(), hooks=[listener]
    )
    calls = [ToolCall("fail", None, "f"), ToolCall("stop", None, "s")]
    with pytest.raises(MemoryError):
        client.invoke_batch(calls)
    stopped.set()
    listener.wait_for(CallFinished, 2)

    assert (["fail"], "cancelled") == (runs, ends(listener)["f"][0])


def test_who_waits_in_line_leaves_it(gate):
    """
    R20: calls that wait for a place or for their group do not begin after the stop, and
    take nothing with them.
    """
    contexts, listener = [], Listener()
    tools, _ = held_and_stopped(gate, contexts, serial="disk")
    engine = ThreadEngine()
    options = {"stop_on": [StopTheRunError], "hooks": [listener]}
    client = ToolClient(tools, engine=engine, **options)
    first = begin_batch("sync", client, [ToolCall("hold", None, "first")])
    gate.wait_for_arrivals()
    calls = [ToolCall("hold", None, "second"), ToolCall("stop", None, "s")]
    with pytest.raises(StopTheRunError):
        client.invoke_batch(calls)
    gate.open()

    assert (True, 0) == (outcome(first).ok, engine.line.taken)
    assert ("cancelled", "not_started") == ends(listener)["second"]
    assert 1 == len(contexts)


@pytest.mark.slow
class TestInterrupt:
    """
    One Ctrl-C ends a batch of many calls.
    """

    @pytest.mark.parametrize("engine", ["ThreadEngine", "AsyncioEngine"])
    @pytest.mark.parametrize(
        "declared",
        [
            "@tool\ndef hang",
            "@tool(timeout=30)\ndef hang",
            "@tool(isolation='inline')\ndef hang",
            "@tool(serial='disk')\ndef hang",
            "@tool\nasync def hang",
        ],
        ids=lambda text: text.replace("\n", " "),
    )
    def test_it_surfaces_as_keyboard_interrupt(self, engine, declared):
        """
        R24: whatever the bodies do; none begins after it, and the interpreter ends.
        """
        wait = "await asyncio.sleep(30)" if "async" in declared else "time.sleep(30)"
        script = start(
            f"""
from tooldecl.engines import {engine}
from tooldecl.telemetry import BatchFinished, CallFinished

{declared}() -> str:
    "Hang."
    os.write(1, b"began\\n")
    {wait}

ends = []
client = ToolClient([hang], engine={engine}(max_concurrency=2), hooks=[ends.append])
try:
    client.invoke_batch([ToolCall("hang")] * 4)
except KeyboardInterrupt:
    told = [type(event) for event in ends]
    print("interrupted", told.count(BatchFinished), flush=True)
"""
        )
        for _ in range(1 if "disk" in declared else 2):
            assert "began\n" == script.stdout.readline()
        script.send_signal(signal.SIGINT)

        assert (0, "interrupted 1\n", "") == ended(script, SOON)
