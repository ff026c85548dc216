"""
The claims of the demo can break: each is shown what breaks it.
"""

from __future__ import annotations

import asyncio

import pytest

from tooldecl import DuplicateToolError, Fate, ModelRequest, Status, ToolResult, Turn
from tooldecl.cli import _demo_checks as checks
from tooldecl.cli._demo_journal import Episode, Journal
from tooldecl.cli._demo_model import OUT_OF_TIME, QUESTIONS, Decider, Impatient
from tooldecl.exceptions import ToolTimeoutError
from tooldecl.telemetry import CallFinished, CallStarted
from tooldecl.testing import FakeClock, ScriptedModel


def result(call_id="c1", name="track", status=Status.OK, **fields):
    """
    Make a result.
    """
    return ToolResult(call_id=call_id, name=name, status=status, content="1", **fields)


def episode(asked, answered, messages=()):
    """
    Make one part of the demo.
    """
    return Episode(
        title="A part.",
        asked=asked,
        results=[result(call_id) for call_id in answered],
        messages=messages,
    )


def journal(started, answered):
    """
    Make the notes of a run.
    """
    notes = Journal()
    for call_id in started:
        notes(CallStarted(at=0.0, call_id=call_id, name="track", arguments=None))
    for call_id in answered:
        finished = result(call_id)
        notes(CallFinished(at=1.0, call_id=call_id, name="track", result=finished))

    return notes


@pytest.mark.parametrize(
    ("started", "answered", "asked", "returned", "held"),
    [
        ("ab", "ab", "ab", "ab", True),
        ("ab", "ba", "ab", "ab", True),
        ("ab", "a", "ab", "ab", False),
        ("ab", "abb", "ab", "ab", False),
        ("aba", "ab", "ab", "ab", False),
        ("ab", "abc", "ab", "ab", False),
        ("ab", "ab", "ab", "ba", False),
        ("ab", "ab", "ab", "a", False),
    ],
)
def test_each_call_has_one_answer_in_order(started, answered, asked, returned, held):
    """
    A lost, a doubled and an unasked answer break it, and so does another order.
    """
    verdict = checks.answered_once_in_order(
        [episode(list(asked), list(returned))], journal(started, answered)
    )

    assert held == verdict.held


ADMITTED = result(attempts=2, fate=Fate.COMPLETED)
REFUSED = result(status=Status.INVALID)


@pytest.mark.parametrize(
    ("results", "entered", "sneaked", "held"),
    [
        ([ADMITTED, REFUSED], {"track": 2}, 0, True),
        ([ADMITTED, REFUSED], {"track": 1}, 0, True),
        ([ADMITTED, REFUSED], {"track": 3}, 0, False),
        ([ADMITTED, REFUSED], {"track": 2, "pay": 1}, 0, False),
        ([ADMITTED, REFUSED], {"track": 2}, 1, False),
        ([REFUSED.replace(attempts=1)], {"track": 1}, 0, False),
        ([ADMITTED], {"track": 2}, 0, False),
    ],
)
def test_what_was_refused_never_ran(results, entered, sneaked, held):
    """
    More entries than attempts are a body that was let in; no refusal proves nothing.
    """
    verdict = checks.refused_never_ran(results, entered, sneaked)

    assert held == verdict.held


@pytest.mark.parametrize(
    ("refusal", "held"),
    [
        (
            DuplicateToolError(
                by_name={"find": ["a.find (a.py:1)", "b.find (b.py:2)"]}
            ),
            True,
        ),
        (DuplicateToolError(by_name={"find": ["a.find (a.py:1)"]}), False),
        (None, False),
    ],
)
def test_a_duplicate_is_refused_with_both_places(refusal, held):
    """
    A client that is built all the same has lost one of the two tools.
    """
    assert held == checks.duplicates_refused(refusal).held


def timed_out(elapsed):
    """
    Make the result of a call with a limit of one second.
    """
    error = ToolTimeoutError(
        tool="track", timeout=1.0, source="declared", fate="abandoned"
    )

    return result(status=Status.TIMEOUT, error=error, elapsed=elapsed)


