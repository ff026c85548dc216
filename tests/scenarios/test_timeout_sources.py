"""
Whose limit a call runs under: the tool's, else the engine's, else the batch's, else none.
"""

from __future__ import annotations

import asyncio
import functools
import math

from datetime import timedelta

import pytest

from fronts import call, call_batch
from ordering import HANGS_AFTER
from tooldecl import (
    DeclarationError,
    ToolCall,
    ToolClient,
    ToolContext,
    ToolResult,
    tool,
)
from tooldecl.engines import SequentialEngine


TIMEOUT = 0.05
AMPLE = 60


def declared(timeout=..., *, name="work", hangs=True):
    """
    Declare a tool that hangs until cancelled, or one that returns at once.
    """
    options = {} if timeout is ... else {"timeout": timeout}

    @tool(name=name, **options)
    async def work(ctx: ToolContext) -> float | None:
        """
        Work.
        """
        if hangs:
            await asyncio.sleep(HANGS_AFTER)
        return ctx.remaining()

    return work


def outcome(result: ToolResult) -> tuple[str, object]:
    """
    Return how a call ended and, after a timeout, by whose limit.
    """
    source = getattr(result.error, "source", None)

    return result.status.value, (source and (source, result.error.timeout))


class TestPrecedence:
    """
    By source, never by size.
    """

    def test_the_declared_limit_beats_a_wider_one_of_the_engine(self, front):
        """
        TMO-12, R04: the tighter limit applies because it is the tool's own.
        """
        client = ToolClient([declared(TIMEOUT)], engine=SequentialEngine(timeout=AMPLE))
        result = call(front, client, "work")

        assert ("timeout", ("declared", TIMEOUT)) == outcome(result)
        assert "within 0.05 s, the limit declared on it." in result.content

    def test_the_declared_limit_beats_a_tighter_one_of_the_engine(self, front):
        """
        TMO-11: an engine's second does not cut a tool that declares an hour.
        """
        engine = SequentialEngine(timeout=1e-6)
        client = ToolClient([declared(AMPLE, hangs=False)], engine=engine)
        result = call(front, client, "work")

        assert AMPLE - HANGS_AFTER < result.unwrap() <= AMPLE

    def test_the_engines_limit_applies_where_nothing_is_declared(self, front):
        """
        TMO-13, R09: the text says whose limit it was.
        """
        client = ToolClient([declared()], engine=SequentialEngine(timeout=TIMEOUT))
        result = call(front, client, "work")

        assert ("timeout", ("engine", TIMEOUT)) == outcome(result)
        assert "within 0.05 s, the engine's limit." in result.content

    def test_declared_none_beats_the_engine(self, front):
        """
        TMO-20: "no limit" is a declaration, not a gap to be filled.
        """
        engine = SequentialEngine(timeout=1e-6)
        client = ToolClient([declared(None, hangs=False)], engine=engine)
        result = call(front, client, "work")

        assert ("ok", None) == (result.status, result.value)

    def test_without_any_limit_there_is_no_deadline(self, front):
        """
        TMO-08, TMO-14, TMO-21: the library has no opinion on how long is too long.
        """
        result = call(front, ToolClient([declared(hangs=False)]), "work")

        assert ("ok", None) == (result.status, result.value)

    def test_each_call_of_a_batch_has_its_own_limit(self, front):
        """
        TMO-17, TMO-18, TMO-19, R03: the stuck call becomes an error, its siblings keep
        their results.
        """
        tools = [
            declared(name="hangs"),
            declared(None, name="free", hangs=False),
            declared(TIMEOUT / 2, name="tighter"),
            declared(AMPLE, name="wider", hangs=False),
        ]
        client = ToolClient(tools, engine=SequentialEngine(timeout=TIMEOUT))
        calls = [ToolCall(name) for name in ("hangs", "free", "tighter", "wider")]
        results = call_batch(front, client, calls)

        assert [
            ("timeout", ("engine", TIMEOUT)),
            ("ok", None),
            ("timeout", ("declared", TIMEOUT / 2)),
            ("ok", None),
        ] == [outcome(result) for result in results]

    def test_a_limit_survives_every_way_to_hand_the_tool_on(self, front):
        """
        R04: it is read from the declaration, whatever is wrapped around it since.
        """

        class Shop:
            @tool(timeout=TIMEOUT)
            async def work(self, item: str) -> str:
                """
                Work.
                """
                await asyncio.sleep(HANGS_AFTER)
                return item

        @functools.wraps(Shop.work)
        def wrapped(self, item: str):
            return Shop.work(self, item)

        handles = [
            Shop().work,
            functools.partial(Shop().work, item="x"),
            functools.partial(wrapped, Shop(), "x"),
        ]
        results = [
            call(front, ToolClient([handle]), "work", arguments)
            for handle, arguments in zip(handles, [{"item": "x"}, {}, {}], strict=True)
        ]

        assert [("timeout", ("declared", TIMEOUT))] * 3 == [*map(outcome, results)]

    def test_a_client_inside_of_a_tool_has_its_own_default(self, front):
        """
        TMO-26: an engine's limit is an argument of its own calls, never in the air.
        """
        inner = ToolClient([declared(name="inner", hangs=False)])

        @tool
        def outer(ctx: ToolContext) -> list:
            """
            Call another client.
            """
            return [ctx.remaining() is None, inner.invoke("inner").value]

        client = ToolClient([outer], engine=SequentialEngine(timeout=AMPLE))

        assert [False, None] == call(front, client, "outer").value

    def test_an_engine_default_reaches_no_further_than_its_batch(self, front):
        """
        TMO-26: what runs under an engine's limit leaves none behind.
        """
        timed = ToolClient(
            [declared(hangs=False)], engine=SequentialEngine(timeout=AMPLE)
        )
        free = ToolClient([declared(hangs=False)])
        call_batch(front, timed, [ToolCall("work")])

        assert None is call(front, free, "work").value


