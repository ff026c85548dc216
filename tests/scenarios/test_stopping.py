"""
What must not begin once a run is to stop, and what the tool itself has stopped.
"""

from __future__ import annotations

import asyncio

import pytest

from fronts import call
from hanging import Stage, cancelled
from ordering import HANGS_AFTER
from tooldecl import Retry, ToolCall, ToolClient, tool


AMPLE = 60

PLACES = pytest.mark.parametrize(
    "options",
    [{}, {"timeout": AMPLE}, {"isolation": "thread"}],
    ids=["caller's task", "own task", "private loop"],
)


class TestNothingFurtherStarts:
    """
    After a cancellation no body, no attempt and no call begins.
    """

    async def test_the_rest_of_a_batch_does_not_run(self):
        """
        R25: a cancelled first call is no reason to go on with the second.
        """
        ran = []
        stage = Stage()

        @tool
        async def after() -> str:
            """
            Run.
            """
            ran.append(1)
            return "done"

        client = ToolClient([stage.tool, after])
        calls = [ToolCall("work"), ToolCall("after"), ToolCall("after")]
        task = asyncio.ensure_future(client.ainvoke_batch(calls))
        await stage.began.wait()
        task.cancel()

        assert await cancelled(task)
        assert (["cancelled"], []) == (stage.ended, ran)

    @PLACES
    async def test_a_cancelled_attempt_is_not_repeated(self, options):
        """
        R31: not even where the tool retries on everything.
        """
        stage = Stage(**options, retry=Retry(attempts=5, delay=0, on=lambda _: True))
        task = asyncio.ensure_future(ToolClient([stage.tool]).ainvoke("work"))
        await stage.began.wait()
        task.cancel()

        assert await cancelled(task)
        assert ["cancelled"] == stage.ended

    async def test_a_wait_between_attempts_is_cut_short(self):
        """
        R25: cancelled during the pause, the next attempt never begins.
        """
        ran = []
        failed = asyncio.Event()

        @tool(retry=Retry(attempts=2, delay=HANGS_AFTER, max_delay=HANGS_AFTER))
        async def work() -> str:
            """
            Fail.
            """
            ran.append(1)
            failed.set()
            raise ConnectionError

        task = asyncio.ensure_future(ToolClient([work]).ainvoke("work"))
        await failed.wait()
        await asyncio.sleep(0)
        task.cancel()

        assert await cancelled(task)
        assert [1] == ran


class TestCancellationBornInside:
    """
    What the tool itself has cancelled is no cancellation of its caller.
    """

    @PLACES
    def test_a_task_that_the_tool_cancelled(self, front, options):
        """
        R23: its transport died; that is this call's error and nobody else's.
        """

        @tool(**options)
        async def work() -> str:
            """
            Await what was cancelled.
            """
            transport = asyncio.ensure_future(asyncio.sleep(HANGS_AFTER))
            transport.cancel()
            await transport
            return "done"

        result = call(front, ToolClient([work]), "work")

        assert ("tool_error", "completed") == (result.status, result.fate)

    @PLACES
    async def test_together_with_one_from_outside_the_outer_wins(self, options):
        """
        R23: the caller asked for the end, and gets it.
        """
        began = asyncio.Event()
        loop = asyncio.get_running_loop()

        @tool(**options)
        async def work() -> str:
            """
            Cancel its transport when it is cancelled.
            """
            loop.call_soon_threadsafe(began.set)
            transport = asyncio.ensure_future(asyncio.sleep(HANGS_AFTER))
            try:
                await asyncio.shield(transport)
            finally:
                transport.cancel()
                await transport
            return "done"

        task = asyncio.ensure_future(ToolClient([work]).ainvoke("work"))
        await began.wait()
        task.cancel()

        assert await cancelled(task)

    @PLACES
    def test_a_timeout_of_the_tools_own_is_the_tools(self, front, options):
        """
        R10: only the engine's deadline is a timeout, whatever the exception's type.
        """

        @tool(**options)
        async def work() -> str:
            """
            Give up on something.
            """
            async with asyncio.timeout(0):
                await asyncio.sleep(HANGS_AFTER)
            return "done"

        result = call(front, ToolClient([work]), "work")

        assert ("tool_error", "transient") == (result.status, result.error_class)
        assert "Tool 'work' failed: TimeoutError." == result.content

    @PLACES
    def test_a_child_that_fails_concerns_its_own_call(self, front, options, caplog):
        """
        TMO-25: what a tool leaves running in the background fails there.
        """

        async def child():
            raise ValueError("child")

        @tool(**options)
        async def work() -> str:
            """
            Start something that fails, and look at it.
            """
            task = asyncio.ensure_future(child())
            await asyncio.wait({task})
            return repr(task.exception())

        assert "ValueError('child')" == call(front, ToolClient([work]), "work").value

    @pytest.mark.parametrize(
        "options", [{}, {"timeout": AMPLE}, {"isolation": "thread"}]
    )
    @pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
    def test_a_child_that_exits_does_not_end_the_clients_loop(self, options, kind):
        """
        R26: asyncio lets both out of its loop; the body that awaits the child gets
        them, and the next call finds a loop.
        """

        async def child():
            raise kind(3)

        @tool(**options)
        async def work() -> str:
            """
            Await what exits.
            """
            try:
                await asyncio.ensure_future(child())
            except BaseException as error:
                return repr(error)
            return "done"

        client = ToolClient([work])
        results = [client.invoke("work").value for _ in range(2)]

        assert [f"{kind.__name__}(3)"] * 2 == results

    @pytest.mark.parametrize(
        "options", [{}, {"timeout": AMPLE}, {"isolation": "thread"}]
    )
    def test_a_body_that_stops_its_loop_is_run_to_its_end(self, options):
        """
        The loop is not the body's: other bodies are on it, and further calls.
        """

        @tool(**options)
        async def work() -> str:
            """
            Stop the loop.
            """
            asyncio.get_running_loop().stop()
            await asyncio.sleep(0)
            return "done"

        client = ToolClient([work])

        assert ["done", "done"] == [client.invoke("work").value for _ in range(2)]