@pytest.mark.parametrize(
    ("results", "held"),
    [
        ([timed_out(1.0), timed_out(5.9)], True),
        ([timed_out(1.0), timed_out(6.1)], False),
        ([result(elapsed=60.0)], False),
    ],
)
def test_timeouts_are_answered_soon(results, held):
    """
    A limit that is noticed late is none; and without a timeout nothing was shown.
    """
    assert held == checks.timeouts_answered(results).held


QUESTION = {"role": "user", "content": "Where?"}
CALLS = {"role": "assistant", "content": "", "tool_calls": [{"id": "a"}, {"id": "b"}]}
ANSWER_A = {"role": "tool", "tool_call_id": "a"}
ANSWER_B = {"role": "tool", "tool_call_id": "b"}


@pytest.mark.parametrize(
    ("messages", "valid"),
    [
        ([QUESTION, CALLS, ANSWER_A, ANSWER_B, QUESTION], True),
        ([QUESTION, CALLS, ANSWER_A], False),
        ([QUESTION, CALLS, ANSWER_A, QUESTION, ANSWER_B], False),
        ([QUESTION, CALLS, ANSWER_A, ANSWER_B, ANSWER_B], False),
        ([QUESTION, ANSWER_A], False),
    ],
)
def test_a_transcript_answers_each_call_at_once(messages, valid):
    """
    Strict providers refuse a conversation with an open, a late or a stray answer.
    """
    verdict = checks.transcripts_valid([episode([], [], messages)])

    assert (valid, valid) == (checks.is_valid(messages), verdict.held)


def test_without_a_conversation_nothing_was_shown():
    """
    A claim about nothing must not pass for one that held.
    """
    assert not checks.transcripts_valid([episode(["a"], ["a"])]).held


@pytest.mark.parametrize(
    ("arguments", "shape"),
    [
        ({"order": 1001, "note": "secret"}, "{order: int, note: str[6]}"),
        ('{"order": 1001, "order": "x"}', "{order: int, order: str[1]}"),
        ('{"a": {"b": 1, "c": 2}, "d": [1], "e": null}', None),
        ('{"order": 10', "text[12]"),
        (b"[1, 2]", "list[2]"),
        (None, "{}"),
    ],
)
def test_arguments_are_described_without_their_values(arguments, shape):
    """
    A report is shown around; what a model sent may be private.
    """
    notes = Journal()
    notes(CallStarted(at=0.0, call_id="a", name="track", arguments=arguments))
    nested = "{a: object[2], d: list[1], e: none}"

    assert {"a": shape or nested} == notes.shapes


class Model:
    """
    A model that takes seconds of a clock for each turn.
    """

    def __init__(self, clock, seconds):
        self.clock = clock
        self.seconds = seconds

    def respond(self, request):
        self.clock.advance(self.seconds)
        return Turn(text="An answer.")

    async def arespond(self, request):
        return self.respond(request)


@pytest.mark.parametrize("colour", ["sync", "async"])
def test_a_model_that_takes_too_long_is_not_asked_again(colour):
    """
    The demo ends in time on a machine that is too busy for the model.
    """
    clock = FakeClock()
    model = Impatient(Model(clock, 6.0), patience=10.0, now=clock.monotonic)
    request = ModelRequest(messages=[], tools=[])
    said = [
        asyncio.run(model.arespond(request)).text
        if colour == "async"
        else model.respond(request).text
        for _ in range(3)
    ]

    assert (["An answer.", "An answer.", OUT_OF_TIME], 12.0) == (
        said,
        clock.monotonic(),
    )


def test_a_script_decides_where_the_model_takes_too_long():
    """
    The questions that are left are answered all the same.
    """
    clock = FakeClock()
    local = Impatient(Model(clock, 6.0), patience=5.0, now=clock.monotonic)
    who = Decider(name="slow", local=local)
    before = who.model_for(QUESTIONS[0])
    before.respond(ModelRequest(messages=[], tools=[]))
    after = who.model_for(QUESTIONS[0])

    assert (local, True, ScriptedModel) == (before, who.is_out_of_time, type(after))
