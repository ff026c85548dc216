"""
A loop whose model fails, returns nonsense or is of one colour; and what ends a loop raw.
"""

from __future__ import annotations

import asyncio

import pytest

from scenarios.adding_loops import RUNS, add, adding, check, run
from tooldecl import (
    ToolCall,
    ToolClient,
    ToolLoop,
    Turn,
    tool,
)
from tooldecl.exceptions import (
    EngineClosedError,
    ModelFailedError,
)
from tooldecl.testing import RecordingHook, ScriptedModel


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

    class Nonsense:
        def respond(self, request):
            return nonsense

        async def arespond(self, request):
            return nonsense

    loop = ToolLoop(ToolClient([]), Nonsense())
    with pytest.raises(ModelFailedError) as caught:
        loop.run("Hi") if front == "sync" else asyncio.run(loop.arun("Hi"))

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
