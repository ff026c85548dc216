"""
What a first attack on the library broke, and must not break again.
"""

from __future__ import annotations

import asyncio
import json

import pytest

from scripts import ended, start
from tooldecl import (
    ModelRequest,
    ToolCall,
    ToolClient,
    ToolLoop,
    Turn,
    tool,
)
from tooldecl.telemetry import CallFinished
from tooldecl.testing import FakeClock, ScriptedModel


@tool
def echo(text: str) -> str:
    """
    Return a text.
    """
    return text


@pytest.mark.parametrize("front", ["invoke_batch", "ainvoke_batch"])
def test_no_body_starts_after_the_batch_is_over(front):
    """
    A filter may use up the batch's time; what had not begun then never does.
    """
    clock, ran = FakeClock(), []

    @tool
    def work() -> int:
        """
        Work.
        """
        ran.append(1)
        return 1

    def slow(request):
        clock.advance(5)
        result = yield request
        return result

    client = ToolClient([work], filters=[slow], clock=clock)
    answer = getattr(client, front)([ToolCall("work")] * 2, within=1)
    results = asyncio.run(answer) if front.startswith("a") else answer

    assert (["not_run", "not_run"], []) == ([r.status for r in results], ran)


@pytest.mark.parametrize(
    "raised", [SystemExit(3), asyncio.CancelledError(), GeneratorExit()]
)
def test_a_hook_cannot_end_the_host(raised):
    """
    R131: a watcher changes nothing, whatever it raises.
    """

    def hook(event):
        if isinstance(event, CallFinished):
            raise raised

    client = ToolClient([echo], hooks=[hook])

    assert "ok" == client.invoke("echo", {"text": "x"}).status


def test_threads_of_a_stopped_body_do_not_hold_the_exit():
    """
    R15: what a body handed to ``asyncio.to_thread`` runs on, and nobody waits for it.
    """
    script = start(
        """
        @tool(timeout=0.2)
        async def work() -> int:
            "Work."
            await asyncio.to_thread(threading.Event().wait)

        with ToolClient([work]) as client:
            print(client.invoke("work").fate)
        """
    )

    assert (0, "stopped\n", "") == ended(script)


def test_whoever_prints_at_the_exit_is_heard():
    """
    An abandoned body must not cost the host what its own exit handlers say.
    """
    script = start(
        """
        import atexit
        atexit.register(print, "bye")
        import tooldecl.testing

        @tool(timeout=0.2)
        def work() -> int:
            "Work."
            threading.Event().wait()

        print(ToolClient([work]).invoke("work").fate)
        """,
    )
    code, out, err = ended(script)

    assert (0, "abandoned\nbye\n", "") == (code, out, err)


HALF = "\ud83d"


@pytest.mark.parametrize(
    "turn",
    [
        Turn(HALF, [ToolCall("echo", {"text": "x"}, "1")]),
        Turn("", [ToolCall(HALF, {}, "1")]),
        Turn("", [ToolCall("echo", {"text": HALF}, "1")]),
        Turn("", [ToolCall("echo", f'{{"text": "{HALF}"}}', "1")]),
        Turn("", [ToolCall("echo", {"text": "x"}, HALF)]),
    ],
    ids=["text", "name", "mapping", "raw", "id"],
)
def test_a_transcript_can_always_be_sent(turn):
    """
    Half a character in a history would make every later request fail.
    """
    loop = ToolLoop(ToolClient([echo]), ScriptedModel([turn, Turn("done")]))
    result = loop.run("go")

    text = json.dumps(result.messages, ensure_ascii=False)
    assert text == text.encode().decode()


def test_the_answer_of_a_run_can_always_be_sent():
    """
    It is what a caller sends on, and what its transcript says.
    """
    result = ToolLoop(ToolClient([]), ScriptedModel([Turn(HALF)])).run("go")

    assert "\ufffd" == result.text == result.messages[-1]["content"]


def test_records_of_a_model_take_their_fields_in_order():
    """
    ``Turn("hi")`` is what everybody writes first.
    """
    assert ("hi", (), False) == (
        Turn("hi").text,
        Turn("hi").calls,
        Turn("hi").truncated,
    )
    assert ([], []) == (ModelRequest([], []).messages, ModelRequest([], []).tools)


def test_nothing_is_pending_in_this_version():
    """
    Whoever looks for a suspension finds that there is none.
    """
    client = ToolClient([echo])
    batch = client.invoke_batch([ToolCall("echo", {"text": "x"})])
    result = ToolLoop(client, ScriptedModel([Turn("hi")])).run("go")

    assert (None, None) == (batch.suspension, result.suspension)
