"""
How much can be left behind: a cap, no blind repeat, and nothing once the bodies end.
"""

from __future__ import annotations

import asyncio
import os
import threading

import pytest

from fronts import body_threads, call, join_body_threads
from ordering import HANGS_AFTER
from tooldecl import Retry, ToolClient, tool
from tooldecl.engines import SequentialEngine
from tooldecl.telemetry import LateFinish


TIMEOUT = 0.2
MOMENT = 0.001


def hanging(gate, *, timeout=TIMEOUT, **options):
    """
    Declare a sync tool that the test holds.
    """

    @tool(timeout=timeout, **options)
    def work() -> str:
        """
        Work.
        """
        gate.pass_through()
        return "late"

    return work


@tool(timeout=HANGS_AFTER)
def quick() -> str:
    """
    Return at once.
    """
    return "done"


class TestTheCap:
    """
    ``max_abandoned`` bounds what a stuck tool can use up.
    """

    def test_beyond_it_calls_are_busy_and_it_recovers(self, front, gate, listener):
        """
        TMO-28, trap 14: refused at once, not queued, and taken again when bodies end.
        """
        engine = SequentialEngine(max_abandoned=2)
        client = ToolClient([hanging(gate)], engine=engine, hooks=[listener])
        results = [call(front, client, "work") for _ in range(3)]
        gate.open()
        listener.wait_for(LateFinish, 2)

        assert ["timeout", "timeout", "busy"] == [result.status for result in results]
        assert ("not_started", 0) == (results[2].fate, results[2].attempts)
        reason = "2 earlier calls were given up and may still be running"
        assert f"Tool 'work' was not run: {reason}." == results[2].content
        assert "ok" == call(front, client, "work").status

    def test_without_it_nothing_is_refused(self, gate):
        """
        The control: many stuck bodies, and the next call is still taken.
        """
        client = ToolClient([hanging(gate, timeout=MOMENT)])
        results = [client.invoke("work").status for _ in range(20)]

        assert ["timeout"] * 20 == results


class TestRepeating:
    """
    A body that may still be running is not started again, unless that was declared safe.
    """

    def test_one_that_may_still_run_is_not_repeated(self, front, gate, listener):
        """
        R18: the action must not happen twice because nobody waited for the first time.
        """
        ran = []

        @tool(timeout=TIMEOUT, retry=Retry(attempts=3, delay=0))
        def work() -> str:
            """
            Act, late.
            """
            gate.pass_through()
            ran.append(1)
            return "done"

        client = ToolClient([work], hooks=[listener])
        result = call(front, client, "work")
        gate.open()
        listener.wait_for(LateFinish)

        assert ("timeout", 1, [1]) == (result.status, result.attempts, ran)

    def test_an_idempotent_one_is(self, front, gate, listener):
        """
        R18: the policy that allows more is an explicit declaration.
        """
        tools = [hanging(gate, retry=Retry(attempts=3, delay=0), idempotent=True)]
        client = ToolClient(tools, hooks=[listener])
        result = call(front, client, "work")
        gate.open()
        listener.wait_for(LateFinish, 3)

        assert ("timeout", "abandoned", 3) == (
            result.status,
            result.fate,
            result.attempts,
        )
        assert result.content.endswith(" 3 attempts were made.")

    def test_one_that_was_stopped_is(self, front):
        """
        After ``stopped`` nothing runs any more, so `Retry` applies as to any failure.
        """
        ran = []

        @tool(timeout=TIMEOUT, retry=Retry(attempts=2, delay=0))
        async def work() -> str:
            """
            Hang once.
            """
            ran.append(1)
            if len(ran) == 1:
                await asyncio.sleep(HANGS_AFTER)
            return "done"

        result = call(front, ToolClient([work]), "work")

        assert ("ok", 2) == (result.status, result.attempts)


