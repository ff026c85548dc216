"""
The tool loop: model, calls, results, model, until an answer; always with a valid transcript.
"""

from __future__ import annotations

import asyncio
import json

import pytest

from tooldecl import (
    Retry,
    ToolCall,
    ToolClient,
    ToolContext,
    ToolError,
    ToolLoop,
    Turn,
    tool,
)
from tooldecl.exceptions import (
    BatchFailedError,
    DeclarationError,
    EngineClosedError,
    ModelFailedError,
)
from tooldecl.testing import RecordingHook, ScriptedModel


RUNS = []


@pytest.fixture(autouse=True)
def _no_runs():
    RUNS.clear()


@tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    RUNS.append((a, b))

    return a + b


@tool
def boom() -> None:
    """Fail."""
    RUNS.append("boom")
    raise ValueError("no")


@tool(return_direct=True)
def direct(word: str) -> str:
    """Answer directly."""
    RUNS.append(word)
    if word == "fail":
        raise ToolError("No.")

    return word


def adding(a, b, call_id=None):
    """
    Make a call of the adder.
    """
    return ToolCall("add", {"a": a, "b": b}, call_id)


def saying(word):
    """
    Make a call of the direct tool.
    """
    return ToolCall("direct", {"word": word})


def run(front, script, messages="Hi", *, client=None, **options):
    """
    Run a loop of a scripted model by either front; return its result and the model.
    """
    model = ScriptedModel(script)
    loop = ToolLoop(client or ToolClient([add, boom, direct]), model, **options)
    if front == "sync":
        return loop.run(messages), model

    return asyncio.run(loop.arun(messages)), model


def check(messages):
    """
    Check what a strict provider checks: each call has one answer, right after its turn.
    """
    open_ids, seen = [], set()
    for message in json.loads(json.dumps(messages, allow_nan=False)):
        if message["role"] == "tool":
            open_ids.remove(message["tool_call_id"])
            assert message["content"]
            continue
        assert [] == open_ids
        open_ids = [call["id"] for call in message.get("tool_calls", ())]
        assert (len(open_ids), set()) == (len(set(open_ids)), seen & set(open_ids))
        seen |= set(open_ids)
    assert [] == open_ids


def test_a_run_from_a_question_to_an_answer(front):
    """
    SPEC 9: the model sees its calls and their results, and the tools; the result has the
    whole conversation.
    """
    script = [Turn(text="Let me see.", calls=[adding(1, 2, "c1")]), Turn(text="Three.")]
    result, model = run(front, script, "What is 1 + 2?")

    assert ("answer", "Three.", 2, [3]) == (
        result.stop_reason,
        result.text,
        result.turns,
        [r.value for r in result.results],
    )
    assert [
        {"role": "user", "content": "What is 1 + 2?"},
        {
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [{"id": "c1", "name": "add", "arguments": {"a": 1, "b": 2}}],
        },
        {
            "role": "tool",
            "tool_call_id": "c1",
            "name": "add",
            "content": "3",
            "status": "ok",
        },
        {"role": "assistant", "content": "Three."},
    ] == result.messages
    assert [result.messages[:1], result.messages[:3]] == [
        request.messages for request in model.requests
    ]
    assert [["add", "boom", "direct"]] * 2 == [
        [t["name"] for t in request.tools] for request in model.requests
    ]


def test_both_fronts_give_equal_runs():
    """
    SPEC 9: one generator drives both, so nothing can be forgotten in one of them.
    """
    script = [
        Turn(calls=[adding(1, 2, "a"), ToolCall("boom", None, "b")]),
        Turn(text="x"),
    ]
    runs = [run(front, script) for front in ("sync", "async")]

    assert runs[0][0].messages == runs[1][0].messages
    assert runs[0][1].requests == runs[1][1].requests


def test_it_ends_after_the_last_turn_allowed(front):
    """
    LOOP-01: a model that always asks for one more; every call that was asked for is run
    and answered, and the reason says why it ended.
    """
    script = [Turn(calls=[adding(n, n)]) for n in range(9)]
    result, model = run(front, script, max_turns=3)
    check(result.messages)

    assert ("max_turns", "", 3, 3, 3) == (
        result.stop_reason,
        result.text,
        result.turns,
        len(result.results),
        len(model.requests),
    )


