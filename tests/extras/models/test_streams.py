"""
Streams: whatever the pieces, the turn is the one that was said, or none.
"""

from __future__ import annotations

import json

import pytest

from tooldecl import ToolCall, ToolClient, Turn, tool
from tooldecl.exceptions import ModelFailedError
from tooldecl.testing import FakeLLM, FakeReply
from wires import ask, each, model_for, run


RUNS = []


@tool
def note(words: str, count: int = 1) -> str:
    """Note some words."""
    RUNS.append(words)

    return words


TEXT = 'Ein größeres 😀 „Beispiel“ \\ with "quotes" and\na new line, 👩‍👩‍👧 too.'
RAW = ' {"words" : "caf\\u00e9 \\ud83d\\ude00 é😀 \\\\ \\"x\\"",\n "count": 12e0 } '
OTHER = '{"words":"a","words":"b"}'

SAID = Turn(TEXT, [ToolCall("note", RAW, "c1"), ToolCall("note", OTHER, "c2")])
CUT = Turn("So", [ToolCall("note", '{"words": "a', "c1")], truncated=True)


def test_pieces_of_any_size_make_the_same_turn(front, wire):
    """
    Escapes, characters of several bytes and calls are cut anywhere; the arguments stay
    the very text that came, for the gate to read.
    """
    told = []
    with FakeLLM([SAID] * 40) as llm:

        def before(number):
            llm.piece = number + 1
            told.append([])

        def tell(piece):
            told[-1].append(piece)

        model = model_for(wire, llm, stream=True, on_text=tell)
        turns = each(front, model, before, 40)

    assert {TEXT} == {turn.text for turn in turns} == {"".join(one) for one in told}
    assert list(range(1, 41)) == [max(map(len, pieces)) for pieces in told]
    assert {("c1", "c2")} == {tuple(c.id for c in turn.calls) for turn in turns}
    read = [RAW, OTHER]
    if wire == "gemini":  # it has objects, as the SDK gives them
        read = [json.loads(RAW), {"words": "b"}]
    assert [read] * 40 == [[c.arguments for c in turn.calls] for turn in turns]


def test_a_whole_answer_is_the_same_turn(front, wire):
    """
    Streaming is a matter of when, and not of what.
    """
    turns = []
    for stream in (False, True):
        with FakeLLM([SAID]) as llm:
            turns.append(ask(front, model_for(wire, llm, stream=stream)))
    whole, streamed = turns

    assert (whole.text, whole.truncated) == (streamed.text, streamed.truncated)
    if wire == "anthropic":  # the SDK has read the text of a whole answer
        assert json.loads(RAW) == whole.calls[0].arguments
        assert RAW == streamed.calls[0].arguments
    else:
        assert whole == streamed


def test_the_gate_reads_what_the_model_wrote(front, wire, stream):
    """
    A member that is given twice is refused, where the wire still shows that it was.
    """
    with FakeLLM([Turn(calls=SAID.calls[1:]), Turn("Done.")]) as llm:
        result = run(front, ToolClient([note]), model_for(wire, llm, stream=stream))
    is_read = wire == "gemini" or (wire == "anthropic" and not stream)

    assert [["invalid"], ["ok"]][is_read] == [r.status for r in result.results]
    assert [[], ["b"]][is_read] == RUNS


def test_a_cut_off_turn_is_marked(front, wire, stream):
    """
    Cut arguments are no arguments, whichever way they came.
    """
    if wire == "gemini" or (wire == "anthropic" and not stream):
        turn = Turn("So", [ToolCall("note", {"words": "a"}, "c1")], truncated=True)
    else:
        turn = CUT
    with FakeLLM([turn]) as llm:
        said = ask(front, model_for(wire, llm, stream=stream))

    assert (True, "So") == (said.truncated, said.text)
    assert turn.calls == said.calls