class TestPromisesThatCannotBeKept:
    """
    A limit is enforced or refused, never ignored.
    """

    @pytest.mark.parametrize(
        "timeout", [0, -1, True, "5", math.nan, math.inf, timedelta(0)], ids=repr
    )
    def test_what_is_no_number_of_seconds_is_refused(self, timeout):
        """
        R09: at the declaration, naming the tool and the value.
        """
        with pytest.raises(DeclarationError) as caught:
            declared(timeout)
        message = str(caught.value)

        assert "declared.<locals>.work: timeout takes seconds above 0" in message
        assert message.endswith(f"got {timeout!r}.")

    def test_inline_takes_no_limit_of_its_own(self):
        """
        TMO-09, R05, row 5: nobody could stop waiting for what runs on one's own thread.
        """

        @tool(timeout=1, isolation="inline")
        def work() -> str:
            """
            Work.
            """
            return "done"

        with pytest.raises(DeclarationError) as caught:
            ToolClient([work])

        assert "runs inline, where its timeout of 1 s cannot be enforced" in str(
            caught.value
        )

    def test_inline_takes_no_limit_of_the_engine(self, front):
        """
        TMO-09, TMO-10, R05, row 5: refused when the client is built, unless the tool
        says that it wants none.
        """

        @tool(isolation="inline")
        def work() -> str:
            """
            Work.
            """
            return "done"

        @tool(name="work", isolation="inline", timeout=None)
        def free() -> str:
            """
            Work.
            """
            return "done"

        engine = SequentialEngine(timeout=1)
        with pytest.raises(DeclarationError) as caught:
            ToolClient([work], engine=engine)

        assert "where the engine's timeout of 1 s cannot be enforced" in str(
            caught.value
        )
        assert "done" == call(front, ToolClient([work]), "work").value
        assert "done" == call(front, ToolClient([free], engine=engine), "work").value
