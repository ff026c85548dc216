"""
What is kept of a run: one entry for each event, in memory or as a line of a file.
"""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import threading

from pathlib import Path

import pytest

import tooldecl

from happenings import HOSTILE, every_kind, failed, finished, started
from ordering import HANGS_AFTER
from pages import table
from source import ROOT
from tooldecl import Status, ToolClient, ToolMeta, telemetry, tool
from tooldecl.exceptions import ToolTimeoutError
from tooldecl.filters import Approval, approve_all
from tooldecl.report import Journal, Recorder, read_journal
from tooldecl.telemetry import (
    BatchStarted,
    CallStarted,
    Event,
    LateFinish,
    LoopBlocked,
    Progress,
)


SECRET = "4111-1111"


def kept(*events, contents=False):
    """
    Return what a recorder keeps of events, without its head.
    """
    recorder = Recorder(contents=contents)
    for event in events:
        recorder(event)

    return list(recorder)[1:]


def telling(*, meta=None):
    """
    Tell of a call whose every part is a secret.
    """
    return [
        CallStarted(
            at=1.0,
            call_id="c",
            name="pay",
            arguments={"card": SECRET},
            meta=meta,
        ),
        Progress(at=1.1, call_id="c", name="pay", done=1, total=2, message=SECRET),
        failed("c", "pay", 1.0, 1.2, error=ValueError(SECRET)),
        finished(
            "c",
            "pay",
            1.2,
            status=Status.TOOL_ERROR,
            value=SECRET,
            content=SECRET,
            error=ValueError(SECRET),
        ),
        LateFinish(at=2.0, call_id="c", name="pay", late_by=0.8, value=SECRET),
        LateFinish(
            at=2.0, call_id="c", name="pay", late_by=0.8, error=ValueError(SECRET)
        ),
    ]


def test_no_value_is_kept_unless_asked_for():
    """
    A journal lies about on disks; names, kinds and lengths are enough to see what went
    wrong.
    """
    text = json.dumps(kept(*telling()))

    assert (False, True) == (SECRET in text, "{card: str[9]}" in text)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"query": "lamp"}', "{query: str[4]}"),
        (b'{"n": [1, 2]}', "{n: list[2]}"),
        ('{"query": "la', "str[13]"),
        ("[" * 50_000, "str[50000]"),
        ('{"a": "' + "x" * 200_000 + '"}', "str[200009]"),
        (None, "none"),
    ],
    ids=range(6),
)
def test_arguments_that_are_text_are_described_by_what_is_in_them(arguments, expected):
    """
    That is how models send them; of a text alone only its length could be seen.
    """
    assert expected == kept(started("c", "add", 1.0, arguments))[0]["arguments_shape"]


def test_contents_are_kept_where_they_are_asked_for():
    """
    Whoever looks into one run wants to see what was said.
    """
    meta = ToolMeta(name="pay", description="Pay.")
    found = kept(*telling(meta=meta), contents=True)
    start, progress, failure, end, late, last = found

    assert '{"card": "4111-1111"}' == start["arguments"]
    assert [SECRET] * 5 == [
        progress["message"],
        failure["why"],
        end["content"],
        late["value"],
        last["why"],
    ]


def test_nothing_of_a_sensitive_tool_is_kept_in_any_case():
    """
    What it is given comes back in its results, its errors and its messages.
    """
    meta = ToolMeta(name="pay", description="Pay.", sensitive=True)
    text = json.dumps(kept(*telling(meta=meta), contents=True))

    assert (False, True) == (SECRET in text, '"sensitive": true' in text)


def test_nothing_of_a_call_whose_tool_is_unknown_is_kept():
    """
    A model that misspells a sensitive tool sends it the same secrets.
    """

    @tool(sensitive=True)
    def pay(card: str) -> str:
        """Pay."""
        return card

    recorder = Recorder(contents=True)
    client = ToolClient([pay], filters=[Approval(approve_all)], hooks=[recorder])
    client.invoke("payy", {"card": SECRET})
    client.invoke_json(f'{{"tool": "pay {SECRET}')
    client.invoke_json(f'{{"name": 1, "arguments": {{"{SECRET}": "{SECRET}"}}}}')
    starts = [entry for entry in recorder if entry["event"] == "CallStarted"]

    assert [False] * 3 == ["arguments" in start for start in starts]
    assert f'"{SECRET}"' not in json.dumps(list(recorder))
    assert "{card: str[9]}" == starts[0]["arguments_shape"]


