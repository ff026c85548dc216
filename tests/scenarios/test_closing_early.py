"""
Closing a client while bodies run: every call that runs gets its one answer.
"""

from __future__ import annotations

import asyncio
import threading

from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from ordering import HANGS_AFTER
from scenarios.loop_threads import thread_of, where
from tooldecl import Retry, ToolClient, tool
from tooldecl.telemetry import AttemptFailed


class TestWhileBodiesRun:
    """
    Every call that runs gets its one answer.
    """

    @pytest.mark.parametrize("awaited", [False, True], ids=["close", "aclose"])
    def test_a_body_on_the_clients_loop_is_cancelled(self, awaited):
        """
        Its call is answered with ``cancelled``, and says what became of the body; it is
        not repeated.
        """
        began = threading.Event()

        @tool(retry=Retry(attempts=3, delay=0, on=lambda _: True))
        async def work() -> str:
            """
            Hang.
            """
            began.set()
            await asyncio.sleep(HANGS_AFTER)
            return "done"

        client = ToolClient([work])
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(client.invoke, "work")
            began.wait(HANGS_AFTER)
            if awaited:
                asyncio.run(client.aclose())
            else:
                client.close()
            result = running.result(HANGS_AFTER)

        assert ("cancelled", "stopped", 1) == (
            result.status,
            result.fate,
            result.attempts,
        )
        assert "The call of 'work' was cancelled. It was stopped." == result.content

    def test_a_body_that_ends_in_its_own_way_has_its_own_outcome(self):
        """
        A cancellation that a body turned into a value or an error is no lost result.
        """
        began = threading.Event()

        @tool
        async def work() -> str:
            """
            End when cancelled.
            """
            began.set()
            try:
                await asyncio.sleep(HANGS_AFTER)
            except asyncio.CancelledError:
                return "saved"
            return "done"

        client = ToolClient([work])
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(client.invoke, "work")
            began.wait(HANGS_AFTER)
            client.close()

            assert "saved" == running.result(HANGS_AFTER).value

    def test_a_body_in_a_thread_is_let_end(self, gate):
        """
        Nothing can stop it, and its caller still waits for it.
        """

        @tool(timeout=HANGS_AFTER)
        def work() -> str:
            """
            Work.
            """
            gate.pass_through()
            return "done"

        client = ToolClient([work])
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(client.invoke, "work")
            gate.wait_for_arrivals()
            client.close()
            gate.open()

            assert "done" == running.result(HANGS_AFTER).value

    @pytest.mark.slow
    @pytest.mark.parametrize("awaited", [False, True], ids=["close", "aclose"])
    def test_a_body_that_refuses_is_not_waited_for(self, awaited):
        """
        Closing must not hang; the call is answered when its body ends.
        """
        began = threading.Event()
        release: Future[None] = Future()

        @tool
        async def work() -> str:
            """
            Refuse.
            """
            began.set()
            try:
                await asyncio.sleep(HANGS_AFTER)
            except asyncio.CancelledError:
                await asyncio.wrap_future(release)
            return "late"

        client = ToolClient([work])
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(client.invoke, "work")
            try:
                began.wait(HANGS_AFTER)
                if awaited:
                    asyncio.run(client.aclose())
                else:
                    client.close()
                was_over = running.done()
            finally:
                release.set_result(None)

            assert (False, "late") == (was_over, running.result(HANGS_AFTER).value)

    @pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
    def test_between_two_attempts_the_next_one_is_not_made(self, is_async):
        """
        It would need the loop that has gone; a body that needs none goes on.
        """
        ran = []
        options = {"retry": Retry(attempts=2, delay=0)}

        def fail() -> str:
            """
            Fail once.
            """
            ran.append(1)
            if len(ran) == 1:
                raise ConnectionError
            return "done"

        async def fail_async() -> str:
            """
            Fail once.
            """
            return fail()

        declared = tool(name="work", **options)(fail_async if is_async else fail)
        clients = []
        hooks = [lambda e: clients[0].close() if isinstance(e, AttemptFailed) else None]
        clients.append(ToolClient([declared], hooks=hooks))
        result = clients[0].invoke("work")
        text = "The call of 'work' was cancelled. It never started."

        if is_async:
            assert ("cancelled", 1, [1]) == (result.status, result.attempts, ran)
            assert text == result.content
        else:
            assert ("done", 2) == (result.value, result.attempts)

    @pytest.mark.parametrize("awaited", [False, True], ids=["close", "aclose"])
    def test_a_tool_may_close_its_own_client(self, awaited):
        """
        From the very loop that is to end.
        """
        clients = []

        @tool
        async def work() -> str:
            """
            Close the client.
            """
            if awaited:
                await clients[0].aclose()
            else:
                clients[0].close()
            return "done"

        clients.append(ToolClient([work, where]))
        thread = thread_of(clients[0])
        result = clients[0].invoke("work")
        thread.join(HANGS_AFTER)

        assert (result.status, thread.is_alive()) == (
            "cancelled" if awaited else "ok",
            False,
        )

    async def test_closing_needs_no_thread_of_the_callers_loop(self, gate):
        """
        R13: the loop's own threads may all be stuck.
        """
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(1))
        stuck = loop.run_in_executor(None, gate.pass_through)
        client = ToolClient([where])
        thread = thread_of(client)
        await client.aclose()
        gate.open()
        await stuck
        await asyncio.to_thread(thread.join, HANGS_AFTER)

        assert not thread.is_alive()
