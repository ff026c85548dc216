"""
An async body that holds the very loop that would answer for it.
"""

from __future__ import annotations

import asyncio
import sys
import threading

import pytest

from fronts import call
from ordering import HANGS_AFTER
from tooldecl import ToolClient, ToolContext, tool
from tooldecl.telemetry import LoopBlocked


TIMEOUT = 0.2

LIMIT = "Tool 'work' did not finish within 0.2 s, the limit declared on it. "
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
        opener = threading.Timer(TIMEOUT * 2, gate.open)

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
        opener = threading.Timer(TIMEOUT * 2, gate.open)

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

        result = call("sync", ToolClient([work], hooks=[listener]), "work")

        assert ("timeout", "abandoned") == (result.status, result.fate)
        assert MAY_STILL_RUN == result.content
        assert 1 == len(listener.of(LoopBlocked))


class TestHeldInterpreter:
    """
    Code that holds the interpreter's lock: nothing else runs, the deadline included.
    """

    @pytest.fixture(autouse=True)
    def no_switch(self):
        """
        Let no other thread run before the body has ended.
        """
        before = sys.getswitchinterval()
        sys.setswitchinterval(HANGS_AFTER)
        yield
        sys.setswitchinterval(before)

    def test_a_value_that_comes_too_late_is_no_success(self, front):
        """
        Trap 19: the caller can only look when the body has ended; what it finds then is
        decided by the moment of that end.
        """

        @tool(timeout=TIMEOUT)
        def work(ctx: ToolContext) -> str:
            """
            Hold everything until the deadline has passed.
            """
            while ctx.remaining():
                pass
            return "late"

        result = call(front, ToolClient([work]), "work")
        dropped = "It had already finished; its result was dropped."

        assert ("timeout", "completed") == (result.status, result.fate)
        assert (None, LIMIT + dropped) == (result.value, result.content)

    def test_a_coroutine_that_comes_too_late_is_closed(self, front):
        """
        Its second half never begins.
        """
        made = []

        @tool(timeout=TIMEOUT)
        def work(ctx: ToolContext) -> str:
            """
            Return something to be awaited, too late.
            """
            while ctx.remaining():
                pass
            made.append(sleep_for_ever())
            return made[0]

        result = call(front, ToolClient([work]), "work")

        assert ("timeout", "completed") == (result.status, result.fate)
        assert None is made[0].cr_frame
