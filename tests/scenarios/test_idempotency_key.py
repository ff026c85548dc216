"""
A key for whoever has to tell a repetition from another request.
"""

from __future__ import annotations

from fronts import call, call_batch
from tooldecl import (
    Retry,
    ToolCall,
    ToolClient,
    ToolContext,
    tool,
)


class TestIdempotencyKey:
    """
    A key for whoever has to tell a repetition from another request.
    """

    def test_it_is_the_same_in_every_attempt(self, front):
        """
        R28: the body sends it along, and the far side sees that it is the same action.
        """
        keys = []

        @tool(retry=Retry(attempts=3, delay=0))
        def work(x: int, ctx: ToolContext) -> str:
            """
            Fail.
            """
            keys.append(ctx.idempotency_key)
            raise ConnectionError

        call(front, ToolClient([work]), "work", {"x": 1})

        assert 3 == len(keys)
        assert 1 == len(set(keys))

    def test_it_is_another_in_every_call(self, front):
        """
        R28: two equal calls are two actions; the model's id has no say in it.
        """

        @tool
        def work(x: int, ctx: ToolContext) -> str:
            """
            Say the key.
            """
            return ctx.idempotency_key

        client = ToolClient([work])
        singles = [
            call(front, client, "work", {"x": 1}, call_id="same").value
            for _ in range(2)
        ]
        calls = [ToolCall("work", {"x": 1}, "same") for _ in range(2)]
        batch = [result.value for result in call_batch(front, client, calls)]

        assert 4 == len({*singles, *batch})
        assert {32} == {len(key) for key in [*singles, *batch]}
