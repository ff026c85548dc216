"""
Closing a client: once, twice, from anywhere, while bodies run, or never.
"""

from __future__ import annotations

import asyncio
import gc
import threading

import pytest

from ordering import HANGS_AFTER
from scenarios.loop_threads import loop_threads, thread_of, where
from tooldecl import ToolCall, ToolClient, tool
from tooldecl.exceptions import EngineClosedError


CLOSED = "This ToolClient is closed and takes no more calls."


@tool
def add(x: int, y: int) -> int:
    """
    Add.
    """
    return x + y


class TestAfterwards:
    """
    A closed client takes no calls and leaves nothing.
    """

    @pytest.mark.parametrize(
        "use",
        [
            lambda client: client.invoke("add", {"x": 1, "y": 2}),
            lambda client: client.invoke_json("{}"),
            lambda client: client.invoke_batch([ToolCall("add")]),
            lambda client: asyncio.run(client.ainvoke("add", {"x": 1, "y": 2})),
            lambda client: asyncio.run(client.ainvoke_json("{}")),
            lambda client: asyncio.run(client.ainvoke_batch([ToolCall("add")])),
            lambda client: client.without("where"),
        ],
        ids=["one", "json", "batch", "aone", "ajson", "abatch", "derived"],
    )
    def test_every_door_is_shut(self, use):
        """
        ENG-09: a programmer's mistake is an exception, not a result for the model.
        """
        client = ToolClient([add, where])
        with client:
            pass
        with pytest.raises(EngineClosedError) as caught:
            use(client)

        assert CLOSED == str(caught.value)

    def test_it_may_be_closed_twice(self):
        """
        ENG-09: whoever cleans up need not know who did so before.
        """
        client = ToolClient([where])
        thread = thread_of(client)
        client.close()
        client.close()
        thread.join(HANGS_AFTER)

        assert not thread.is_alive()
        assert "<ToolClient of 1 tools, closed>" == repr(client)

    async def test_it_may_be_closed_twice_from_a_loop(self):
        """
        ENG-09: the same awaited.
        """
        client = ToolClient([where])
        thread = thread_of(client)
        async with client:
            pass
        await client.aclose()
        await asyncio.to_thread(thread.join, HANGS_AFTER)

        assert not thread.is_alive()

    def test_a_client_that_was_never_used_has_nothing_to_close(self):
        """
        Its loop is made on first need only.
        """
        before = loop_threads()
        with ToolClient([add, where]) as client:
            client.invoke("add", {"x": 1, "y": 2})

        assert before == loop_threads()

    def test_a_derived_client_goes_on(self):
        """
        It is another client, with a loop of its own.
        """
        client = ToolClient([add, where])
        with client.without("add") as other:
            client.close()

            assert "ok" == other.invoke("where").status

    def test_a_client_that_is_never_closed_ends_its_loop_when_it_is_collected(self):
        """
        R16: closing is good manners, not a duty.
        """
        client = ToolClient([where])
        thread = thread_of(client)
        del client
        gc.collect()
        thread.join(HANGS_AFTER)

        assert not thread.is_alive()

    def test_what_a_tool_left_on_the_loop_is_cancelled(self):
        """
        The loop was the client's, so nothing of it goes on.
        """
        ended = threading.Event()

        async def background():
            try:
                await asyncio.sleep(HANGS_AFTER)
            finally:
                ended.set()

        kept = []

        @tool
        async def work() -> str:
            """
            Leave a task.
            """
            kept.append(asyncio.ensure_future(background()))
            await asyncio.sleep(0)
            return "done"

        with ToolClient([work]) as client:
            client.invoke("work")

        assert ended.is_set()
