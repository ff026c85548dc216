"""
The transcript of a loop: every call id has its one answer, whatever a model sends.
"""

from __future__ import annotations

import asyncio

import pytest

from scenarios.adding_loops import RUNS, add, adding, boom, check, run
from tooldecl import (
    ToolCall,
    ToolClient,
    ToolLoop,
    Turn,
    tool,
)


def test_a_turn_that_was_cut_off_runs_none_of_its_calls(front):
    """
    R70: the last call parses by luck; none of them is run, each is told why, and the
    model gets another turn.
    """
    cut = Turn(text="I will", calls=[adding(1, 2), adding(3, 4)], truncated=True)
    result, _ = run(front, [cut, Turn(calls=[adding(1, 2)]), Turn(text="3")])
    check(result.messages)

    assert (["not_run", "not_run", "ok"], [(1, 2)], "answer", 3) == (
        [r.status for r in result.results],
        RUNS,
        result.stop_reason,
        result.turns,
    )
    assert (
        "Tool 'add' was not run: the response was cut off by its length limit, so none "
        "of its calls was run; send them again, smaller." == result.results[0].content
    )


def test_an_unknown_tool_does_not_end_the_run(front):
    """
    R124, RES-07: the model corrects itself; both calls have their answer.
    """
    script = [
        Turn(calls=[ToolCall("ad", {"a": 1, "b": 2})]),
        Turn(calls=[adding(1, 2)]),
        Turn(text="3"),
    ]
    result, _ = run(front, script)
    check(result.messages)

    assert (["unknown_tool", "ok"], "3") == (
        [r.status for r in result.results],
        result.text,
    )


def test_the_right_name_is_near_in_a_client_of_many(front):
    """
    R125: two hundred tools and a name that is one letter off.
    """

    def numbered(n):
        @tool(name=f"look_up_{n:03d}_in_the_catalogue")
        def look_up() -> int:
            """Look something up."""
            return n

        return look_up

    client = ToolClient([numbered(n) for n in range(200)])
    script = [Turn(calls=[ToolCall("look_up_117_in_the_catalog")]), Turn(text="?")]
    result, _ = run(front, script, client=client)
    [answer] = result.results

    assert (True, True) == (
        "'look_up_117_in_the_catalogue'" in answer.content,
        len(answer.content) < 1000,
    )


def test_ids_are_unique_in_a_run_of_many_turns(front):
    """
    R57: a model that counts from zero in every turn.
    """
    script = [Turn(calls=[adding(n, 0, "0"), adding(n, 1, "0")]) for n in range(3)]
    result, _ = run(front, [*script, Turn(text="done")])
    check(result.messages)

    assert (6, ["0"] * 5) == (
        len({r.call_id for r in result.results}),
        [r.original_id for r in result.results][1:],
    )
    assert (("0", None), [0, 1, 1, 2, 2, 3]) == (
        (result.results[0].call_id, result.results[0].original_id),
        [r.value for r in result.results],
    )


def test_every_kind_of_call_leaves_a_valid_transcript(front, gate):
    """
    R54, R68, R111: nonsense in, valid messages out.
    """

    @tool(timeout=0.02)
    def stuck() -> None:
        """Hang."""
        gate.pass_through()

    @tool
    def strange() -> object:
        """Return what cannot be sent."""
        return object()

    client = ToolClient([add, boom, stuck, strange])
    calls = [
        adding(1, 2, "a"),
        adding("1", 2, "a"),
        ToolCall("boom"),
        ToolCall("stuck", "", ""),
        ToolCall("strange", None, None),
        ToolCall("nothing", None, 5),
        ToolCall("nothing", {"x": float("nan")}),
        ToolCall("add", '{"a": 1, "b": "\t"}'),
        ToolCall("add", b"\xff"),
        ToolCall(None, {1, 2}),
    ]
    result, _ = run(front, [Turn(calls=calls), Turn(text="done")], client=client)
    check(result.messages)

    assert [
        "ok",
        "invalid",
        "tool_error",
        "timeout",
        "unencodable",
        "unknown_tool",
        "invalid",
        "invalid",
        "invalid",
        "invalid",
    ] == [r.status for r in result.results]


def test_the_conversation_that_was_given_is_copied(front):
    """
    R148: a list that is emptied in the middle of a run, and a model that writes into what
    it is shown.
    """
    given = [{"role": "user", "content": "Hi"}]

    class Rude:
        def respond(self, request):
            given.clear()
            request.messages.clear()
            request.tools.clear()
            return Turn(text="Bye")

        async def arespond(self, request):
            return self.respond(request)

    loop = ToolLoop(ToolClient([add]), Rude())
    result = loop.run(given) if front == "sync" else asyncio.run(loop.arun(given))

    assert ([], ["Hi", "Bye"], ["add"]) == (
        given,
        [m["content"] for m in result.messages],
        list(ToolClient([add]).table),
    )


def test_a_malformed_conversation_is_refused_before_the_model_is_asked(front):
    """
    SPEC 9: a call without an answer would be refused by every provider.
    """
    open_call = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "a", "name": "add", "arguments": {}}],
    }
    with pytest.raises(ValueError) as caught:
        run(front, [Turn(text="x")], [open_call])

    assert "The calls 'a' have no answer." == str(caught.value)


def test_arguments_of_any_depth_do_not_end_the_run(front):
    """
    R68, R111: a model that nests without end is refused, and the next turn comes, though
    the conversation is copied for it.
    """
    deep = {}
    for _ in range(900):
        deep = {"a": deep}
    result, _ = run(front, [Turn(calls=[ToolCall("add", deep)]), Turn(text="Sorry.")])
    check(result.messages)

    assert (["invalid"], "Sorry.") == ([r.status for r in result.results], result.text)