def test_a_call_without_arguments_has_none(front, wire, stream):
    """
    An absent text is no arguments, and no reason to fail.
    """
    with FakeLLM([Turn(calls=[ToolCall("note", None, "c1")])]) as llm:
        [call] = ask(front, model_for(wire, llm, stream=stream)).calls

    assert not call.arguments


def test_a_null_among_the_arguments_stays(front, wire, stream):
    """
    What is null was said to be; the gate judges it, not an SDK's dump.
    """
    given = {"words": None, "more": {"a": None}}
    with FakeLLM([Turn(calls=[ToolCall("note", given, "c1")])]) as llm:
        [call] = ask(front, model_for(wire, llm, stream=stream)).calls
    read = call.arguments

    assert given == (json.loads(read) if isinstance(read, str) else read)


def test_a_turn_of_nothing_is_an_empty_turn(front, wire, stream):
    """
    A model may have nothing to say.
    """
    with FakeLLM([Turn()]) as llm:
        turn = ask(front, model_for(wire, llm, stream=stream))

    assert ("", (), False) == (turn.text, turn.calls, turn.truncated)


LONG = Turn("A b c d e f.", [ToolCall("note", '{"words": "a"}', "c1")])


def events_of(wire):
    """
    Count the events of a streamed turn by reading it to its end.
    """
    from tooldecl.models.fake._script import Saying
    from tooldecl.models.fake._server import _SPEAKERS

    path = {
        "chat": "/chat/completions",
        "responses": "/responses",
        "anthropic": "/messages",
        "gemini": ":streamGenerateContent",
    }[wire]
    saying = Saying(
        reply=FakeReply(turn=LONG), number=1, model="m", piece=4, makes_ids=True
    )

    return len(_SPEAKERS[path].events(saying))


def last_needed(wire):
    """
    Return how many events a reader has to see before the turn is known to be whole.
    """
    return events_of(wire) - (wire == "anthropic")


@pytest.mark.parametrize("silently", [False, True])
def test_a_stream_that_ends_too_early_is_no_turn(front, wire, silently):
    """
    Whatever had come of it is none: what is missing may be the half that counts. A
    connection that breaks is the SDK's error, one that just ends is ours.
    """
    count = last_needed(wire)
    script = [
        FakeReply(turn=LONG, cut_after=n, silently=silently) for n in range(count)
    ]
    with FakeLLM(script, piece=4) as llm:
        model = model_for(wire, llm, stream=True)
        got = each(front, model, lambda number: None, count)

    assert count == len(llm.requests)
    assert [silently] * count == [type(error) is ConnectionError for error in got]
    assert all(isinstance(error, Exception) for error in got)


def test_no_call_of_a_broken_turn_is_run(front, wire):
    """
    Arguments that had come whole are no reason: the turn was never said.
    """
    reply = FakeReply(turn=LONG, cut_after=last_needed(wire) - 1, silently=True)
    with FakeLLM([reply], piece=4) as llm, pytest.raises(ModelFailedError) as caught:
        run(front, ToolClient([note]), model_for(wire, llm, stream=True))

    assert [] == RUNS
    assert "The stream ended before its turn was complete." in str(caught.value)


def test_the_rest_of_a_stream_is_not_needed(front, wire):
    """
    What follows the end of a turn on the wire says nothing about it.
    """
    after = last_needed(wire)
    reply = FakeReply(turn=LONG, cut_after=after, silently=True)
    with FakeLLM([reply], piece=4) as llm:
        turn = ask(front, model_for(wire, llm, stream=True))

    assert "A b c d e f." == turn.text


def test_who_is_told_of_text_may_end_the_turn(front, wire):
    """
    An error of the host leaves as it is, and the connection is given back.
    """

    class EnoughError(Exception):
        pass

    def told(piece):
        raise EnoughError(piece)

    with FakeLLM([LONG]) as llm, pytest.raises(ModelFailedError) as caught:
        run(front, ToolClient([]), model_for(wire, llm, stream=True, on_text=told))

    assert isinstance(caught.value.__cause__, EnoughError)
