"""
Engines of a host's own that fail, or hide that a call did.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading

import pytest

from engine_stage import PoolEngine, client_of
from fronts import call_batch, join_body_threads
from tooldecl import ToolCall, ToolClient, tool
from tooldecl.engines import ThreadEngine
from tooldecl.telemetry import BatchFinished, CallFinished
from tooldecl.testing import RecordingHook


class HidingEngine(PoolEngine):
    """
    An engine that keeps to itself what comes out of a call.
    """

    def run_batch(self, calls, run):
        """
        Swallow everything.
        """
        for call in calls:
            with contextlib.suppress(BaseException):
                run(call)

        return []

    async def arun_batch(self, calls, run):
        """
        Raise something else instead.
        """
        for call in calls:
            try:
                await run(call)
            except BaseException as error:
                raise RuntimeError("The engine failed.") from error

        return []


@pytest.mark.parametrize("kind", [MemoryError, KeyboardInterrupt])
def test_what_means_stop_gets_past_any_engine(front, kind):
    """
    FAT-07: raw, whatever an engine makes of it.
    """

    @tool
    def stop() -> None:
        """Stop the run."""
        raise kind("out")

    with pytest.raises(kind) as caught:
        call_batch(front, ToolClient([stop], engine=HidingEngine()), [ToolCall("stop")])

    assert "out" == str(caught.value)


def test_a_fault_of_an_engine_is_not_hidden(front):
    """
    HOUSE, rule 3: a mistake of the program is raised, and the hooks hear of the end.
    """

    class Broken(PoolEngine):
        def run_batch(self, calls, run):
            raise RuntimeError("broken")

        async def arun_batch(self, calls, run):
            raise RuntimeError("broken")

    hook = RecordingHook()
    client = client_of(Broken(), hooks=[hook])
    with pytest.raises(RuntimeError, match="broken"):
        call_batch(front, client, [ToolCall("tell", {"number": 1})])

    assert ["cancelled"] == [e.result.status for e in hook.of(CallFinished)]
    assert 1 == len(hook.of(BatchFinished))


class WrappingEngine(PoolEngine):
    """
    An engine that raises something of its own when a call does.
    """

    def run_batch(self, calls, run):
        """
        Group what is raised.
        """
        try:
            return [run(call) for call in calls]
        except BaseException as error:
            raise BaseExceptionGroup("wrapped", [error]) from None

    async def arun_batch(self, calls, run):
        """
        Use a task group, which groups what is raised.
        """
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(run(call)) for call in calls]

        return [task.result() for task in tasks]


def test_what_an_engine_wraps_is_unwrapped(front):
    """
    FAT-07: the very exception that came out of the call.
    """

    @tool
    def stop() -> None:
        """Stop the run."""
        raise MemoryError("out")

    client = ToolClient([stop], engine=WrappingEngine())
    with pytest.raises(MemoryError) as caught:
        call_batch(front, client, [ToolCall("stop")] * 2)

    assert "out" == str(caught.value)


class NoThreads:
    """
    Ask for stacks that no machine has, so that no thread can be started meanwhile.
    """

    def __enter__(self):
        join_body_threads()
        self._before = threading.stack_size(1 << 47)

    def __exit__(self, *exc_info):
        threading.stack_size(self._before)


def test_without_threads_a_window_has_the_callers():
    """
    SPEC 6: what can run on the caller's thread does, and the rest is busy.
    """

    @tool(isolation="inline")
    def here() -> str:
        """Tell the thread."""
        return threading.current_thread().name

    @tool(timeout=60)
    def there() -> None:
        """Need a thread of its own."""

    client = ToolClient([here, there], engine=ThreadEngine())
    with NoThreads():
        results = client.invoke_batch(
            [ToolCall("here"), ToolCall("there"), ToolCall("here")]
        )

    assert ["ok", "busy", "ok"] == [r.status for r in results]
    assert threading.current_thread().name == results[2].value
