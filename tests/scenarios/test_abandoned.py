"""
Bodies that run on after their call was answered: listed, counted, reported, bounded.
"""

from __future__ import annotations

import asyncio
import gc
import logging

from concurrent.futures import Future

from fronts import acall, call
from ordering import HANGS_AFTER, Gate
from tooldecl import Retry, ToolClient, ToolContext, tool
from tooldecl.engines import SequentialEngine
from tooldecl.telemetry import LateFinish
from tooldecl.testing import assert_no_abandoned


TIMEOUT = 0.2


def hanging(gate: Gate, *, name="work", timeout=TIMEOUT, **options):
    """
    Declare a sync tool that the test holds, and that gives back what it is given.
    """

    @tool(name=name, timeout=timeout, **options)
    def work(x: int = 0) -> int:
        """
        Work.
        """
        gate.pass_through()
        return x

    return work


class TestTheList:
    """
    ``client.abandoned`` shows what may still take effect.
    """

    def test_it_names_the_call_and_its_age_until_the_body_ends(
        self, front, gate, listener
    ):
        """
        TMO-27: what was given up is not forgotten.
        """
        client = ToolClient([hanging(gate)], hooks=[listener])
        call(front, client, "work", call_id="first")
        call(front, client, "work", call_id="second")
        listed = client.abandoned
        later = client.abandoned
        gate.open()
        listener.wait_for(LateFinish, 2)

        assert [("work", "first"), ("work", "second")] == [
            (left.name, left.call_id) for left in listed
        ]
        assert 0 < listed[0].age < later[0].age
        assert listed[1].age < listed[0].age
        assert () == client.abandoned

    def test_each_client_sees_its_own(self, gate):
        """
        Two clients of one engine share its cap, not their lists.
        """
        engine = SequentialEngine()
        mine, yours = (
            ToolClient([hanging(gate, name=name)], engine=engine)
            for name in ("mine", "yours")
        )
        call("sync", mine, "mine")
        call("sync", yours, "yours")

        assert ["mine"] == [left.name for left in mine.abandoned]
        assert ["yours"] == [left.name for left in yours.abandoned]
        assert "<SequentialEngine 2 abandoned>" == repr(engine)

    def test_a_task_of_a_loop_that_is_gone_is_not_listed(self):
        """
        It can never run again, so it can take no effect either.
        """
        listed = []

        @tool(timeout=TIMEOUT)
        async def work() -> str:
            """
            Refuse to end.
            """
            while True:
                try:
                    await asyncio.sleep(HANGS_AFTER)
                except asyncio.CancelledError:
                    pass

        client = ToolClient([work])

        async def main() -> None:
            await acall(client, "work")
            listed.extend(left.name for left in client.abandoned)

        asyncio.run(main())

        assert ["work"] == listed
        assert_no_abandoned(client)


class TestTheLateFinish:
    """
    An event tells how an abandoned body ended after all.
    """

    def test_it_tells_what_would_have_been_returned(self, front, gate, listener):
        """
        TMO-27, R18: a person who looks can find out what really happened.
        """
        client = ToolClient([hanging(gate)], hooks=[listener])
        call(front, client, "work", {"x": 7}, call_id="mine")
        gate.open()
        [late] = listener.wait_for(LateFinish)

        assert ("mine", "work", 7, None) == (
            late.call_id,
            late.name,
            late.value,
            late.error,
        )
        assert late.late_by > 0

    def test_it_tells_what_would_have_been_raised(self, front, gate, listener):
        """
        R17: a late error is reported there and nowhere else; the result stays as it was.
        """
        error = ValueError("late")

        @tool(timeout=TIMEOUT)
        def work() -> str:
            """
            Fail, too late.
            """
            gate.pass_through()
            raise error

        client = ToolClient([work], hooks=[listener])
        result = call(front, client, "work")
        before = result.to_dict()
        gate.open()
        [late] = listener.wait_for(LateFinish)

        assert (error, None) == (late.error, late.value)
        assert before == result.to_dict()
        assert "timeout" == result.status

    def test_what_it_does_afterwards_reaches_nobody(self, front, gate, listener):
        """
        R17: neither the state nor the hooks hear from a body whose call is over.
        """

        @tool(timeout=TIMEOUT)
        def work(ctx: ToolContext) -> list:
            """
            Go on.
            """
            before = ctx.cancelled
            gate.pass_through()
            ctx.write("slot", "late")
            ctx.progress(1)
            return [before, ctx.cancelled]

        client = ToolClient([work], hooks=[listener])
        call(front, client, "work")
        gate.open()
        [late] = listener.wait_for(LateFinish)
        kinds = [type(event).__name__ for event in listener.events]

        assert [False, True] == late.value
        assert {} == client.state
        assert ["CallStarted", "AttemptFailed", "CallFinished", "LateFinish"] == kinds

    def test_it_tells_which_attempt_it_was(self, front, gate, listener):
        """
        A tool that is safe to repeat may have several attempts at large, and a picture of
        the run shows each.
        """

        @tool(timeout=TIMEOUT, retry=Retry(attempts=2, delay=0.001), idempotent=True)
        def work(ctx: ToolContext) -> int:
            """
            Hang, each time.
            """
            gate.pass_through()
            return ctx.attempt

        client = ToolClient([work], hooks=[listener])
        call(front, client, "work")
        gate.open()
        ends = listener.wait_for(LateFinish, 2)

        assert [1, 2] == sorted(late.attempt for late in ends)
        assert [True, True] == [late.attempt == late.value for late in ends]

    def test_a_hook_that_takes_its_time_delays_no_other_call(self, gate, listener):
        """
        Invariant 2 of ``_threads``: a thread that is telling hooks is not idle, so the
        next body does not wait for it.
        """
        hook = Gate()

        def slow(event):
            if isinstance(event, LateFinish):
                hook.pass_through()

        client = ToolClient([hanging(gate)], hooks=[slow])
        quick = ToolClient([hanging(gate, timeout=HANGS_AFTER)])
        try:
            call("sync", client, "work")
            gate.open()
            hook.wait_for_arrivals()
            statuses = [quick.invoke("work").status for _ in range(3)]
        finally:
            hook.open()

        assert ["ok"] * 3 == statuses

    def test_a_coroutine_that_comes_too_late_is_closed(self, gate, listener):
        """
        R149: nobody will await it, and Python must not complain of that.
        """

        @tool(timeout=TIMEOUT)
        def work() -> str:
            """
            Return a coroutine, too late.
            """
            gate.pass_through()
            return asyncio.sleep(0)

        client = ToolClient([work], hooks=[listener])
        call("sync", client, "work")
        gate.open()
        [late] = listener.wait_for(LateFinish)
        gc.collect()

        assert None is late.value.cr_frame

    async def test_a_task_that_was_left_is_kept_until_it_ends(self, listener, caplog):
        """
        Trap 7: asyncio holds tasks weakly; this one is neither collected mid-way nor
        complained of.
        """
        release: Future[None] = Future()

        @tool(timeout=TIMEOUT)
        async def work() -> str:
            """
            Clean up for a while, and fail.
            """
            try:
                await asyncio.sleep(HANGS_AFTER)
            finally:
                await asyncio.wrap_future(release)
                raise ValueError("late")

        client = ToolClient([work], hooks=[listener])
        with caplog.at_level(logging.WARNING, "asyncio"):
            await acall(client, "work")
            gc.collect()
            release.set_result(None)
            await asyncio.to_thread(listener.wait_for, LateFinish)
            gc.collect()

        assert "ValueError('late')" == repr(listener.of(LateFinish)[0].error)
        assert [] == caplog.records
