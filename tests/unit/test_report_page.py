"""
The page that a report is: what it counts, draws and says, and what cannot harm it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import stat

from html.parser import HTMLParser
from pathlib import Path

import pytest

from happenings import HOSTILE, every_kind, failed, finished, many, started, timed_out
from tooldecl import Fate, Status
from tooldecl.exceptions import EngineBusyError, MalformedJSONError
from tooldecl.report import Journal, Recorder, render, write_report
from tooldecl.telemetry import (
    ApprovalAsked,
    ApprovalDecided,
    BatchFinished,
    BatchStarted,
    LateFinish,
    LoopFinished,
    LoopStarted,
)


VOID = ("meta", "rect", "line", "circle", "path")


class Page(HTMLParser):
    """
    What a page says.

    Attributes:
        counts: What stands in its head, by its words.
        lanes: The words, the description and the forms of each row of its time line.
        rows: The cells of each row of its table.
        names: The elements there are.
    """

    def __init__(self, text):
        super().__init__()
        self.names = []
        self.counts, self.lanes, self.rows, self._open = {}, [], [], []
        self._term = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        facts = dict(attrs)
        self.names.append(tag)
        kind = facts.get("class") or ""
        if tag == "a" and kind == "lane":
            self.lanes.append({"words": "", "desc": "", "forms": []})
        if tag in ("rect", "line") and self._is_in("a"):
            place = facts.get("x") or facts.get("x1")
            end = facts.get("width") or facts.get("x2")
            self.lanes[-1]["forms"].append((kind, percent(place), percent(end)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        if not self._open:
            return
        tag = self._open[-1]
        if tag == "dt" and self._is_in("header"):
            self._term = data
        elif tag == "dd" and self._is_in("header"):
            self.counts[self._term] = int(data.replace(",", ""))
        elif tag == "desc" and self._is_in("a"):
            self.lanes[-1]["desc"] = data
        elif self._is_in("a") and self.lanes and tag != "title":
            self.lanes[-1]["words"] += f"{data} "
        elif self._is_in("tr"):
            self.rows[-1][-1] += data

    def _is_in(self, tag):
        return tag in self._open


def percent(text):
    """
    Read a share of the width.
    """
    return round(float(text.removesuffix("%")))


def page(*events):
    """
    Read the page of what happened.
    """
    return Page(render(events))


def forms(*events, row=0):
    """
    List the forms of one row that say something.
    """
    found = page(*events).lanes[row]["forms"]

    return [form for form in found if form[0] not in ("answer", "around", "end")]


def test_the_head_counts_how_calls_ended():
    """
    Whoever opens a report wants to know that first.
    """
    assert {
        "Calls": 7,
        "ok": 3,
        "timeout": 2,
        "arguments refused": 1,
        "failed": 1,
        "Outlived their deadline": 2,
        "Still running after the batch returned": 1,
    } == page(*every_kind()).counts


def test_every_call_has_a_row_in_the_order_asked_for():
    """
    Calls of a batch begin in any order; a reader looks for the third one.
    """
    ids = ("a", "b", "c")
    events = [BatchStarted(at=0.0, call_ids=ids)]
    for at, call_id in enumerate(("c", "a", "b"), 1):
        events += [started(call_id, f"tool_{call_id}", at)]
        events += [finished(call_id, f"tool_{call_id}", at + 0.5)]
    found = page(*events)

    assert ["1 tool_a ok ", "2 tool_b ok ", "3 tool_c ok "] == [
        lane["words"] for lane in found.lanes
    ]
    assert ["tool_a", "tool_b", "tool_c"] == [row[1] for row in found.rows[1:]]


def test_an_attempt_is_a_bar():
    """
    From when it began to when it ended, and not from when the call came in.
    """
    events = [
        started("a", "add", 0.0),
        finished("a", "add", 10.0, began=2.0, ended=5.0, elapsed=10.0),
    ]

    assert [("ran", 20, 30)] == forms(*events)


def test_a_call_that_was_tried_again_has_a_bar_for_each_attempt():
    """
    With dashes between them, and a mark on the one that failed.
    """
    events = [
        started("a", "add", 0.0),
        failed("a", "add", 0.0, 2.0, retry_in=3.0),
        finished("a", "add", 10.0, began=5.0, ended=10.0, attempts=2, elapsed=10.0),
    ]
    text = render(events)

    assert [("between", 20, 50), ("failed", 0, 20), ("ran", 50, 50)] == forms(*events)
    assert 1 == len(re.findall('class="mark failed"', text.partition("<ol")[2]))
    assert "ok; 2 attempts" in Page(text).lanes[0]["words"]


def test_a_body_that_was_seen_to_end_is_hatched_until_then():
    """
    The call was answered at the first half; its body took as long again.
    """
    events = [
        started("a", "add", 0.0),
        *timed_out("a", "add", 0.0, 5.0, elapsed=5.0),
        LateFinish(at=10.0, call_id="a", name="add", late_by=5.0),
    ]
    found = page(*events)

    assert [("timeout", 0, 50), ("outlived", 50, 50)] == forms(*events)
    assert (
        "1 add timeout; the body was given up, ended 5 s later "
        == (found.lanes[0]["words"])
    )
    assert "Its body ended 5 s later." in found.lanes[0]["desc"]


def test_a_body_that_was_not_seen_to_end_goes_beyond_the_edge():
    """
    A bar that ends says that something has ended.
    """
    events = [started("a", "add", 0.0), *timed_out("a", "add", 0.0, 5.0, elapsed=5.0)]
    text = render(events)
    [_, (kind, left, width)] = forms(*events)

    assert ("outlived", 100) == (kind, left + width)
    assert "not seen to end" in Page(text).lanes[0]["words"]
    assert 'class="mark onward"' in text
    assert "may still take effect" in text


def test_a_late_end_belongs_to_the_attempt_that_was_given_up():
    """
    A tool that is safe to repeat may have several at large.
    """
    [first, _] = timed_out("a", "add", 0.0, 2.0)
    events = [
        started("a", "add", 0.0),
        first,
        LateFinish(at=6.0, call_id="a", name="add", late_by=4.0, attempt=1),
        finished("a", "add", 10.0, began=4.0, ended=10.0, attempts=2, elapsed=10.0),
    ]

    assert [
        ("between", 20, 40),
        ("timeout", 0, 20),
        ("ran", 40, 59),
        ("outlived beside", 20, 40),
    ] == forms(*events)


def test_a_late_end_of_an_id_that_came_again_belongs_to_the_earlier_call():
    """
    Models count their calls from 1 in each turn.
    """
    events = [
        started("a", "add", 0.0),
        *timed_out("a", "add", 0.0, 1.0),
        started("a", "add", 2.0),
        finished("a", "add", 2.5, began=2.0, ended=2.5),
        LateFinish(at=3.0, call_id="a", name="add", late_by=2.0),
    ]
    found = page(*events)

    assert "ended 2 s later" in found.lanes[0]["words"]
    assert "2 add ok " == found.lanes[1]["words"]


@pytest.mark.parametrize(
    ("came_in", "expected"),
    [(4.0, [(0, 40)]), (2.0, [(0, 20), (20, 40)]), (0.0, [(0, 40)])],
)
def test_the_wait_for_a_turn_is_a_line(came_in, expected):
    """
    It is spent before the call comes in, for its place in the batch, and after the gate,
    for a place of the engine and its group; the result knows both together.
    """
    events = [
        BatchStarted(at=0.0, call_ids=("a",)),
        started("a", "add", came_in),
        finished(
            *("a", "add", 10.0), began=4.0, ended=10.0, elapsed=6.0, queue_wait=4.0
        ),
        BatchFinished(at=10.0, call_ids=("a",)),
    ]
    found = [(a, b) for kind, a, b in forms(*events) if kind == "queued"]

    assert expected == found


@pytest.mark.parametrize("turn", [4.0, 2.0, 0.0])
def test_a_call_comes_in_with_its_batch(turn):
    """
    Whether it is its engine or its group that lets it wait, the same words say the same:
    it came in, waited, and was answered.
    """
    found = page(
        BatchStarted(at=0.0, call_ids=("a", "b")),
        started("a", "add", 0.0),
        finished("a", "add", 1.0, began=0.0, ended=1.0, elapsed=1.0),
        started("b", "add", turn),
        finished(
            *("b", "add", 10.0), began=4.0, ended=10.0, elapsed=6.0, queue_wait=4.0
        ),
    )

    assert found.lanes[1]["desc"].startswith(
        "Came in after 0. Waited 4 s for its turn."
    )
    assert ["0", "4 s", "0", "10 s"] == found.rows[2][5:9]


def test_a_call_without_an_answer_came_in_with_its_batch_too():
    """
    Its result would say how long it had waited; that it did is known without.
    """
    found = page(
        BatchStarted(at=0.0, call_ids=("a",)),
        started("a", "crash", 3.0),
        finished("b", "add", 10.0),
    )

    assert "Came in after 0. Waited 3 s for its turn." in found.lanes[0]["desc"]
    assert ["0", "3 s"] == found.rows[1][5:7]


def test_the_wait_for_a_person_is_dotted():
    """
    It is no time of the tool's, and often the longest of all.
    """
    events = [
        started("a", "pay", 0.0),
        ApprovalAsked(at=1.0, call_id="a", name="pay", expires=60.0),
        ApprovalDecided(at=8.0, call_id="a", name="pay", decision="approved"),
        finished("a", "pay", 10.0, began=8.0, ended=10.0, elapsed=10.0),
    ]
    found = page(*events)

    assert [("person", 10, 79), ("ran", 79, 20)] == forms(*events)
    assert "Waited 7 s for a person: approved." in found.lanes[0]["desc"]
    assert "7 s" == found.rows[1][7]


def test_a_call_without_an_answer_is_shown_as_that():
    """
    The journal of a crash ends in the middle of it.
    """
    found = page(
        started("a", "add", 0.0), started("b", "crash", 0.0), finished("a", "add", 1.0)
    )

    assert {"Calls": 2, "ok": 1, "no answer recorded": 1} == {
        words: n for words, n in found.counts.items() if n
    }
    assert "2 crash no answer recorded " == found.lanes[1]["words"]
    assert "No answer was recorded." in found.lanes[1]["desc"]


def test_an_attempt_that_never_began_has_no_bar():
    """
    The engine had no room for it: that was found out after it was made.
    """
    error = EngineBusyError(tool="add", reason="no thread")
    events = [
        started("a", "add", 0.0),
        failed("a", "add", 0.0, 0.0, error=error),
        finished(
            *("a", "add", 1.0),
            attempts=0,
            status=Status.BUSY,
            fate=Fate.NOT_STARTED,
            error=error,
        ),
    ]

    assert [] == forms(*events)
    assert "never started" == page(*events).rows[1][3]


def test_events_without_times_of_attempts_are_drawn_all_the_same():
    """
    A journal may be older than these times.
    """
    events = [
        started("a", "add", 0.0),
        failed("a", "add", None, 4.0),
        finished("a", "add", 10.0, attempts=2, elapsed=10.0),
    ]

    assert [("failed", 0, 40), ("ran", 40, 59)] == forms(*events)


def test_what_was_kept_is_in_the_details():
    """
    The picture says when, the details say what.
    """
    kept = Recorder(contents=True)
    for event in every_kind():
        kept(event)
    text = render(kept)

    assert "<pre>{&quot;query&quot;: &quot;lamp&quot;}</pre>" in text
    assert "failed for 200 ms; ConnectionError: no route" in text
    assert "not kept: the tool is declared sensitive" in text
    assert "progress 1 of 2: half" in text
    assert "2 calls wrote the slot cart; the last won" in text


def test_what_names_no_tool_is_shown_as_that():
    """
    An empty cell is no answer to what a row is.
    """
    error = MalformedJSONError(reason="a value was expected", offset=0)
    refused = {"status": Status.INVALID, "fate": Fate.NOT_STARTED, "attempts": 0}
    refused |= {"content": str(error), "error": error, "value": None}
    events = [started("a", "", 0.0), finished("a", "", 0.0, **refused)]
    found = page(*events)
    text = render(events)

    assert "1 (no tool) request refused " == found.lanes[0]["words"]
    assert "(no tool)" == found.rows[1][1]
    assert "<title>(no tool): request refused</title>" in text
    assert "MalformedJSONError: The arguments were refused" in found.rows[1][9]
    assert "a value was expected" in found.rows[1][9]
    assert f"{len(error.args[0])} characters<" in text


def test_events_as_they_are_give_kinds_and_lengths():
    """
    A report is passed on more easily than it is read.
    """
    text = render(every_kind())

    assert (False, True) == ("lamp" in text, "{query: str[4]}" in text)
    assert "no route" not in text


def test_what_others_wrote_cannot_be_more_than_words():
    """
    Names of tools, ids, arguments, results, messages and slots, and the title too.
    """
    kept = Recorder(contents=True)
    for event in every_kind():
        kept(event)
    kept(started(HOSTILE, "add", 200.0, {HOSTILE: HOSTILE}))
    kept(LoopStarted(at=200.0, run_id=HOSTILE))
    kept(LoopFinished(at=201.0, run_id=HOSTILE, stop_reason=HOSTILE, turns=1))
    text = render(kept, title=HOSTILE)

    assert {"script", "img"}.isdisjoint(Page(text).names)
    assert "&lt;script&gt;pwned=1" in text
    assert all(c.isprintable() or c in "\n\t" for c in text)
    text.encode()


def test_the_page_allows_itself_nothing_but_its_style():
    """
    The policy names the one style sheet by its digest; there are no styles elsewhere.
    """
    text = render(many(10))
    [style] = re.findall("<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    [policy] = re.findall('Content-Security-Policy" content="([^"]*)"', text)

    assert (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; "
        "form-action 'none'"
    ) == policy
    assert [] == re.findall(r" style=| on\w+=|https?:|url\((?!#)", text)


def test_a_long_pause_divides_two_pictures():
    """
    Over a night, every bar would be a hair.
    """
    events = [
        started("a", "add", 0.0),
        finished("a", "add", 1.0),
        started("b", "add", 4000.0),
        finished("b", "add", 4001.0),
    ]
    text = render(events)

    assert 2 == text.count('class="picture"')
    assert ["1 add ok ", "2 add ok "] == [lane["words"] for lane in Page(text).lanes]


def test_a_pause_of_a_model_divides_nothing():
    """
    Between two turns of one run a model may think for minutes.
    """
    events = [
        LoopStarted(at=0.0, run_id="r"),
        started("a", "add", 0.0),
        finished("a", "add", 1.0),
        started("b", "add", 300.0),
        finished("b", "add", 301.0),
        LoopFinished(at=302.0, run_id="r", stop_reason="answer", turns=2),
    ]

    assert 1 == render(events).count('class="picture"')


def test_a_page_has_no_more_rows_than_somebody_can_read():
    """
    All of them are counted, and it says how many are not shown.
    """
    text = render(many(2100))
    found = Page(text)

    assert (2100, 2000) == (found.counts["Calls"], len(found.lanes))
    assert "100 more calls are counted above and not shown." in text


def test_a_page_of_nothing_is_a_page():
    """
    A run without calls is told of as well.
    """
    text = render([])

    assert ({"Calls": 0}, True) == (
        {k: v for k, v in page().counts.items() if k == "Calls"},
        "There were no calls." in text,
    )


@pytest.mark.parametrize(
    "entry",
    [
        {"event": "CallStarted"},
        {"event": "CallStarted", "at": "soon"},
        {"event": "CallStarted", "at": 10**400},
        {"event": "CallStarted", "at": float("nan")},
        {"event": "CallStarted", "at": True},
        {"event": "CallStarted", "at": 1, "call_id": 5, "name": None, "session": []},
        {
            "event": "CallFinished",
            "at": 1,
            "call_id": "x",
            "status": {},
            "attempts": -5,
        },
        {"event": "CallFinished", "at": 1, "call_id": "x", "attempts": 10**9},
        {"event": "AttemptFailed", "at": 1, "call_id": "x", "began": -1e300},
        {"event": "LateFinish", "at": 1, "call_id": "x", "late_by": 1e300},
        {"event": "BatchStarted", "at": 1, "call_ids": "abc"},
        {"event": "BatchFinished", "at": 1, "call_ids": [1, None]},
        {"event": "LoopFinished", "at": 1},
        {"event": "journal", "at": 1, "wall": "yesterday", "process": -1},
        {"event": "journal", "at": 1, "wall": "0001-01-01T00:00:00+14:00"},
        {"event": "unknown", "at": 1},
    ],
    ids=str,
)
def test_entries_that_nobody_wrote_do_no_harm(entry):
    """
    A journal is a file, and may have been through many hands.
    """
    text = render([entry, *Recorder(), {"event": "CallStarted", "at": 2.0}])

    assert text.endswith("</html>\n")


NUMBERS = [
    *("1e15", "-1e15", "1e308", "-1e308", "1e999", "NaN", "Infinity", "-Infinity"),
    *("1" + "0" * 400, "1" + "0" * 5000),
]

TIMES = (
    *("at", "began", "ended", "elapsed", "queue_wait", "late_by", "blocked_for"),
    *("attempt", "attempts", "characters", "process"),
)


@pytest.mark.parametrize(
    "number", NUMBERS, ids=lambda number: f"{number[:9]}-{len(number)}"
)
def test_a_line_with_a_number_that_nobody_wrote_is_counted_as_unreadable(
    tmp_path, number
):
    """
    A picture of it has no width, or one beyond all bounds.
    """
    path = tmp_path / "run.jsonl"
    lines = [
        f'{{"event":"{event}","at":1,"session":"a","call_id":"c","{key}":{number}}}\n'
        for key in TIMES
        for event in ("CallStarted", "AttemptFailed", "CallFinished", "LateFinish")
    ]
    path.write_text("".join(lines), encoding="utf-8")

    assert f"{len(lines)} lines of the journal" in render(path)

    first = '{"event":"CallStarted","at":1,"session":"a","call_id":"c","name":"t"}\n'
    for line in lines:
        path.write_text(first + line, encoding="utf-8")

        assert "1 line of the journal" in render(path)


@pytest.mark.parametrize("at", [-1e10, 1e10])
@pytest.mark.parametrize("other", [-1e10, 1.0, 1e10])
def test_what_can_be_read_can_be_drawn(at, other):
    """
    Up to the greatest number that is taken for one of ours.
    """
    entries = [
        {"event": "CallStarted", "at": at, "call_id": "c"},
        {"event": "AttemptFailed", "at": at, "call_id": "c", "began": other},
        {"event": "CallFinished", "at": other, "call_id": "c", "queue_wait": 1e10},
        {"event": "LateFinish", "at": at, "call_id": "c", "late_by": 1e10},
    ]

    assert render(entries[:1]).endswith("</html>\n")
    assert render(entries).endswith("</html>\n")


@pytest.mark.parametrize(
    "number", NUMBERS[:-1], ids=lambda number: f"{number[:9]}-{len(number)}"
)
def test_what_a_body_says_of_its_progress_is_not_calculated_with(number):
    """
    It may count whatever it likes.
    """
    done: object = json.loads(number)
    text = render(
        [
            {"event": "CallStarted", "at": 1.0, "call_id": "c"},
            {"event": "Progress", "at": 1.5, "call_id": "c", "done": done},
        ]
    )

    assert "progress" in text


def test_a_report_is_written_as_a_whole(tmp_path):
    """
    What was there is replaced at once, and nothing else is left beside it.
    """
    path = tmp_path / "run.html"
    path.write_text("before", encoding="utf-8")
    path.chmod(0o640)
    with Journal(tmp_path / "run.jsonl") as journal:
        journal(started("a", "add", 1.0))
    made = write_report(path, journal.path, title="One call")

    assert path == made
    assert render(journal.path, title="One call") == path.read_text(encoding="utf-8")
    assert ["run.html", "run.jsonl"] == sorted(p.name for p in tmp_path.iterdir())
    assert 0o640 == stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("contents", [False, True])
def test_a_new_report_is_for_its_owner_where_it_has_contents(tmp_path, contents):
    """
    Kinds and lengths may be read by whom other files may be; arguments may not.
    """
    kept = Recorder(contents=contents)
    kept(started("a", "add", 1.0, {"a": 1}))
    usual = tmp_path / "usual"
    usual.touch()
    made = write_report(tmp_path / "run.html", kept)
    expected = 0o600 if contents else stat.S_IMODE(usual.stat().st_mode)

    assert expected == stat.S_IMODE(made.stat().st_mode)


@pytest.mark.parametrize("there", [True, False])
def test_a_link_leads_to_the_report_and_stays(tmp_path, there):
    """
    Somebody has set it where a server looks.
    """
    link, target = tmp_path / "link.html", tmp_path / "elsewhere" / "run.html"
    target.parent.mkdir()
    link.symlink_to(target)
    if there:
        target.write_text("before", encoding="utf-8")

    assert link == write_report(link, [])
    assert link.is_symlink()
    assert render([]) == target.read_text(encoding="utf-8")
    assert [target] == list(target.parent.iterdir())


def _pipe(path):
    os.mkfifo(path)


def _link_to_a_pipe(path):
    os.mkfifo(path.parent / "pipe")
    path.symlink_to(path.parent / "pipe")


def _circle(path):
    path.symlink_to(path)


@pytest.mark.parametrize("make", [_pipe, _link_to_a_pipe, Path.mkdir, _circle])
def test_what_is_no_file_is_refused_by_its_name(tmp_path, make):
    """
    A pipe or a device in whose place a file stands is lost to everybody else.
    """
    path = tmp_path / "run.html"
    make(path)
    before = {p: p.lstat().st_mode for p in tmp_path.iterdir()}
    with pytest.raises(OSError, match=r"run\.html") as caught:
        write_report(path, [])

    assert str(path) == caught.value.filename
    assert before == {p: p.lstat().st_mode for p in tmp_path.iterdir()}


def test_a_folder_that_is_not_there_is_named_by_the_path_asked_for(tmp_path):
    """
    The name of a file that we make meanwhile tells nobody anything.
    """
    path = tmp_path / "none" / "run.html"
    with pytest.raises(FileNotFoundError) as caught:
        write_report(path, [])

    assert str(path) == caught.value.filename


def test_a_journal_is_taken_like_its_path(tmp_path):
    """
    Whoever has the hook at hand looks at what it has kept so far.
    """
    with Journal(tmp_path / "run.jsonl") as journal:
        journal(started("a", "add", 1.0))

        assert render(journal) == render(journal.path) == render(str(journal.path))


def test_a_clock_may_begin_at_zero():
    """
    The clocks of tests do; a moment at zero is no missing one.
    """
    events = [
        ApprovalAsked(at=-2.0, call_id="a", name="pay", expires=None),
        ApprovalDecided(at=0.0, call_id="a", name="pay", decision="approved"),
        *timed_out("a", "pay", 0.0, 0.0),
        LateFinish(at=0.0, call_id="a", name="pay", late_by=0.0),
    ]
    found = page(started("a", "pay", -2.0), *events)

    assert "Waited 2 s for a person: approved." in found.lanes[0]["desc"]
    assert "the body was given up, ended 0 later" in found.lanes[0]["words"]


def test_a_report_that_cannot_be_made_leaves_the_old_one(tmp_path):
    """
    The journal is not there.
    """
    path = tmp_path / "run.html"
    path.write_text("before", encoding="utf-8")
    with pytest.raises(FileNotFoundError):
        write_report(path, tmp_path / "none.jsonl")

    assert "before" == path.read_text(encoding="utf-8")
    assert [path] == list(tmp_path.iterdir())


def test_two_sessions_of_one_journal_are_told_apart(tmp_path):
    """
    Their clocks have nothing to do with each other, and their ids are the same.
    """
    for at in (5000.0, 1.0):
        with Journal(tmp_path / "run.jsonl") as journal:
            journal(started("a", "add", at))
            journal(finished("a", "add", at + 1, began=at, ended=at + 1))
    text = render(tmp_path / "run.jsonl")

    assert (2, 2) == (text.count('class="picture"'), Page(text).counts["ok"])


def test_lines_that_cannot_be_read_are_counted(tmp_path):
    """
    Who reads the report should know that something is missing.
    """
    path = tmp_path / "run.jsonl"
    path.write_text("half a li", encoding="utf-8")

    assert "1 line of the journal could not be read." in render(path)
