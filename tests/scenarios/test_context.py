"""
What a body knows of its call: the injected context, and nothing of other calls.
"""

from __future__ import annotations

import asyncio

import pytest

from fronts import call
from ordering import HANGS_AFTER
from tooldecl import (
    Retry,
    ToolClient,
    ToolContext,
    current_context,
    tool,
)
from tooldecl.engines import SequentialEngine
from tooldecl.telemetry import LateFinish, Progress


AMPLE = 60

LIMITS = pytest.mark.parametrize("timeout", [None, AMPLE], ids=["free", "timed"])


class TestWhatItSays:
    """
    The facts of this attempt of this call.
    """

    @LIMITS
    @pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
    def test_they_are_those_of_the_call(self, front, timeout, is_async):
        """
        The host finds its own object and id, the body its own name.
        """
        deps = object()

        def facts(ctx: ToolContext) -> list:
            """
            Say them.
            """
            assert ctx is current_context()
            return [
                ctx.call_id,
                ctx.tool,
                ctx.attempt,
                ctx.cancelled,
                ctx.deps is deps,
                dict(ctx.state),
                repr(ctx),
            ]

        async def afacts(ctx: ToolContext) -> list:
            """
            Say them.
            """
            await asyncio.sleep(0)
            return facts(ctx)

        function = afacts if is_async else facts
        client = ToolClient(
            [tool(name="facts", timeout=timeout)(function)], state={"a": 1}
        )
        result = call(front, client, "facts", call_id="mine", deps=deps)

        assert [
            "mine",
            "facts",
            1,
            False,
            True,
            {"a": 1},
            "<ToolContext of facts mine attempt 1>",
        ] == result.value
        assert None is current_context()

    @pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
    def test_a_deadline_is_there_where_a_limit_is(self, front, is_async):
        """
        A tool passes what is left on to its own requests.
        """

        def left(ctx: ToolContext) -> list:
            """
            Say what is left.
            """
            return [ctx.deadline is None, ctx.remaining()]

        async def aleft(ctx: ToolContext) -> list:
            """
            Say what is left.
            """
            return left(ctx)

        function = aleft if is_async else left
        tools = [
            tool(name="free")(function),
            tool(name="timed", timeout=AMPLE)(function),
            tool(name="unlimited", timeout=None)(function),
        ]
        bare = ToolClient(tools)
        engine = ToolClient(tools, engine=SequentialEngine(timeout=AMPLE))
        values = [
            call(front, client, name).value
            for client in (bare, engine)
            for name in ("free", "timed", "unlimited")
        ]

        assert [True, False, True, False, False, True] == [none for none, _ in values]
        assert all(0 < left <= AMPLE for none, left in values if not none)
        assert all(left is None for none, left in values if none)

    def test_past_the_deadline_nothing_is_left(self, front, gate, listener):
        """
        A body that was given up can see that it was, and stop by itself.
        """

        @tool(timeout=0.2)
        def work(ctx: ToolContext) -> list:
            """
            Say what is left before and after.
            """
            before = [ctx.cancelled, ctx.remaining() > 0]
            gate.pass_through()
            return [before, ctx.cancelled, ctx.remaining()]

        call(front, ToolClient([work], hooks=[listener]), "work")
        gate.open()
        [late] = listener.wait_for(LateFinish)

        assert [[False, True], True, 0.0] == late.value

    @pytest.mark.parametrize("place", [{}, {"isolation": "thread"}], ids=str)
    def test_a_body_that_is_cancelled_can_see_why(self, front, place, listener):
        """
        It is told before it is cancelled, and nobody hears of it from then on.
        """
        seen = []

        @tool(timeout=0.2, **place)
        async def work(ctx: ToolContext) -> str:
            """
            Look at the context on the way out.
            """
            try:
                await asyncio.sleep(HANGS_AFTER)
            finally:
                seen.append([ctx.cancelled, ctx.remaining()])
                ctx.progress(1)
            return "late"

        call(front, ToolClient([work], hooks=[listener]), "work")

        assert [[True, 0.0]] == seen
        assert [] == listener.of(Progress)

    def test_the_previous_error_is_there_in_the_next_attempt(self, front):
        """
        RTY-11: a body may do better the second time when it knows what happened.
        """
        error = ConnectionError("first")
        seen = []

        @tool(retry=Retry(attempts=2, delay=0))
        def work(ctx: ToolContext) -> str:
            """
            Fail once.
            """
            seen.append([ctx.attempt, ctx.previous_error])
            if ctx.attempt == 1:
                raise error
            return "done"

        call(front, ToolClient([work]), "work")

        assert [[1, None], [2, error]] == seen

    def test_each_call_has_its_own_and_cannot_reach_its_siblings(self, front):
        """
        R110: what the host gives to one call another cannot read.
        """
        seen = []

        @tool
        def keep(ctx: ToolContext) -> str:
            """
            Keep the context beyond the call.
            """
            seen.append(ctx)
            return ctx.deps["key"]

        client = ToolClient([keep])
        values = [call(front, client, "keep", deps={"key": k}).value for k in "ab"]

        assert ["a", "b"] == values
        assert [{"key": "a"}, {"key": "b"}] == [ctx.deps for ctx in seen]
        assert not hasattr(seen[0], "client")

    def test_a_nested_call_has_its_own_and_gives_the_outer_one_back(self, front):
        """
        R110: `current_context` names the body that runs here, whichever calls which.
        """

        @tool
        def inner() -> str:
            """
            Name the running tool.
            """
            return current_context().tool

        client = ToolClient([inner])

        @tool
        def outer() -> list:
            """
            Name the running tool before, within and after.
            """
            here = current_context().tool
            return [here, client.invoke("inner").value, current_context().tool]

        names = call(front, client.adding(outer), "outer").value

        assert ["outer", "inner", "outer"] == names

    @pytest.mark.parametrize("front", ["sync", "async"])
    def test_progress_is_told_with_the_calls_name(self, front, listener):
        """
        A host shows how far a tool is.
        """

        @tool
        def work(ctx: ToolContext) -> str:
            """
            Say how far it is.
            """
            ctx.progress(1, 2, "half")
            return "done"

        call(front, ToolClient([work], hooks=[listener]), "work", call_id="mine")
        [event] = listener.of(Progress)

        assert ("mine", "work", 1, 2, "half") == (
            event.call_id,
            event.name,
            event.done,
            event.total,
            event.message,
        )