@pytest.mark.parametrize("turns", [-1, 0, True, 1.5, "3", None])
def test_a_number_of_turns_that_is_none_is_refused(turns):
    """
    LOOP-02, VAL-07: at once, and no model is asked.
    """
    with pytest.raises(DeclarationError) as caught:
        ToolLoop(ToolClient([]), ScriptedModel([]), max_turns=turns)

    assert (
        f"ToolLoop(max_turns=...) takes a whole number from 1, got {turns!r}."
        == str(caught.value)
    )


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"client": 5}, "ToolLoop takes a ToolClient, got 5."),
        ({"eligible": 5}, "ToolLoop(eligible=...) takes a predicate, got 5."),
        ({"failures": "ignore"}, "failures takes 'return' or 'raise', got 'ignore'."),
    ],
)
def test_an_odd_option_is_refused(options, text):
    """
    VAL-07: a mistake of the program shows when the loop is made.
    """
    given = {"client": ToolClient([]), "model": ScriptedModel([])} | options
    with pytest.raises(DeclarationError) as caught:
        ToolLoop(given.pop("client"), given.pop("model"), **given)

    assert text == str(caught.value)


@pytest.mark.parametrize("option", ["budget", "on_environment_error", "max_steps"])
def test_an_option_of_a_later_version_is_pythons_own_error(option):
    """
    E-01: it is not accepted and then ignored.
    """
    with pytest.raises(TypeError):
        ToolLoop(ToolClient([]), ScriptedModel([]), **{option: None})


def test_a_turn_that_is_not_eligible_runs_nothing(front):
    """
    LOOP-03: the run is complete, the calls are answered as not run.
    """
    asked = []

    def eligible(turn):
        asked.append(turn.text)
        return False

    script = [Turn(text="I would.", calls=[adding(1, 2)])]
    result, _ = run(front, script, eligible=eligible)
    check(result.messages)

    assert ("answer", "I would.", ["I would."], []) == (
        result.stop_reason,
        result.text,
        asked,
        RUNS,
    )
    assert [("not_run", "not_started")] == [(r.status, r.fate) for r in result.results]
    assert (
        "Tool 'add' was not run: the host does not let this turn run tools."
        == (result.messages[-1]["content"])
    )


def test_eligibility_is_asked_about_turns_with_calls_only(front):
    """
    LOOP-03: an answer needs no permission, and a turn that is eligible is run.
    """
    asked = []

    def eligible(turn):
        asked.append(len(turn.calls))
        return True

    run(front, [Turn(calls=[adding(1, 2)]), Turn(text="3")], eligible=eligible)

    assert ([1], [(1, 2)]) == (asked, RUNS)


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
    R124: the model corrects itself; both calls have their answer.
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


@pytest.mark.parametrize(
    ("calls", "reason", "text"),
    [
        ([saying("a")], "return_direct", "a"),
        ([saying("a"), saying("b")], "return_direct", "a\nb"),
        ([saying("a"), adding(1, 2)], "answer", "The model."),
        ([saying("fail")], "answer", "The model."),
        ([saying("a"), saying("fail")], "answer", "The model."),
        ([saying("a"), ToolCall("nothing")], "answer", "The model."),
        ([saying("a"), ToolCall("direct", {})], "answer", "The model."),
    ],
)
def test_results_are_the_answer_where_all_declare_it_and_all_succeed(
    front, calls, reason, text
):
    """
    RD-01, RD-03, RD-04, RD-06, RD-07, RD-08, E-19: else the model has the last word.
    """
    result, model = run(front, [Turn(calls=calls), Turn(text="The model.")])
    check(result.messages)

    assert (reason, text, 1 if reason == "return_direct" else 2) == (
        result.stop_reason,
        result.text,
        len(model.requests),
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


def test_a_loop_may_be_run_many_times(front):
    """
    SPEC 9: a run keeps nothing for the next one.
    """
    model = ScriptedModel([Turn(text="a"), Turn(text="b")])
    loop = ToolLoop(ToolClient([add]), model)
    first = loop.run("Hi") if front == "sync" else asyncio.run(loop.arun("Hi"))
    second = loop.run(first.messages)

    assert (["Hi", "a"], ["Hi", "a", "b"]) == (
        [m["content"] for m in first.messages],
        [m["content"] for m in second.messages],
    )


def test_a_model_that_raises_gives_back_the_conversation(front):
    """
    R30: resumed from there, nothing that has run is run again.
    """
    script = [Turn(calls=[adding(1, 2), ToolCall("boom")]), ConnectionError("no route")]
    with pytest.raises(ModelFailedError) as caught:
        run(front, script)
    error = caught.value
    check(error.messages)
    result, model = run(front, [Turn(text="Three.")], error.messages)

    assert ("The model failed: no route", ConnectionError, ["ok", "tool_error"]) == (
        str(error),
        type(error.__cause__),
        [r.status for r in error.results],
    )
    assert ([(1, 2), "boom"], "Three.", error.messages) == (
        RUNS,
        result.text,
        model.requests[0].messages,
    )


def test_a_script_that_is_over_says_so(front):
    """
    SPEC 9: a loop that asks once too often is found by its test.
    """
    with pytest.raises(ModelFailedError) as caught:
        run(front, [Turn(calls=[adding(1, 2)])])

    assert (
        "The model failed: The script of this model has 1 turns and it was asked for turn "
        "2." == str(caught.value)
    )


@pytest.mark.parametrize("nonsense", [None, "text", {"text": "x"}, Turn])
def test_a_model_that_returns_nonsense_has_failed(front, nonsense):
    """
    SPEC 9: what is no turn is not guessed at.
    """
    with pytest.raises(ModelFailedError) as caught:
        run(front, [nonsense])

    assert (
        f"The model failed: A model returns a Turn, got {type(nonsense).__name__}."
        == (str(caught.value))
    )


def test_a_model_of_one_colour_says_which_it_lacks():
    """
    SPEC 9: an async model under the sync front is closed, not forgotten with a warning.
    """

    class AsyncOnly:
        async def respond(self, request):
            return Turn(text="x")

    with pytest.raises(ModelFailedError) as caught:
        ToolLoop(ToolClient([]), AsyncOnly()).run("Hi")
    with pytest.raises(ModelFailedError) as other:
        asyncio.run(ToolLoop(ToolClient([]), AsyncOnly()).arun("Hi"))

    assert "The model failed: A model returns a Turn, got coroutine." == str(
        caught.value
    )
    assert "arespond" in str(other.value)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"text": None}, "Turn(text=...) takes a text, got NoneType."),
        ({"calls": ["add"]}, "Turn(calls=...) takes ToolCalls, got 'add'."),
    ],
)
def test_a_turn_that_is_none_is_refused_where_it_is_made(options, text):
    """
    SPEC 9: in the code that talks to the provider, where it can be mended.
    """
    with pytest.raises(TypeError) as caught:
        Turn(**options)

    assert text == str(caught.value)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError])
