"""
The loop behind the sync front: one for a client's life, replaced only when it is blocked.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

from fronts import call
from ordering import HANGS_AFTER, Gate
from tooldecl import ToolClient, tool
from tooldecl.telemetry import LateFinish


TIMEOUT = 0.2


async def sleep_for_ever():
    """
    Wait until cancelled.
    """
    await asyncio.sleep(HANGS_AFTER)


@tool
async def which_loop() -> int:
    """
    Name the loop it runs on.
    """
    return id(asyncio.get_running_loop())


class TestReplacement:
    """
    A loop is replaced when a body has blocked it, and only then.
    """

    def test_the_next_call_finds_a_loop_that_turns(self, gate, listener):
        """
        One stuck tool must not cost the client all its async tools.
        """

        @tool(timeout=TIMEOUT)
        async def work() -> int:
            """
            Block.
            """
            gate.pass_through()
            return id(asyncio.get_running_loop())

        client = ToolClient([work, which_loop], hooks=[listener])
        call("sync", client, "work")
        fresh = client.invoke("which_loop").value
        again = client.invoke("which_loop").value
        gate.open()
        stuck = listener.wait_for(LateFinish)[0].value

        assert fresh == again != stuck

    def test_a_body_that_is_only_slow_keeps_its_loop(self):
        """
        R152: what tools cache on the loop stays usable after a timeout.
        """

        @tool(timeout=TIMEOUT)
        async def work() -> str:
            """
            Wait.
            """
            await sleep_for_ever()
            return "late"

        client = ToolClient([work, which_loop])
        before = client.invoke("which_loop").value
        fates = [call("sync", client, "work").fate for _ in range(5)]

        assert ["stopped"] * 5 == fates
        assert before == client.invoke("which_loop").value

    def test_a_body_that_refuses_keeps_its_loop(self):
        """
        R152: refusing to end blocks nobody, so the loop is not given up either.
        """

        @tool(timeout=TIMEOUT)
        async def work() -> str:
            """
            Refuse once.
            """
            try:
                await sleep_for_ever()
            except asyncio.CancelledError:
                await sleep_for_ever()
            return "late"

        client = ToolClient([work, which_loop])
        before = client.invoke("which_loop").value
        fate = call("sync", client, "work").fate
        after = client.invoke("which_loop").value
        client.close()

        assert "abandoned" == fate
        assert before == after

    @pytest.mark.slow
    def test_calls_that_waited_for_a_blocked_loop_start_on_the_new_one_once(
        self, gate, listener
    ):
        """
        They had not begun, so running them is safe; and they must not wait for ever.
        """
        ran = []

        @tool(timeout=0.5)
        async def work() -> str:
            """
            Block.
            """
            gate.pass_through()
            return "late"

        @tool
        async def count() -> int:
            """
            Count.
            """
            ran.append(threading.current_thread().name)
            return len(ran)

        client = ToolClient([work, count], hooks=[listener])
        blocker = threading.Thread(target=client.invoke, args=("work",))
        blocker.start()
        gate.wait_for_arrivals()
        waiting = [
            threading.Thread(target=client.invoke, args=("count",)) for _ in range(3)
        ]
        for thread in waiting:
            thread.start()
        for thread in [*waiting, blocker]:
            thread.join(HANGS_AFTER)
        while_blocked = list(ran)
        gate.open()
        listener.wait_for(LateFinish)

        assert 3 == len(while_blocked)
        assert while_blocked == ran

    @pytest.mark.slow
    def test_a_call_that_moved_and_blocks_in_turn_is_found(self, listener):
        """
        Invariant 1 of ``_loops``: it is the loop that the body really holds that goes.
        """
        first, second = Gate(), Gate()

        @tool(timeout=TIMEOUT)
        async def block_first() -> str:
            """
            Block.
            """
            first.pass_through()
            return "late"

        @tool(timeout=0.5)
        async def block_second() -> str:
            """
            Block, on the loop it was moved to.
            """
            second.pass_through()
            return "late"

        client = ToolClient([block_first, block_second, which_loop], hooks=[listener])
        threads = [
            threading.Thread(target=client.invoke, args=("block_first",)),
            threading.Thread(target=client.invoke, args=("block_second",)),
        ]
        try:
            threads[0].start()
            first.wait_for_arrivals()
            threads[1].start()
            second.wait_for_arrivals()
            for thread in threads:
                thread.join(HANGS_AFTER)
            after = client.invoke("which_loop")
        finally:
            first.open()
            second.open()
        listener.wait_for(LateFinish, 2)

        assert "ok" == after.status

    def test_a_loop_blocked_by_a_callback_is_found_at_the_second_call(self, gate):
        """
        Invariant 1 of ``_loops``: no task is at fault there, so one call has to show it.
        """

        @tool
        async def leave_a_callback() -> str:
            """
            Leave something on the loop that blocks it.
            """
            asyncio.get_running_loop().call_later(0, gate.pass_through)
            return "done"

        @tool(timeout=TIMEOUT)
        async def work() -> str:
            """
            Work.
            """
            return "done"

        client = ToolClient([leave_a_callback, work])
        client.invoke("leave_a_callback")
        gate.wait_for_arrivals()
        results = [client.invoke("work") for _ in range(3)]

        assert [
            ("timeout", "not_started"),
            ("timeout", "not_started"),
            ("ok", "completed"),
        ] == [(result.status, result.fate) for result in results]

    def test_other_bodies_of_a_blocked_loop_end_in_their_own_way(self, gate):
        """
        Invariant 1 of ``_loopthread``: a retired loop is not a dead one.
        """
        release = asyncio.Event()

        @tool
        async def patient() -> str:
            """
            Wait for the test.
            """
            await release.wait()
            return "done"

        @tool(timeout=TIMEOUT)
        async def work() -> str:
            """
            Block, then let the other body go on.
            """
            gate.pass_through()
            release.set()
            return "late"

        client = ToolClient([patient, work, which_loop])
        results = []
        thread = threading.Thread(
            target=lambda: results.append(client.invoke("patient"))
        )
        thread.start()
        client.invoke("which_loop")
        call("sync", client, "work")
        fresh = client.invoke("which_loop")
        gate.open()
        thread.join(HANGS_AFTER)

        assert ("ok", "done") == (fresh.status, results[0].value)


class TestHelpers:
    """
    What a body hands on to a thread, by ``asyncio.to_thread``, on a loop of the client.
    """

    PLACES = pytest.mark.parametrize("place", [{}, {"isolation": "thread"}], ids=str)

    @PLACES
    def test_it_runs_on_a_daemon_thread_and_gives_its_outcome(self, place):
        """
        R15: a pool's threads would keep the interpreter; values, errors and context
        variables pass as they do with one.
        """
        variable = contextvars.ContextVar("variable", default="nobody")
        variable.set("caller")

        @tool(**place)
        async def work() -> list:
            """
            Hand something on.
            """
            thread = await asyncio.to_thread(threading.current_thread)
            try:
                await asyncio.to_thread([].pop)
            except IndexError as error:
                return [
                    thread.daemon,
                    str(error),
                    await asyncio.to_thread(variable.get),
                ]

        client = ToolClient([work])

        assert [True, "pop from empty list", "caller"] == client.invoke("work").value

    @PLACES
    def test_a_stuck_one_delays_no_other(self, place, gate):
        """
        R13: each has a thread of its own, so no number of them fills anything up.
        """

        @tool(timeout=TIMEOUT, **place)
        async def hang() -> str:
            """
            Wait for a thread that waits for the test.
            """
            await asyncio.to_thread(gate.pass_through)
            return "late"

        @tool(**place)
        async def quick() -> int:
            """
            Need a thread for a moment.
            """
            return await asyncio.to_thread(lambda: 1)

        client = ToolClient([hang, quick])
        stuck = threading.Thread(
            target=lambda: [call("sync", client, "hang") for _ in range(2)]
        )
        stuck.start()
        stuck.join(HANGS_AFTER)
        gate.wait_for_arrivals(2)

        assert 1 == client.invoke("quick").value