def refused(recorder, client):
    """
    Return why each call was refused, as it was kept.
    """
    client.invoke("pay", {SECRET: 1})
    client.invoke("pay", f'{{"{SECRET}": 1, "{SECRET}": 2}}')
    client.invoke("pay", '{"card": ')
    client.invoke_json("nothing")
    client.invoke_json(f'{{"tool": "pay", "{SECRET}": 1}}')

    return [entry.get("why") for entry in recorder if "status" in entry]


def test_why_a_call_was_refused_is_kept():
    """
    In the words that a model gets: whoever looks at a page sees what to mend, and no
    value stands in them.
    """

    @tool
    def pay(card: int) -> int:
        """Pay."""
        return card

    recorder = Recorder()
    client = ToolClient([pay], hooks=[recorder])
    first = client.invoke("pay", {"card": SECRET})
    [entry] = [entry for entry in recorder if "status" in entry]
    found = refused(recorder, client)

    assert (str(first.error), False) == (entry["why"], SECRET in entry["why"])
    assert [True] * 3 == ["refused and nothing was run" in why for why in found[1:4]]
    assert "a value was expected (character 0)" == found[4]
    assert 'a request has "tool" and "arguments" and no such member' == found[5]


def test_of_a_sensitive_tool_only_what_is_wrong_with_a_text_is_kept():
    """
    What names a member there may be the secret itself, in the wrong place.
    """

    @tool(sensitive=True)
    def pay(card: int) -> int:
        """Pay."""
        return card

    recorder = Recorder(contents=True)
    client = ToolClient([pay], filters=[Approval(approve_all)], hooks=[recorder])
    found = refused(recorder, client)

    assert None is found[0]
    assert "a member is given twice" == found[1]
    assert found[2].startswith("the text ends too early")
    assert SECRET not in json.dumps(list(recorder))


def test_our_own_words_about_a_failure_are_kept():
    """
    They hold limits and reasons and never a value, and a report without them explains
    nothing.
    """
    error = ToolTimeoutError(tool="add", timeout=5, source="declared", fate="stopped")
    [entry] = kept(failed("c", "add", 1.0, 6.0, error=error, error_class=None))

    assert (str(error), "stopped", 5, "declared", "ToolTimeoutError") == (
        entry["why"],
        entry["fate"],
        entry["timeout"],
        entry["source"],
        entry["kind"],
    )


class Odd:
    """
    Something whose methods fail.
    """

    def __str__(self):
        raise RuntimeError

    __repr__ = __str__


class OddError(Exception):
    """
    An error that cannot be shown.
    """

    __str__ = Odd.__str__


CIRCLE: list = []
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize(
    "value", [Odd(), {"x": Odd()}, b"\xff", "\ud800", float("nan"), CIRCLE, {3: 4}, {1}]
)
def test_what_cannot_be_written_down_costs_no_event(value):
    """
    Arguments come before the gate and results from anywhere; the end of a call must not
    be missing for that.
    """
    events = [
        started("c", "add", 1.0, {"x": value}),
        finished("c", "add", 2.0, value=value, error=OddError()),
        LateFinish(at=3.0, call_id="c", name="add", late_by=1.0, value=value),
        Progress(
            at=3.0, call_id="c", name="add", done=value, total=value, message=None
        ),
    ]
    entries = kept(*events, contents=True)

    assert ["CallStarted", "CallFinished", "LateFinish", "Progress"] == [
        entry["event"] for entry in entries
    ]
    json.dumps(entries, allow_nan=False)


