"""
A run that is recorded, and played again without running anything.
"""

from __future__ import annotations

import json
import threading

import pytest

from fronts import call, call_batch
from tooldecl import ToolCall, ToolClient, ToolError, ToolSpec, tool
from tooldecl.engines import AsyncioEngine, ThreadEngine
from tooldecl.filters import Approval, approve_all, deny_all
from tooldecl.testing import Recording, Replay, ReplayMismatchError


RUNS: list[str] = []


@tool
def search(word: str, limit: int = 10) -> list[str]:
    """Search."""
    RUNS.append(word)
    if word == "nothing":
        raise ToolError("Try another word.", error_class="environment")
    return [word] * limit


@tool(sensitive=True)
def pay(card: str) -> str:
    """Pay."""
    RUNS.append("pay")
    return f"paid with {card}"


CALLS = [
    ToolCall("search", {"word": "a", "limit": 2}, "1"),
    ToolCall("search", {"word": "nothing"}, "2"),
    ToolCall("search", {"wrong": 1}, "3"),
    ToolCall("search", {"word": "b", "limit": 1}, "4"),
]


def told(results):
    """
    Return what a model, and a host, learn of results.
    """
    return [
        (r.status, r.content, r.value, str(r.error), r.error_class, r.call_id)
        for r in results
    ]


def client_with(*filters, **options):
    """
    Make a client of all tools, with somebody who approves.
    """
    layers = [*filters, Approval(approve_all)]
    return ToolClient([search, pay], filters=layers, **options)


def test_a_run_is_played_again_from_its_file(front, tmp_path):
    """
    The same results, and no body has run; what the gate refuses it refuses again.
    """
    recording = Recording()
    first = call_batch(front, client_with(recording), CALLS)
    recording.save(tmp_path / "run.json")
    RUNS.clear()
    replay = Replay(tmp_path / "run.json")
    second = call_batch(front, client_with(replay), CALLS)
    replay.assert_complete()

    assert ["ok", "tool_error", "invalid", "ok"] == [r.status for r in first]
    assert told(first) == told(second)
    assert ([], ["not_started"] * 4) == (RUNS, [r.fate for r in second])


def test_equal_runs_give_equal_files(tmp_path):
    """
    A recording is kept in version control: it has no times and no ids.
    """
    texts = []
    for name in "ab":
        recording = Recording()
        client_with(recording).invoke_batch(CALLS)
        recording.save(tmp_path / name)
        texts.append((tmp_path / name).read_text(encoding="utf-8"))

    assert texts[0] == texts[1]
    assert [
        {
            "name": "search",
            "arguments": {"word": "a", "limit": 2},
            "result": {
                "status": "ok",
                "content": '["a","a"]',
                "value": ["a", "a"],
                "error": None,
                "error_class": None,
                "fate": "completed",
                "attempts": 1,
                "truncated": False,
                "original_size": None,
            },
        }
    ] == json.loads(texts[0])["calls"][:1]


def replaying(replay, **options):
    """
    Make a client that a mismatch leaves at once.
    """
    return client_with(replay, stop_on=[ReplayMismatchError], **options)


def recorded(*calls):
    """
    Record some calls.
    """
    recording = Recording()
    client_with(recording).invoke_batch(calls or CALLS)
    return recording


def test_another_call_is_shown_beside_the_recorded_one(front):
    """
    What has changed in a prompt or a tool is seen at its first effect.
    """
    client = replaying(Replay(recorded()))
    call(front, client, "search", {"word": "a", "limit": 2})
    with pytest.raises(ReplayMismatchError) as caught:
        call(front, client, "search", {"word": "nothing", "limit": 3})

    assert (
        "This call was not recorded.\n"
        "--- recorded\n"
        "+++ this run\n"
        "@@ -1,3 +1,2 @@\n"
        ' search({"limit": 2, "word": "a"})\n'
        '-search({"word": "nothing"})\n'
        '-search({"limit": 1, "word": "b"})\n'
        '+search({"limit": 3, "word": "nothing"})'
    ) == str(caught.value)


def test_without_stop_on_that_call_alone_fails(front):
    """
    It is no answer of the recording, and the end of the test says so.
    """
    replay = Replay(recorded())
    result = call(front, client_with(replay), "search", {"word": "other"})
    with pytest.raises(ReplayMismatchError, match=r"\+search\({\"word\": \"other\"}\)"):
        replay.assert_complete()

    assert ("guard_failed", "not_started") == (result.status, result.fate)


def test_calls_that_were_not_made_are_missed():
    """
    A run that ends early passes every other assertion.
    """
    replay = Replay(recorded())
    replaying(replay).invoke("search", {"word": "a", "limit": 2})
    with pytest.raises(ReplayMismatchError) as caught:
        replay.assert_complete()

    assert str(caught.value).startswith("2 recorded calls were not made.\n--- recorded")