class TestNoLeak:
    """
    Stuck bodies cost what they hold, and nothing once they have ended.
    """

    async def test_stuck_bodies_starve_nobody(self, gate):
        """
        R13, trap 12: with a hundred of them a quick tool, the loop's own threads and its
        look-ups of names go on.
        """
        client = ToolClient([hanging(gate, timeout=MOMENT), quick])
        while len(client.abandoned) < 100:
            await client.ainvoke("work")
        loop = asyncio.get_running_loop()

        assert "ok" == (await client.ainvoke("quick")).status
        assert 1 == await asyncio.to_thread(lambda: 1)
        assert await loop.getaddrinfo("127.0.0.1", 80)

    def test_stuck_bodies_starve_no_script(self, gate):
        """
        R13: no slot is lost, whatever was called before.
        """
        client = ToolClient([hanging(gate, timeout=MOMENT), quick])
        while len(client.abandoned) < 40:
            client.invoke("work")

        assert "ok" == client.invoke("quick").status

    @pytest.mark.slow
    def test_a_thousand_timed_out_calls_leave_nothing(self, gate, listener):
        """
        R12: threads and file descriptors are as they were once the bodies have ended.
        """
        join_body_threads()
        before = (threading.active_count(), len(os.listdir("/proc/self/fd")))
        client = ToolClient([hanging(gate, timeout=MOMENT)], hooks=[listener])
        statuses = {client.invoke("work").status for _ in range(1_000)}
        stuck, threads = len(client.abandoned), len(body_threads())
        gate.open()
        listener.wait_for(LateFinish, stuck)
        join_body_threads()

        assert ({"timeout"}, ()) == (statuses, client.abandoned)
        assert 500 < stuck <= threads
        assert before == (threading.active_count(), len(os.listdir("/proc/self/fd")))

    @pytest.mark.parametrize("place", [{}, {"isolation": "thread"}], ids=repr)
    def test_async_bodies_leave_no_thread(self, place):
        """
        R12: cancelled on its own loop a body ends, and with it what it ran on.
        """

        @tool(timeout=MOMENT, **place)
        async def work() -> str:
            """
            Hang.
            """
            await asyncio.sleep(HANGS_AFTER)
            return "late"

        join_body_threads()
        before = threading.active_count()
        with ToolClient([work]) as client:
            fates = {client.invoke("work").fate for _ in range(20)}
            left = client.abandoned
        join_body_threads()

        assert ({"stopped"}, ()) == (fates - {"not_started"}, left)
        assert before == threading.active_count()

    def test_a_thread_serves_one_call_after_the_other(self):
        """
        Quick calls do not make a thread each.
        """
        threads = set()

        @tool(timeout=HANGS_AFTER)
        def work() -> str:
            """
            Note the thread.
            """
            threads.add(threading.get_ident())
            return "done"

        client = ToolClient([work])
        for _ in range(50):
            client.invoke("work")

        assert 1 == len(threads)

    @pytest.mark.slow
    async def test_a_thousand_timed_calls_are_in_flight_at_once(self):
        """
        All of them are inside before any may leave, and each is answered in its turn.
        """
        inside = [0]
        everybody = asyncio.Event()

        @tool(timeout=HANGS_AFTER)
        async def work(x: int) -> int:
            """
            Wait for the others.
            """
            inside[0] += 1
            if inside[0] == 1_000:
                everybody.set()
            await everybody.wait()
            return x

        client = ToolClient([work])
        calls = (client.ainvoke("work", {"x": x}) for x in range(1_000))
        results = await asyncio.gather(*calls)

        assert [*range(1_000)] == [result.value for result in results]

    @pytest.mark.slow
    async def test_a_thousand_timed_calls_time_out_at_once(self):
        """
        Every one is stopped, and none takes another's deadline for its own.
        """

        @tool(timeout=0.5)
        async def work() -> str:
            """
            Hang.
            """
            await asyncio.sleep(HANGS_AFTER)
            return "late"

        client = ToolClient([work])
        results = await asyncio.gather(*(client.ainvoke("work") for _ in range(1_000)))

        assert {("timeout", "stopped")} == {(r.status, r.fate) for r in results}
        assert all(0.5 <= result.elapsed < HANGS_AFTER for result in results)