def test_what_is_huge_is_cut():
    """
    One call with a megabyte must not fill the disk with each of its events.
    """
    huge = "x" * 10**6
    entries = kept(
        CallStarted(
            at=1.0,
            call_id=huge,
            name=huge,
            arguments={"a": huge},
            meta=ToolMeta(name="huge", description="Be huge."),
        ),
        finished(huge, huge, 2.0, content=huge, value=huge),
        contents=True,
    )

    assert len(json.dumps(entries)) < 30_000
    assert entries[1]["content"].endswith("... [1000000 characters]")
    assert 10_000 == len(entries[1]["content"])


class Later(Event):
    """
    An event of a later version.
    """


@pytest.mark.parametrize("done", [10**400, float("inf"), float("nan"), "half"])
def test_progress_in_odd_numbers_costs_no_event(done):
    """
    A body counts as it likes.
    """
    event = Progress(at=1.0, call_id="c", name="add", done=done, total=2, message="")

    assert (None, 2) == (kept(event)[0]["done"], kept(event)[0]["total"])


def test_an_event_that_is_not_known_is_kept_by_its_name():
    """
    A hook of this version may hear of more than it knows.
    """
    assert "Later" == kept(Later(at=1.0))[0]["event"]


def test_every_event_has_an_entry_of_plain_data():
    """
    Each is a line of JSON and comes back the same.
    """
    events = [*every_kind(), LoopBlocked(at=1.0, call_id="c", name="a", blocked_for=1)]
    entries = kept(*events, contents=True)

    assert entries == json.loads(json.dumps(entries, allow_nan=False))
    assert [(type(event).__name__, event.at) for event in events] == [
        (entry["event"], entry["at"]) for entry in entries
    ]
    assert {name for name in telemetry.__all__ if is_event(name)} == {
        entry["event"] for entry in entries
    }


def test_the_keys_of_a_line_are_those_of_the_page():
    """
    docs/how-to/see-what-happened.md is what a program that reads journals is written by.
    """
    events = [*every_kind(), LoopBlocked(at=1.0, call_id="c", name="a", blocked_for=1)]
    facts = {"truncated": True, "original_size": 5, "writes": {"x": 1}}
    events.append(finished("c", "add", 1.0, original_id="x", **facts))
    events.append(LateFinish(at=1.0, call_id="c", name="add", late_by=1.0, value=5))
    recorder = Recorder(contents=True)
    for event in events:
        recorder(event)
    page = ROOT / "docs" / "how-to" / "see-what-happened.md"
    cells = " ".join(row[0] for row in table(page, "key"))
    everywhere = {"event", "at", "session", "call_id", "name", "run_id"}

    assert (
        set(re.findall(r"`(\w+)`", cells))
        == {key for entry in recorder for key in entry} - everywhere
    )


def is_event(name):
    """
    Tell whether a name of the module is one of an event.
    """
    kind = getattr(telemetry, name)

    return isinstance(kind, type) and issubclass(kind, Event) and kind is not Event


def test_a_journal_has_a_line_for_each_event(tmp_path):
    """
    With a head that says when it was, by the clock on the wall, and whose clock it is.
    """
    path = tmp_path / "run.jsonl"
    with Journal(path) as journal:
        for event in every_kind():
            journal(event)
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    expected = [type(event).__name__ for event in every_kind()]

    assert ["journal", *expected] == [line["event"] for line in lines]
    assert {"at", "event", "format", "process", "session", "wall"} == set(lines[0])
    assert lines == list(read_journal(path))
    assert os.getpid() == lines[0]["process"]
    assert 1 == len({line["session"] for line in lines})


def test_a_journal_is_for_its_owner(tmp_path):
    """
    Even without contents it says who called what.
    """
    with Journal(tmp_path / "run.jsonl") as journal:
        mode = stat.S_IMODE(journal.path.stat().st_mode)

    assert 0o600 == mode


def test_a_journal_goes_on_with_a_file(tmp_path):
    """
    Several runs may be kept in one; each is told apart by its session.
    """
    for _ in range(2):
        with Journal(tmp_path / "run.jsonl") as journal:
            journal(BatchStarted(at=1.0, call_ids=("a",)))
    entries = list(read_journal(tmp_path / "run.jsonl"))

    assert ["journal", "BatchStarted"] * 2 == [entry["event"] for entry in entries]
    assert 2 == len({entry["session"] for entry in entries})


