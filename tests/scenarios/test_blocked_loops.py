"""
An async body that holds the very loop that would answer for it.
"""

from __future__ import annotations

import asyncio
import threading

from fronts import call
from ordering import HANGS_AFTER
from tooldecl import ToolClient, tool
from tooldecl.telemetry import LoopBlocked


TIMEOUT = 0.05

LIMIT = "Tool 'work' did not finish within 0.05 s, the limit declared on it. "
MAY_STILL_RUN = LIMIT + "It may still be running and may still take effect."


async def sleep_for_ever():
    """
    Wait until cancelled.
    """
    await asyncio.sleep(HANGS_AFTER)


class TestBlockedLoop:
    """
    An async body that holds the very loop that would answer.
    """

    def test_the_answer_comes_late_and_is_still_a_timeout(self, gate, listener):
        """
        Trap 5: on the caller's loop nothing can run meanwhile, and the event says for
        how long; the body had finished when the answer could be given.
        """
        opener = threading.Timer(TIMEOUT * 4, gate.open)

        @tool(timeout=TIMEOUT)
        async def work() -> str:
            """
            Work.
            """
            opener.start()
            gate.pass_through()
            return "late"

        result = call("async", ToolClient([work], hooks=[listener]), "work")
        opener.join()
        dropped = "It had already finished; its result was dropped."

        assert ("timeout", "completed") == (result.status, result.fate)
        assert (None, LIMIT + dropped) == (result.value, result.content)
        assert [True] == [e.blocked_for > TIMEOUT for e in listener.of(LoopBlocked)]

    def test_a_body_that_blocks_and_then_waits_is_stopped_and_reported(
        self, gate, listener
    ):
        """
        The cancellation reaches it as soon as the loop turns again.
        """
        opener = threading.Timer(TIMEOUT * 4, gate.open)

        @tool(timeout=TIMEOUT)
        async def work() -> str:
            """
            Work.
            """
            opener.start()
            gate.pass_through()
            await sleep_for_ever()
            return "late"

        result = call("async", ToolClient([work], hooks=[listener]), "work")
        opener.join()

        assert ("timeout", "stopped") == (result.status, result.fate)
        assert 1 == len(listener.of(LoopBlocked))

    def test_a_script_is_answered_in_time(self, gate, listener):
        """
        From the sync front the waiting thread is not the one that is held.
        """

        @tool(timeout=TIMEOUT)
        async def work() -> str:
            """
            Work.
            """
            gate.pass_through()
            return "late"

        result = ToolClient([work], hooks=[listener]).invoke("work")

        assert ("timeout", "abandoned") == (result.status, result.fate)
        assert MAY_STILL_RUN == result.content
        assert 1 == len(listener.of(LoopBlocked))
