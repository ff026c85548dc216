"""
Generators are consumed under the deadline of their call, and closed at it.
"""

from __future__ import annotations

import asyncio
import itertools
import types

import pytest

from fronts import call
from ordering import HANGS_AFTER
from tooldecl import ToolClient, tool
from tooldecl.telemetry import LateFinish


TIMEOUT = 0.2
AMPLE = 60

LIMITS = pytest.mark.parametrize("timeout", [None, AMPLE], ids=["free", "timed"])
PLACES = pytest.mark.parametrize(
    "place", [{}, {"isolation": "thread"}], ids=["task", "private loop"]
)


async def words():
    """
    Yield words, with a wait between them.
    """
    yield "a"
    await asyncio.sleep(0)
    yield "b"


@types.coroutine
def old_style():
    """
    Wait as coroutines did before ``async``.
    """
    yield from asyncio.sleep(0).__await__()
    return "ab"


class TestWithinTheLimit:
    """
    What a generator yields in time is the value.
    """

    @LIMITS
    def test_a_sync_generator(self, front, timeout):
        """
        R154: it runs where the body runs, so its own pauses are timed as well.
        """

        @tool(timeout=timeout)
        def work() -> str:
            """
            Yield.
            """
            yield "a"
            yield "b"

        assert "ab" == call(front, ToolClient([work]), "work").value

    @pytest.mark.parametrize(
        ("items", "value"),
        [([], []), (["a", "b"], "ab"), (["a", 1], ["a", 1]), ([1, 2], [1, 2])],
        ids=str,
    )
    @pytest.mark.parametrize("kind", ["sync", "async", "awaited"])
    def test_text_is_joined_and_anything_else_is_a_list(
        self, front, items, value, kind
    ):
        """
        R154: whichever way the items come.
        """

        def work() -> object:
            """
            Yield.
            """
            yield from items

        async def awork() -> object:
            """
            Yield.
            """
            for item in items:
                yield item

        async def later() -> object:
            """
            Return a generator.
            """
            return work()

        function = {"sync": work, "async": awork, "awaited": later}[kind]
        client = ToolClient([tool(name="work")(function)])

        assert value == call(front, client, "work").value

    @LIMITS
    @PLACES
    def test_an_async_generator(self, front, timeout, place):
        """
        R154: the same on a loop.
        """

        @tool(timeout=timeout, **place)
        async def work() -> str:
            """
            Yield.
            """
            async for word in words():
                yield word

        assert "ab" == call(front, ToolClient([work]), "work").value

    @LIMITS
    @pytest.mark.parametrize("made", [words, old_style], ids=lambda f: f.__name__)
    def test_what_a_sync_tool_returns_and_only_a_loop_can_run(
        self, front, timeout, made
    ):
        """
        R150, R154: what comes back decides, not how the function was written.
        """

        @tool(timeout=timeout)
        def work() -> str:
            """
            Return it.
            """
            return made()

        assert "ab" == call(front, ToolClient([work]), "work").value


class TestAtTheDeadline:
    """
    An endless generator is closed, so that it ends.
    """

    def test_a_sync_generator_ends_at_its_next_item(self, front, gate, listener):
        """
        Nothing can stop a thread, but between two items the body is ours.
        """
        closed = []

        @tool(timeout=TIMEOUT)
        def work() -> str:
            """
            Yield for ever.
            """
            try:
                for number in itertools.count():
                    yield str(number)
                    gate.pass_through()
            finally:
                closed.append(True)

        client = ToolClient([work], hooks=[listener])
        result = call(front, client, "work")
        before = list(closed)
        gate.open()
        late = listener.wait_for(LateFinish)[0]

        assert ("timeout", "abandoned") == (result.status, result.fate)
        assert ([], [True]) == (before, closed)
        assert ("BodyStopped", None) == (type(late.error).__name__, late.value)

    @PLACES
    @pytest.mark.parametrize("pause", [0, None], ids=["waits", "never waits"])
    def test_an_async_generator_is_stopped(self, front, place, pause):
        """
        One that never waits would hold its loop for ever, timers and all; it is stopped
        at the first item after its deadline.
        """
        closed = []

        @tool(timeout=TIMEOUT, **place)
        async def work() -> str:
            """
            Yield for ever.
            """
            try:
                for number in itertools.count():
                    if pause is not None:
                        await asyncio.sleep(pause)
                    yield str(number)
            finally:
                closed.append(True)

        result = call(front, ToolClient([work]), "work")

        assert ("timeout", "stopped") == (result.status, result.fate)
        assert [True] == closed

    def test_an_async_generator_that_waits_for_ever_is_stopped(self, front):
        """
        The deadline reaches it between two items too.
        """

        @tool(timeout=TIMEOUT)
        async def work() -> str:
            """
            Yield once.
            """
            yield "a"
            await asyncio.sleep(HANGS_AFTER)

        result = call(front, ToolClient([work]), "work")

        assert ("timeout", "stopped") == (result.status, result.fate)

    def test_a_limit_on_the_text_ends_it_earlier(self, front):
        """
        An endless generator without a deadline is ended by the size of what it yields.
        """
        closed = []

        @tool(result_limit=10)
        def work() -> str:
            """
            Yield for ever.
            """
            try:
                yield from itertools.repeat("word")
            finally:
                closed.append(True)

        result = call(front, ToolClient([work]), "work")

        assert ("too_large", "completed") == (result.status, result.fate)
        assert [True] == closed