def test_what_happens_after_the_end_of_a_journal_is_not_kept(tmp_path):
    """
    A body that ends late is told of at any time, and must not fail for that.
    """
    with Journal(tmp_path / "run.jsonl") as journal:
        pass
    journal(BatchStarted(at=1.0, call_ids=()))
    journal.close()

    assert b"" == journal.path.read_bytes()


def test_half_a_line_costs_itself_alone(tmp_path):
    """
    Whoever wrote it crashed in the middle of it, or the disk was full.
    """
    path = tmp_path / "run.jsonl"
    for _ in range(2):
        with Journal(path) as journal:
            journal(started("c", "add", 1.0))
        with path.open("ab") as file:
            file.write(b'{"event": "CallFini')

    assert ["journal", "CallStarted", "unreadable"] * 2 == [
        entry["event"] for entry in read_journal(path)
    ]


def test_lines_that_are_no_entries_are_counted(tmp_path):
    """
    A journal is a file that anybody may have had in their hands.
    """
    path = tmp_path / "run.jsonl"
    lines = [b"", b"null", b"[1]", b"{}", b'{"event": 5}', b"\xff", b"[" * 10**5]
    lines += [b'{"event": "login"}', b'{"event": "CallStarted", "at": NaN}']
    path.write_bytes(b"\n".join(lines))

    assert [
        {"event": "unreadable", "line": number} for number in range(2, len(lines) + 1)
    ] == list(read_journal(path))


def test_a_full_disk_is_said():
    """
    The client logs it, as of any hook that fails, and the call goes on.
    """
    with Journal("/dev/full") as journal, pytest.raises(OSError, match="space"):
        journal(started("c", "add", 1.0))


def test_threads_write_whole_lines(tmp_path):
    """
    Hooks are called from the threads of a batch; a line that is torn loses two events.
    """
    path, together = tmp_path / "run.jsonl", threading.Barrier(8, timeout=HANGS_AFTER)

    def write(number):
        together.wait()
        for n in range(200):
            journal(started(f"{number}-{n}", "add", 1.0, {"x": "y" * n}))

    with Journal(path) as journal:
        threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(HANGS_AFTER)
    entries = list(read_journal(path))
    ids = [entry["call_id"] for entry in entries if entry["event"] == "CallStarted"]

    assert {f"{number}-{n}" for number in range(8) for n in range(200)} == set(ids)
    assert (1601, 1600) == (len(entries), len(ids))


CRASH = """
import os, sys
from tooldecl import ToolCall, ToolClient, tool
from tooldecl.report import Journal

@tool
def add(a: int) -> int:
    "Add."
    return a

@tool
def crash() -> None:
    "End the process as a crash does."
    os._exit(7)

client = ToolClient([add, crash], hooks=[Journal(sys.argv[1])])
client.invoke_batch([ToolCall("add", {"a": 1}), ToolCall("crash")])
"""


@pytest.mark.slow
def test_a_crash_leaves_a_journal_that_can_be_read(tmp_path):
    """
    That is what a journal is for: the last line names the call in which it happened.
    """
    path = tmp_path / "run.jsonl"
    package = str(Path(tooldecl.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", CRASH, str(path)],
        check=False,
        env={**os.environ, "PYTHONPATH": package},
        timeout=HANGS_AFTER,
    )
    entries = list(read_journal(path))

    assert 7 == done.returncode
    assert [
        "journal",
        "BatchStarted",
        "CallStarted",
        "CallFinished",
        "CallStarted",
    ] == [entry["event"] for entry in entries]
    assert "crash" == entries[-1]["name"]


def test_a_line_is_ascii(tmp_path):
    """
    A journal is read with ``cat`` too: what moves the cursor or turns the text is escaped.
    """
    with Journal(tmp_path / "run.jsonl", contents=True) as journal:
        journal(started("c", HOSTILE, 1.0, {"a": HOSTILE}))
        journal(LoopBlocked(at=1.0, call_id="c", name=HOSTILE, blocked_for=0.5))
    text = journal.path.read_bytes()

    assert (True, True) == (text.isascii(), b"\x1b" not in text)
    assert HOSTILE == list(read_journal(journal.path))[1]["name"]