def test_what_means_stop_leaves_the_loop(front, kind):
    """
    FAT-06: from a tool and from a model alike.
    """

    @tool
    def stop() -> None:
        """Stop."""
        raise kind

    class Stopping:
        def respond(self, request):
            raise kind

        async def arespond(self, request):
            raise kind

    with pytest.raises(kind):
        run(front, [Turn(calls=[ToolCall("stop")])], client=ToolClient([stop]))
    loop = ToolLoop(ToolClient([]), Stopping())
    with pytest.raises(kind):
        loop.run("Hi") if front == "sync" else asyncio.run(loop.arun("Hi"))


def test_failures_can_end_the_run(front):
    """
    SPEC 9: with every result of the turn, once all of it has finished.
    """
    script = [Turn(calls=[ToolCall("boom"), adding(1, 2)])]
    with pytest.raises(BatchFailedError) as caught:
        run(front, script, failures="raise")

    assert (["tool_error", "ok"], ["boom", (1, 2)]) == (
        [r.status for r in caught.value.results],
        RUNS,
    )


def test_equal_calls_of_a_run_have_keys_of_their_own(front):
    """
    SPEC 4: a key tells two equal calls apart, and is the same in every attempt.
    """
    keys = []

    @tool(retry=Retry(attempts=2, delay=0))
    def order(ctx: ToolContext) -> str:
        """Order."""
        keys.append(ctx.idempotency_key)
        if ctx.attempt == 1:
            raise ConnectionError
        return "ordered"

    script = [Turn(calls=[ToolCall("order", None, "same")]) for _ in range(2)]
    run(front, [*script, Turn(text="x")], client=ToolClient([order]))

    assert (True, True, 2) == (keys[0] == keys[1], keys[2] == keys[3], len(set(keys)))


def test_state_is_carried_from_turn_to_turn(front):
    """
    SPEC 9: each turn is a batch, and reads what the one before has written.
    """

    @tool
    def count(ctx: ToolContext) -> int:
        """Count."""
        number = ctx.state.get("n", 0) + 1
        ctx.write("n", number)
        return number

    script = [Turn(calls=[ToolCall("count")] * 2), Turn(calls=[ToolCall("count")])]
    result, _ = run(front, [*script, Turn(text="x")], client=ToolClient([count]))

    assert [1, 1, 2] == [r.value for r in result.results]


def test_a_closed_client_ends_the_run(front):
    """
    SPEC 9: a mistake of the program, raised as it is.
    """
    client = ToolClient([add])
    client.close()
    with pytest.raises(EngineClosedError):
        run(front, [Turn(calls=[adding(1, 2)])], client=client)


async def test_a_cancelled_run_asks_the_model_no_more():
    """
    CAN-02: the running body gets its cancellation, and there is no further request.
    """
    started = asyncio.Event()

    @tool
    async def hang() -> None:
        """Wait for ever."""
        started.set()
        await asyncio.Event().wait()

    hook = RecordingHook()
    model = ScriptedModel([Turn(calls=[ToolCall("hang")]), Turn(text="x")])
    loop = ToolLoop(ToolClient([hang], hooks=[hook]), model)
    task = asyncio.create_task(loop.arun("Hi"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert 1 == len(model.requests)


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
