"""
Cancelling the caller: it always surfaces, nothing further starts, and the body is told.
"""

from __future__ import annotations

import asyncio

from concurrent.futures import Future

import pytest

from hanging import Stage, cancelled
from ordering import HANGS_AFTER
from tooldecl import ToolClient, ToolContext, tool
from tooldecl.telemetry import CallFinished, LateFinish
from tooldecl.testing import assert_no_abandoned


AMPLE = 60

PLACES = pytest.mark.parametrize(
    "options",
    [{}, {"timeout": AMPLE}, {"isolation": "thread"}],
    ids=["caller's task", "own task", "private loop"],
)


class TestTheCallerIsCancelled:
    """
    A cancellation from outside passes through every way to run a body.
    """

    @PLACES
    async def test_the_body_is_cancelled_and_so_is_the_caller(self, options, listener):
        """
        R20, trap 6: waiting for a task does not pass a cancellation on by itself.
        """
        stage = Stage(**options)
        client = ToolClient([stage.tool], hooks=[listener])
        task = asyncio.ensure_future(client.ainvoke("work"))
        await stage.began.wait()
        task.cancel()

        assert await cancelled(task)
        assert ["cancelled"] == stage.ended
        [finished] = listener.of(CallFinished)
        assert ("cancelled", "stopped") == (
            finished.result.status,
            finished.result.fate,
        )
        assert_no_abandoned(client)

    @PLACES
    @pytest.mark.parametrize("how", ["group", "timeout"])
    async def test_every_construct_of_asyncio_that_cancels(self, options, how):
        """
        Trap 6: a sibling that fails, and a deadline of the host's own around the call.
        """
        stage = Stage(**options)
        client = ToolClient([stage.tool])

        async def fail():
            await stage.began.wait()
            raise ValueError("sibling")

        if how == "group":
            with pytest.raises(ExceptionGroup) as caught:
                async with asyncio.TaskGroup() as group:
                    group.create_task(client.ainvoke("work"))
                    group.create_task(fail())
            assert "[ValueError('sibling')]" == repr(list(caught.value.exceptions))
        else:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await client.ainvoke("work")

        assert ["cancelled"] == stage.ended

    async def test_a_sync_body_is_told_and_left(self, gate, listener):
        """
        A thread cannot be cancelled: the caller goes, the context says so, the list
        shows it.
        """

        @tool
        def work(ctx: ToolContext) -> bool:
            """
            Say whether it was told.
            """
            gate.pass_through()
            return ctx.cancelled

        client = ToolClient([work], hooks=[listener])
        task = asyncio.ensure_future(client.ainvoke("work"))
        await asyncio.to_thread(gate.wait_for_arrivals)
        task.cancel()

        assert await cancelled(task)
        assert ["work"] == [left.name for left in client.abandoned]
        assert "abandoned" == listener.of(CallFinished)[0].result.fate
        gate.open()
        [late] = await asyncio.to_thread(listener.wait_for, LateFinish)
        assert True is late.value

    @PLACES
    @pytest.mark.parametrize("answer", ["value", "error"])
    async def test_a_body_cannot_swallow_it_for_the_caller(self, options, answer):
        """
        R20, R22: whatever the body makes of it, the caller ends cancelled.
        """
        began = asyncio.Event()
        loop = asyncio.get_running_loop()

        @tool(**options)
        async def work() -> str:
            """
            Swallow the cancellation.
            """
            loop.call_soon_threadsafe(began.set)
            try:
                await asyncio.sleep(HANGS_AFTER)
            except asyncio.CancelledError:
                if answer == "error":
                    raise ValueError("instead") from None
            return "done"

        task = asyncio.ensure_future(ToolClient([work]).ainvoke("work"))
        await began.wait()
        task.cancel()

        assert await cancelled(task)

    @PLACES
    @pytest.mark.parametrize("ticks", range(20))
    async def test_at_every_tick_around_the_end_of_the_body(self, options, ticks):
        """
        R20: on 3.11 ``wait_for`` drops a cancellation that comes with the result.
        """
        release = asyncio.Event()
        loop = asyncio.get_running_loop()

        @tool(**options)
        async def work() -> str:
            """
            End when the test says so.
            """
            if asyncio.get_running_loop() is loop:
                await release.wait()
            return "done"

        async def caller():
            await ToolClient([work]).ainvoke("work")
            await asyncio.sleep(0)

        task = asyncio.ensure_future(caller())
        for _ in range(4):
            await asyncio.sleep(0)
        release.set()
        for _ in range(ticks):
            await asyncio.sleep(0)
        was_over = task.done()
        task.cancel()

        assert was_over or await cancelled(task)

    @PLACES
    async def test_one_that_is_pending_comes_before_the_body(self, options):
        """
        R20, R25: a caller that is cancelled already starts nothing, and stays cancelled.
        """
        stage = Stage(**options)
        client = ToolClient([stage.tool])

        async def caller():
            asyncio.current_task().cancel()
            await client.ainvoke("work")

        task = asyncio.ensure_future(caller())

        assert await cancelled(task)
        assert (False, []) == (stage.began.is_set(), stage.ended)

    @PLACES
    async def test_one_that_was_caught_long_ago_does_no_harm(self, options):
        """
        R23: the caller's earlier cancellation is not this call's.
        """

        @tool(**options)
        async def work() -> str:
            """
            Work.
            """
            await asyncio.sleep(0)
            return "done"

        async def caller():
            try:
                asyncio.current_task().cancel()
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                pass
            return await ToolClient([work]).ainvoke("work")

        assert "done" == (await asyncio.ensure_future(caller())).value

    async def test_cancelled_twice_it_does_not_wait_for_the_grace(self, listener):
        """
        A caller in a hurry leaves a body that refuses; the list shows it.
        """
        began, told = asyncio.Event(), asyncio.Event()

        @tool(timeout=AMPLE)
        async def work() -> str:
            """
            Refuse.
            """
            began.set()
            try:
                await asyncio.sleep(HANGS_AFTER)
            except asyncio.CancelledError:
                told.set()
                await asyncio.sleep(HANGS_AFTER)
            return "done"

        client = ToolClient([work])
        task = asyncio.ensure_future(client.ainvoke("work"))
        await began.wait()
        task.cancel()
        await told.wait()
        task.cancel()

        assert await cancelled(task)
        assert ["work"] == [left.name for left in client.abandoned]

    @pytest.mark.slow
    @PLACES
    async def test_in_the_grace_after_a_timeout_it_surfaces_too(
        self, options, listener
    ):
        """
        R20: the body is sent one cancellation, not one for each reason.
        """
        told = []
        seen, release = asyncio.Event(), Future()
        loop = asyncio.get_running_loop()

        @tool(**{**options, "timeout": 0.5})
        async def work() -> str:
            """
            Count how often it is told to end.
            """
            try:
                await asyncio.sleep(HANGS_AFTER)
            except asyncio.CancelledError:
                told.append(1)
                loop.call_soon_threadsafe(seen.set)
                await asyncio.wrap_future(release)
            return "done"

        client = ToolClient([work], hooks=[listener])
        task = asyncio.ensure_future(client.ainvoke("work"))
        await seen.wait()
        task.cancel()
        was_cancelled = await cancelled(task)
        release.set_result(None)
        await asyncio.to_thread(listener.wait_for, LateFinish)

        assert ([1], True) == (told, was_cancelled)
        assert ["done"] == [late.value for late in listener.of(LateFinish)]

    @pytest.mark.parametrize(
        "options", [{"timeout": AMPLE}, {"isolation": "thread"}], ids=str
    )
    async def test_a_call_that_is_thrown_away_cancels_its_body(self, options):
        """
        Trap 6: a coroutine that is closed is a caller that is gone.
        """
        stage = Stage(**options)
        call = ToolClient([stage.tool]).ainvoke("work")
        call.send(None)
        await stage.began.wait()
        call.close()
        await stage.over.wait()

        assert ["cancelled"] == stage.ended