def test_the_order_counts_unless_told_otherwise():
    """
    One after another, a run that asks in another order is another run.
    """
    recording = recorded()
    last = {"word": "b", "limit": 1}
    with pytest.raises(ReplayMismatchError):
        replaying(Replay(recording)).invoke("search", last)

    replay = Replay(recording, order="any")
    client = replaying(replay)
    results = [client.invoke(c.name, c.arguments) for c in reversed(CALLS)]
    replay.assert_complete()

    assert ["ok", "invalid", "tool_error", "ok"] == [r.status for r in results]


@pytest.mark.parametrize("engine", [ThreadEngine, AsyncioEngine])
def test_calls_at_once_are_answered_each_once(front, engine):
    """
    Equal calls have one answer each, in the order they were recorded in.
    """
    lock, count = threading.Lock(), [0]

    @tool
    def number() -> int:
        """Count."""
        with lock:
            count[0] += 1
            return count[0]

    calls = [ToolCall("number", {}, str(n)) for n in range(20)]
    recording = Recording()
    first = call_batch(
        front, ToolClient([number], filters=[recording], engine=engine()), calls
    )
    replay = Replay(recording, order="any")
    client = ToolClient([number], filters=[replay], engine=engine())
    second = call_batch(front, client, calls)
    replay.assert_complete()

    assert {*range(1, 21)} == {r.value for r in first} == {r.value for r in second}
    assert 20 == count[0]


@pytest.mark.parametrize("order", ["same", "any"])
def test_a_recorded_call_is_played_once(order):
    """
    One more of the same is another run.
    """
    replay = Replay(recorded(CALLS[0]), order=order)
    client = replaying(replay)
    client.invoke("search", {"word": "a", "limit": 2})
    with pytest.raises(ReplayMismatchError):
        client.invoke("search", {"word": "a", "limit": 2})


def test_the_values_of_a_sensitive_tool_are_not_kept(tmp_path):
    """
    A recording is a file that gets around.
    """
    recording = recorded(ToolCall("pay", {"card": "4111-1111"}))
    recording.save(tmp_path / "run.json")
    with pytest.raises(ReplayMismatchError) as caught:
        replaying(Replay(tmp_path / "run.json")).invoke("pay", {"card": "5500-0000"})

    text = (tmp_path / "run.json").read_text(encoding="utf-8")
    assert ("4111" in text, "5500" in str(caught.value)) == (False, False)
    assert [True] == [
        c.is_withheld for c in Recording.load(tmp_path / "run.json").calls
    ]
    assert str(caught.value).startswith(
        "The tool 'pay' is declared sensitive and was recorded without its values, so it "
        "cannot be replayed: record it with Recording(sensitive=True).\n"
    )


def test_they_are_kept_where_somebody_says_so(front):
    """
    In a replay nobody is asked: the decision is part of what was recorded.
    """
    recording = Recording(sensitive=True)
    first = call(front, client_with(recording), "pay", {"card": "4111"})
    client = ToolClient(
        [pay], filters=[Replay(recording), Approval(deny_all)], stop_on=[AssertionError]
    )
    second = call(front, client, "pay", {"card": "4111"})

    assert ("paid with 4111", "paid with 4111") == (first.content, second.content)


def test_what_waits_in_the_recording_waits_in_the_replay():
    """
    Only the client can make a suspension that can be resumed.
    """
    schema = {"type": "object", "properties": {}}
    click = ToolSpec(
        name="click",
        description="Click.",
        input_schema=schema,
        handler=lambda: None,
        external=True,
    )
    recording = Recording()
    ToolClient([click], filters=[recording]).invoke_batch([ToolCall("click")])
    replay = Replay(recording)
    batch = ToolClient([click], filters=[replay]).invoke_batch([ToolCall("click")])
    replay.assert_complete()

    assert ("pending", True) == (batch[0].status, batch.suspension is not None)


def test_a_call_that_never_ended_is_not_in_the_recording():
    """
    There is nothing to play.
    """
    recording = Recording()

    @tool
    def stop() -> None:
        """Stop."""
        raise KeyboardInterrupt

    client = ToolClient([stop, search], filters=[recording])
    with pytest.raises(KeyboardInterrupt):
        client.invoke("stop")
    client.invoke("search", {"word": "a", "limit": 0})

    assert ["search"] == [c.name for c in recording.calls]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "Expecting property name"),
        ("[]", "an object is needed, got list"),
        ('{"format": 9, "calls": []}', "its format is not 1"),
        ('{"format": 1, "calls": {}}', "a list is needed, got dict"),
        ('{"format": 1, "calls": [{}]}', "'arguments'"),
        ('{"format": 1, "calls": [{"name": 1, "arguments": {}}]}', "a text is needed"),
    ],
)
def test_a_file_that_is_no_recording_is_refused(tmp_path, text, reason):
    """
    Named, with what is wrong with it.
    """
    (tmp_path / "run.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"^run\.json is no recording") as caught:
        Recording.load(tmp_path / "run.json")

    assert reason in str(caught.value)


def test_an_order_that_there_is_none_of_is_refused():
    """
    A misspelt option would silently be the other one.
    """
    with pytest.raises(ValueError, match="'same' or 'any', got 'sorted'"):
        Replay(Recording(), order="sorted")
