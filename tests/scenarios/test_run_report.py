"""
A run with real engines and real bodies, kept by a hook and shown as a page.
"""

from __future__ import annotations

import asyncio
import re
import threading

import pytest

from fronts import Listener, call_batch
from ordering import HANGS_AFTER
from tooldecl import Retry, ToolCall, ToolClient, ToolContext, tool
from tooldecl.engines import SequentialEngine, ThreadEngine
from tooldecl.filters import Approval, Approved
from tooldecl.report import Journal, Recorder, read_journal, render
from tooldecl.telemetry import LateFinish


@tool(retry=Retry(attempts=2, delay=0.01))
def flaky(ctx: ToolContext) -> str:
    """Fail once."""
    if ctx.attempt == 1:
        raise ConnectionError
    return "done"


@tool(sensitive=True)
def pay(card: str) -> str:
    """Pay."""
    return card


@tool(timeout=0.2)
async def stoppable() -> None:
    """Wait for good."""
    await asyncio.Event().wait()


@tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


def hanging(gate):
    """
    Declare a tool that runs on until a gate is opened.
    """

    @tool(timeout=0.2)
    def hang() -> str:
        """Hang."""
        gate.pass_through()
        return "late"

    return hang


def words(text):
    """
    List what the rows of the time line say.
    """
    rows = re.findall(r'<a class="lane".*?</a>', text, re.DOTALL)

    return [
        " ".join(re.findall(r'(?:"n"|<bdi|"state [a-z]*")>([^<]+)<', row))
        for row in rows
    ]


CALLS = [
    ToolCall("flaky"),
    ToolCall("hang"),
    ToolCall("pay", {"card": "4111-1111"}),
    ToolCall("stoppable"),
    ToolCall("add", '{"a": 1, "a": 2}'),
    ToolCall("no_such_tool"),
]


def test_a_batch_of_everything_is_told_as_it_was(front, gate):
    """
    The rows of the page say what the results say, also what is still running.
    """
    kept, late = Recorder(contents=True), Listener()
    client = ToolClient(
        [flaky, pay, stoppable, add, hanging(gate)],
        engine=ThreadEngine(),
        filters=[Approval(lambda _request: Approved())],
        hooks=[kept, late],
    )
    call_batch(front, client, CALLS)
    before = render(kept)
    gate.open()
    late.wait_for(LateFinish)
    after = render(kept)

    assert [
        "1 flaky ok; 2 attempts",
        "2 hang timeout; the body was given up, not seen to end",
        "3 pay ok",
        "4 stoppable timeout; the body was stopped",
        "5 add arguments refused",
        "6 no_such_tool unknown tool",
    ] == words(before)
    assert re.fullmatch(
        r"2 hang timeout; the body was given up, ended [\d.]+ .?s later",
        words(after)[1],
    )
    still = "Still running after the batch returned</dt><dd>1</dd>"
    assert (True, True) == (still in before, still in after)
    assert "4111-1111" not in after


def test_the_times_of_a_real_run_add_up(front):
    """
    What is drawn lies inside of the call it belongs to, and in its order.
    """
    kept = Recorder()
    client = ToolClient([flaky], hooks=[kept])
    call_batch(front, client, [ToolCall("flaky")] * 3)
    by_call = {}
    for entry in kept:
        by_call.setdefault(entry.get("call_id"), []).append(entry)
    del by_call[None]

    assert 3 == len(by_call)
    for start, failure, end in by_call.values():
        times = [start["at"], failure["began"], failure["at"]]
        times += [end["began"], end["ended"], end["at"]]
        assert times == sorted(times)
        assert end["began"] - failure["at"] >= 0.01 * 0.9


@pytest.mark.parametrize(
    "make", [SequentialEngine, lambda: ThreadEngine(max_concurrency=1)]
)
def test_what_waits_came_in_with_its_batch(front, make):
    """
    The wait of the second call is the time of the first, and lies before its attempt.
    """
    kept = Recorder()
    client = ToolClient([flaky], engine=make(), hooks=[kept])
    call_batch(front, client, [ToolCall("flaky")] * 2)
    told = re.findall("<desc>(.*?)</desc>", render(kept))
    first, second = (seconds_in(text) for text in told)

    assert second["Came in after"] < first["Answered after"]
    # Times have three digits in words.
    assert second["from"] * 1.01 >= second["Came in after"] + second["Waited"]
    assert second["Waited"] >= 0.01 * 0.9  # the delay of the first one's retry


def seconds_in(text):
    """
    Read the times that the description of a row begins with.
    """
    units = {"s": 1, "ms": 1e-3, "µs": 1e-6}
    found = re.findall(
        r"(Came in after|Waited|from|Answered after) ([\d.]+) ?(µs|ms|s)?", text
    )
    times = {}
    for words, number, unit in found:
        times.setdefault(words, float(number) * units.get(unit, 1))

    return times


def test_threads_may_share_a_journal(tmp_path):
    """
    A server has one client and many threads, and looks at one page.
    """
    together = threading.Barrier(4, timeout=HANGS_AFTER)

    def serve():
        together.wait()
        for n in range(25):
            client.invoke("add", {"a": n, "b": n})

    with Journal(tmp_path / "run.jsonl") as journal:
        client = ToolClient([add], hooks=[journal])
        threads = [threading.Thread(target=serve) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(HANGS_AFTER)
    text = render(journal.path)

    assert 201 == len(list(read_journal(journal.path)))
    assert '<dt class="good">ok</dt><dd>100</dd>' in text
