"""
``tooldecl run`` and ``tooldecl report``: a batch from a file, and a page of what happened.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal

import pytest

from command_line import started, typed, written
from ordering import HANGS_AFTER
from terminals import Terminal
from tooldecl.report import read_journal


TOOLS = '''\
import sys, threading
from tooldecl import Budget, ToolClient, tool
from tooldecl.engines import ThreadEngine

both = threading.Barrier(2, timeout=30)

@tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    sys.stdout.write("printed while it runs\\n")
    return a + b

@tool
def meet() -> str:
    """Wait for somebody else."""
    both.wait()
    return "met"

@tool
def fail(word: str) -> str:
    """Fail."""
    raise KeyError(word)

@tool
def hang() -> str:
    """Hang."""
    sys.stderr.write("begun\\n")
    threading.Event().wait()

@tool(sensitive=True)
def pay(card: str) -> str:
    """Pay."""
    return "paid"

client = ToolClient([add], budget=Budget(calls=1))
'''


@pytest.fixture
def run(cli):
    """
    Run a batch of lines in this process.
    """
    cli.write("shop.py", TOOLS)

    def run(*lines, of="shop", options=()):
        cli.write("batch.jsonl", "".join(f"{line}\n" for line in lines))
        return cli("run", of, "batch.jsonl", *options)

    return run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """
    A folder with our tools, for processes of their own.
    """
    folder = tmp_path_factory.mktemp("shop")
    written(folder, "shop.py", TOOLS)

    return folder


def line(name, call_id=None, **arguments):
    """
    Write one call.
    """
    call = {"tool": name, "arguments": arguments}

    return json.dumps(call if call_id is None else call | {"id": call_id})


def results(done):
    """
    Read the lines that were written.
    """
    return [json.loads(text) for text in done.out.splitlines()]


def test_each_line_has_its_result_in_order(run):
    """
    Whoever reads them needs no ids to tell which is which, and nothing between them.
    """
    done = run(line("add", "x", a=1, b=2), "", line("add", a=3, b=4))

    assert [
        {"id": "x", "tool": "add", "status": "ok", "content": "3"},
        {"id": "line-3", "tool": "add", "status": "ok", "content": "7"},
    ] == results(done)
    assert 0 == done.code
    assert "printed while it runs" in done.err


def test_all_there_is_of_a_result_is_written_on_demand(run):
    """
    The value and not only its text, the fate, the times.
    """
    [result] = results(run(line("add", a=1, b=2), options=["--json"]))

    assert (3, "completed", 1) == (result["value"], result["fate"], result["attempts"])
    assert result["elapsed"] > 0


WRONG = [
    "nothing",
    "[]",
    '{"tool": "add"} and more',
    '{"arguments": {}}',
    '{"tool": 5, "arguments": {}}',
    '{"tool": "add", "arguments": [1, 2]}',
    '{"tool": "add", "arguments": "{}"}',
    '{"tool": "add", "tool": "add", "arguments": {}}',
    '{"tool": "add", "arguments": {"a": 1, "b": 2}, "colour": "red"}',
    '{"tool": "add", "arguments": {"a": 1, "b": 2}, "id": NaN}',
    '{"tool": "add", "arguments": {"a": 1, "b": 2}, "id": ["x"]}',
    '{"tool": "add", "arguments": {"a": 1, "b": 2, "a": 1}}',
    '{"tool": "add", "arguments": {"a": 1, "b": 1e999}}',
    '{"tool": "add", "arguments": {"a": 1, "b": NaN}}',
    '{"tool": "add", "arguments": {"a": 1, "b": 2.0}}',
    '{"tool": "add"}',
    '{"tool": "add", "arguments": null}',
    '{"tool": "add", "arguments": {"a": "\\ud800", "b": 2}}',
    '{"tool": "add", "arguments": {"a": ' + "[" * 100 + "]" * 100 + ', "b": 2}}',
    "[" * 100_000,
    "\ufeff" + line("add", a=1, b=2),
]


@pytest.mark.parametrize("wrong", WRONG, ids=range(len(WRONG)))
def test_a_line_that_is_no_call_is_answered_and_nothing_else_is_lost(run, wrong):
    """
    Also what is only wrong in its arguments: they go to the gate as the text they are,
    so a key given twice is found.
    """
    good = line("add", a=1, b=2)
    done = run(good, wrong, good)

    assert ["ok", "invalid", "ok"] == [result["status"] for result in results(done)]
    assert ["line-1", "line-2", "line-3"] == [result["id"] for result in results(done)]
    assert 2 == done.code


def test_arguments_reach_the_tool_as_they_were_written(run, cli):
    """
    A large integer, a text that looks like JSON, what is not ASCII, every kind of value.
    """
    cli.write(
        "kinds.py",
        '''\
        from typing import Any
        from tooldecl import tool

        @tool
        def tell(value: Any) -> list[str]:
            """Tell what came."""
            return [type(value).__name__, repr(value)]
        ''',
    )
    values = [9007199254740991, "[1]", "Zoë \n", 1.5, True, None, [1, [2]], {"a": {}}]
    done = run(*(line("tell", value=value) for value in values), of="kinds")

    assert [[type(value).__name__, repr(value)] for value in values] == [
        json.loads(result["content"]) for result in results(done)
    ]


def test_ids_that_come_twice_are_made_unique(run):
    """
    Each answer has one id; numbers are ids as well.
    """
    call = {"tool": "add", "arguments": {"a": 1, "b": 2}}
    lines = [json.dumps({**call, "id": i}) for i in ("x", "x", 7, None, "")]
    first, second, number, none, empty = results(run(*lines))

    assert ("x", "7", "line-4", "line-5") == (
        first["id"],
        number["id"],
        none["id"],
        empty["id"],
    )
    assert second["id"] not in ("", "x")


def test_the_help_names_all_that_a_result_has(run, cli):
    """
    Whoever writes a program for the results reads the help.
    """
    call = line("add", "x", a=1, b=2)
    told = cli("run", "--help").out

    assert [] == [
        key for result in results(run(call, call)) for key in result if key not in told
    ]


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["short", "json"])
def test_the_id_that_was_given_stands_beside_the_one_made(run, options):
    """
    Whoever joins answers to questions by id finds all of them, also those of lines that
    are no calls.
    """
    call = line("add", "x", a=1, b=2)
    broken = json.dumps({"tool": 1, "id": "x"})
    lost = json.dumps({"tool": 1, "id": "y"})
    found = results(run(call, call, broken, lost, lost, options=options))

    assert [None, "x", "x", None, "y"] == [r.get("original_id") for r in found]
    assert 5 == len({r["call_id" if options else "id"] for r in found})


@pytest.mark.parametrize(
    ("lines", "options", "code"),
    [
        ([line("add", a=1, b=2)], [], 0),
        ([line("add", a=1, b=2), line("nothing")], [], 2),
        ([line("pay", card="1"), line("add", a=1)], [], 2),
        ([line("add", a=1), line("fail", word="x")], [], 3),
        ([line("pay", card="1")], [], 5),
        ([], [], 0),
    ],
    ids=range(6),
)
def test_the_exit_code_is_that_of_the_worst(run, lines, options, code):
    """
    A script looks at one number; what left a body behind is the worst of all.
    """
    assert code == run(*lines, options=options).code


def test_a_client_of_a_module_keeps_its_own_limits(run):
    """
    Its budget is over after one call; and it cannot be given another engine.
    """
    call = line("add", a=1, b=2)
    done = run(call, call, of="shop:client", options=["--report", "run.html"])
    refused = run(call, of="shop:client", options=["--engine", "threads"])

    assert (6, ["ok", "budget"]) == (done.code, [r["status"] for r in results(done)])
    assert (2, "") == (refused.code, refused.out)
    assert "its engine, its filters and its hooks are its own" in refused.err


@pytest.mark.parametrize("engine", ["threads", "asyncio"])
def test_an_engine_runs_calls_at_once(run, engine):
    """
    Each waits for the other.
    """
    done = run(*[line("meet")] * 2, options=["--engine", engine])

    assert ["met", "met"] == [result["content"] for result in results(done)]


@pytest.mark.slow
def test_so_many_run_at_once_and_no_more(folder):
    """
    With one place the two that wait for each other never meet; and a body that was left
    behind is worse than any failure.
    """
    options = ["--engine", "threads", "--max-concurrency", "1", "--within", "2"]
    lines = f"{line('fail', word='x')}\n" + f"{line('meet')}\n" * 2
    done = typed(folder, "run", "shop.py", "-", *options, typing=lines)

    assert 4 == done.code
    assert ["tool_error", "timeout", "not_run"] == [
        result["status"] for result in results(done)
    ]
    assert "Given up while running: 1." in done.err


@pytest.mark.slow
def test_calls_run_in_processes_of_their_own(folder):
    """
    What hangs there is killed.
    """
    lines = f"{line('add', a=1, b=2)}\n{line('hang')}\n"
    options = ["--engine", "processes", "--timeout", "2", "--json"]
    done = typed(folder, "run", "shop.py", "-", *options, typing=lines)

    assert [("ok", "completed"), ("timeout", "killed")] == [
        (result["status"], result["fate"]) for result in results(done)
    ]
    assert 4 == done.code


def test_each_end_is_told_while_the_batch_runs(run):
    """
    By names and never by values: it is a log like any other.
    """
    done = run(line("add", "x", a=1, b=2), line("fail", "y", word="card-4111"))
    told = [text for text in done.err.splitlines() if text.startswith("[")]

    assert ["[1/2] add x: ok,", "[2/2] fail y: tool_error,"] == [
        text.rpartition(" ")[0].rpartition(" ")[0] for text in told
    ]
    assert "card-4111" not in done.err
    assert done.err.endswith("2 calls: 1 ok, 1 tool_error.\n")


def test_what_happens_is_kept_and_shown(run, cli):
    """
    A journal, and a page; and a page of the journal later.
    """
    files = ["--journal", "run.jsonl", "--report", "run.html"]
    done = run(line("add", a=41, b=1), line("pay", card="card-4111"), options=files)
    again = cli("report", "run.jsonl", "-o", "later.html", "--title", "Later <&>")
    page = (cli.folder / "run.html").read_text(encoding="utf-8")
    later = (cli.folder / "later.html").read_text(encoding="utf-8")
    kinds = [entry["event"] for entry in read_journal(cli.folder / "run.jsonl")]

    assert (5, 0, "later.html\n") == (done.code, again.code, again.out)
    assert ["journal", "BatchStarted", "CallStarted"] == kinds[:3]
    assert "<h1>Run of shop</h1>" in page
    assert "<h1>Later &lt;&amp;&gt;</h1>" in later
    assert ('"good">ok', '"person">denied') == tuple(
        found for found in ('"good">ok', '"person">denied') if found in page
    )
    assert "{a: int, b: int}" in page


def test_a_file_is_one_batch_in_the_order_of_its_lines(run, cli):
    """
    Whoever reads the page has the file beside it, and looks for the third line.
    """
    same = line("add", "x", a=1, b=2)
    lines = [same, "nothing", same, '{"tool": "add", "args": {}, "id": 7}']
    files = ["--journal", "run.jsonl", "--report", "run.html"]
    done = run(*lines, options=files)
    kept = [*read_journal(cli.folder / "run.jsonl")]
    ids = [result["id"] for result in results(done)]
    page = (cli.folder / "run.html").read_text("utf-8")
    rows = re.findall(r'<td class="name"><bdi>(.*?)</bdi>', page)

    assert [ids] * 2 == [e["call_ids"] for e in kept if "call_ids" in e]
    assert kept == sorted(kept, key=lambda entry: entry["at"])
    assert ["add", "(no tool)", "add", "(no tool)"] == rows
    assert "a value was expected (character 0)" in page


def test_a_file_of_nothing_but_what_is_no_call_is_kept(run, cli):
    """
    There is a batch of none, and what was refused is told.
    """
    run("nothing", "[]", options=["--journal", "run.jsonl"])
    kept = [*read_journal(cli.folder / "run.jsonl")]
    kinds = [entry["event"] for entry in kept]

    assert 2 == kinds.count("CallFinished")
    assert [["line-1", "line-2"]] * 2 == [
        e["call_ids"] for e in kept if "call_ids" in e
    ]


def test_a_line_that_is_no_call_is_told_so(run):
    """
    It may have an id here, which a request elsewhere does not have.
    """
    call = {"tool": "add", "args": {"a": 1, "b": 2}, "id": 1}
    [result] = results(run(json.dumps(call)))

    assert (
        "The request was refused and nothing was run: a request has "
        '"tool" and "arguments" and no such member at $.args. Send one JSON object.'
    ) == result["content"]


@pytest.mark.parametrize("contents", [False, True])
def test_contents_are_kept_where_they_are_asked_for(run, cli, contents):
    """
    Neither file shows a value otherwise; and in no case one of a sensitive tool.
    """
    files = ["--journal", "run.jsonl", "--report", "run.html", "--approve-all"]
    options = [*files, "--contents"] if contents else files
    run(
        line("add", a=424242424242, b=1), line("pay", card="card-4111"), options=options
    )
    kept = [
        (cli.folder / name).read_text(encoding="utf-8")
        for name in ("run.jsonl", "run.html")
    ]

    assert [contents] * 2 == ["424242424242" in text for text in kept]
    assert [False] * 2 == ["card-4111" in text for text in kept]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["run", "shop", "none.jsonl"], 2, "none.jsonl"),
        (["run", "nothing", "batch.jsonl"], 1, "There is no module 'nothing'"),
        (["run", "batch.jsonl", "shop.py"], 1, "batch.jsonl is not a .py file."),
        (["run", "shop", "batch.jsonl", "--timeout", "0"], 2, "above 0"),
        (["run", "shop", "batch.jsonl", "--within", "nan"], 2, "above 0"),
        (["run", "shop", "batch.jsonl", "--max-concurrency", "0"], 2, "x>=1"),
        (
            ["run", "shop", "batch.jsonl", "--max-concurrency", "2"],
            2,
            "needs --engine threads, asyncio, processes",
        ),
        (
            ["run", "shop", "-", "--engine", "sequential", "--max-concurrency", "2"],
            2,
            "needs --engine threads, asyncio, processes",
        ),
        (["run", "shop", "batch.jsonl", "--report", "no/x.html"], 2, "no folder no"),
        (["run", "shop", "batch.jsonl", "--report", "pipe"], 2, "no regular file"),
        (["run", "shop", "batch.jsonl", "--journal", "no/x"], 2, "no folder no"),
        (["run", "shop", "batch.jsonl", "--journal", "folder"], 2, "directory"),
        (["run", "shop", "batch.jsonl", "--report", "/proc/x.html"], 2, "No such file"),
        (
            ["run", "shop", "batch.jsonl", "--report", "n" * 300],
            2,
            "cannot be written: File name too long",
        ),
        (["run", "shop", "batch.jsonl", "--report", "astray"], 2, "No such file"),
        (["run", "shop", "batch.jsonl", "--contents"], 2, "needs --journal or"),
        (["report", "none.jsonl"], 2, "none.jsonl"),
        (["report", "batch.jsonl", "-o", "batch.jsonl"], 2, "is the journal itself"),
        (["report", "empty", "-o", "no/x.html"], 1, "'no/x.html': No such file"),
        (["report", "empty", "-o", "pipe"], 1, "'pipe': It is no regular file"),
    ],
    ids=range(20),
)
def test_what_cannot_be_done_is_said_before_anything_runs(
    run, cli, arguments, code, words
):
    """
    A long batch whose report cannot be written is a long batch for nothing.
    """
    (cli.folder / "folder").mkdir()
    os.mkfifo(cli.folder / "pipe")
    cli.write("empty", "")
    (cli.folder / "astray").symlink_to("none/x.html")
    cli.write("shop.py", TOOLS)
    cli.write("batch.jsonl", line("add", a=1, b=2))
    done = cli(*arguments)

    assert (code, "") == (done.code, done.out)
    assert words in done.err
    assert "printed while it runs" not in done.err


@pytest.mark.parametrize("option", ["--journal", "--report"])
@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("batch.jsonl", "is the batch itself"),
        ("deep/../batch.jsonl", "is the batch itself"),
        ("link.jsonl", "is the batch itself"),
        ("hard.jsonl", "is the batch itself"),
        ("shop.py", "is a module that the tools need"),
        ("helps.py", "is a module that the tools need"),
    ],
)
def test_what_a_run_is_made_of_is_not_written_over(cli, option, path, words):
    """
    By whatever path it is named: the batch and the modules are the user's own, and there
    may be no other copy.
    """
    (cli.folder / "deep").mkdir()
    cli.write("helps.py", "")
    cli.write("shop.py", f"import helps\n{TOOLS}")
    batch = cli.write("batch.jsonl", line("add", a=1, b=2))
    (cli.folder / "link.jsonl").symlink_to(batch)
    (cli.folder / "hard.jsonl").hardlink_to(batch)
    before = {p: p.read_text("utf-8") for p in cli.folder.iterdir() if p.is_file()}
    done = cli("run", "shop", "batch.jsonl", option, path)

    assert (2, "") == (done.code, done.out)
    assert f"{option}: {path} {words}." in done.err
    assert before == {p: p.read_text("utf-8") for p in before}


@pytest.mark.parametrize(
    ("report", "journal"),
    [("new", "new"), ("new", "./new"), ("new", "NEW"), ("old", "link")],
)
def test_a_journal_and_a_page_are_two_files(run, cli, report, journal):
    """
    The page would be put in the place of the journal; some file systems know no case.
    """
    cli.write("old", "before")
    (cli.folder / "link").symlink_to("old")
    options = ["--report", report, "--journal", journal]
    done = run(line("add", a=1, b=2), options=options)

    assert (2, "") == (done.code, done.out)
    assert "--journal and --report are one file." in done.err
    assert not (cli.folder / "new").exists()
    assert "before" == (cli.folder / "old").read_text("utf-8")


@pytest.mark.slow
def test_the_streams_of_a_run_are_not_written_over(tmp_path):
    """
    A shell has opened them, and nobody has typed their names here.
    """
    written(tmp_path, "shop.py", TOOLS)
    batch = written(tmp_path, "batch.jsonl", line("add", a=1, b=2))
    results = tmp_path / "results.jsonl"
    found = []
    for path in (batch, results):
        with batch.open("rb") as given, results.open("ab") as taken:
            streams = {"stdin": given, "stdout": taken}
            done = typed(tmp_path, "run", "shop", "-", "--report", path.name, **streams)
        found.append((done.code, done.err.splitlines()[-1]))

    assert [
        (2, "Error: --report: batch.jsonl is the batch itself."),
        (2, "Error: --report: results.jsonl is where the results go."),
    ] == found
    assert b"" == results.read_bytes()


def test_a_page_that_was_there_stays_until_the_end(run, cli):
    """
    What tries whether a page can be written leaves nothing and takes nothing.
    """
    page = cli.write("run.html", "before")
    cli.write(
        "looks.py",
        '''\
        from pathlib import Path
        from tooldecl import tool

        @tool
        def look() -> list[str]:
            """Look around."""
            return [*sorted(p.name for p in Path().iterdir()), Path("run.html").read_text()]
        ''',
    )
    before = sorted(p.name for p in cli.folder.iterdir())
    done = run(line("look"), of="looks", options=["--report", "run.html"])
    [result] = results(done)
    seen = json.loads(result["content"])

    assert {*before, "batch.jsonl", "__pycache__", "before"} == {*seen, "__pycache__"}
    assert "<h1>Run of looks</h1>" in page.read_text("utf-8")


def no_file_beyond(size):
    """
    Bound each file of a process: what a full disk does, without one.
    """
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize(
    ("files", "named"),
    [
        (["--journal", "full.jsonl"], ["The journal full.jsonl"]),
        (
            ["--journal", "full.jsonl", "--report", "full.html"],
            ["The journal full.jsonl", "The report full.html"],
        ),
    ],
    ids=["journal", "both"],
)
def test_what_could_not_be_kept_is_said(tmp_path, files, named):
    """
    Whoever asked for a journal believes that there is one: the results are written all
    the same, and the exit code says that something is missing.
    """
    written(tmp_path, "shop.py", TOOLS)
    lines = f"{line('add', a=1, b=2)}\n" * 3
    options = {"typing": lines, "preexec_fn": no_file_beyond(700)}
    done = typed(tmp_path, "run", "shop.py", "-", *files, **options)
    error = done.err[done.err.index("Error: ") :]

    assert (1, ["3"] * 3) == (done.code, [r["content"] for r in results(done)])
    assert [True] * len(named) == [name in error for name in named]
    assert "could not be written: File too large; events that are not in it:" in error
    assert "Traceback" not in done.err


def test_a_page_has_the_name_of_its_journal(run, cli):
    """
    Where no other is given.
    """
    run(line("add", a=1, b=2), options=["--journal", "run.jsonl"])
    done = cli("report", "run.jsonl")

    assert (0, "run.html\n") == (done.code, done.out)
    assert (cli.folder / "run.html").is_file()


@pytest.mark.parametrize(
    "text",
    [
        line("add", a=1, b=2),
        "<html>\n<p>\n",
        '{"event": "login", "timestamp": "2030-01-01T00:00:00Z"}',
        '{"event": "CallStarted", "at": "noon"}\n{"event": "CallStar',
        "\0\0",
    ],
    ids=["batch", "page", "log", "broken", "binary"],
)
def test_what_is_no_journal_makes_no_page(cli, text):
    """
    A page of nothing in the place of a good one says that nothing ever happened.
    """
    cli.write("run.jsonl", text)
    page = cli.write("run.html", "before")
    done = cli("report", "run.jsonl")

    assert (1, "") == (done.code, done.out)
    assert "Error: run.jsonl is no journal: no line of it can be read.\n" == done.err
    assert "before" == page.read_text("utf-8")


def test_lines_that_are_lost_are_said(run, cli):
    """
    Whoever reads the page later is told too; an empty journal has lost nothing.
    """
    run(line("add", a=1, b=2), options=["--journal", "run.jsonl"])
    with (cli.folder / "run.jsonl").open("a") as journal:
        journal.write('{"event": "CallStar')
    torn = cli("report", "run.jsonl")
    page = (cli.folder / "run.html").read_text("utf-8")
    cli.write("empty.jsonl", "\n")
    empty = cli("report", "empty.jsonl")

    assert (0, "run.jsonl: 1 of 6 lines cannot be read.\n") == (
        torn.code,
        torn.err,
    )
    assert "1 line of the journal could not be read." in page
    assert (0, "empty.html\n", "") == (empty.code, empty.out, empty.err)


def in_the_background():
    """
    Ignore Ctrl-C, as what a shell starts in the background does.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def with_a_terminal():
    """
    Hear of a terminal that is closed, also where these tests were told not to.
    """
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code", "prepare"),
    [
        (signal.SIGINT, 130, None),
        (signal.SIGTERM, 143, None),
        (signal.SIGTERM, 143, in_the_background),
        (signal.SIGHUP, 129, with_a_terminal),
    ],
)
def test_ctrl_c_answers_what_is_open(folder, number, code, prepare):
    """
    What had its answer keeps it, what runs and what never began are told apart, and the
    report is there; the same where somebody else tells it to end.
    """
    lines = [line("add", a=1, b=2), line("hang"), line("add", a=3, b=4)]
    written(folder, "batch.jsonl", "\n".join(lines))
    options = ["--report", "cut.html", "--json"]
    (folder / "cut.html").unlink(missing_ok=True)
    arguments = ["run", "shop.py", "batch.jsonl", *options]
    process = started(folder, *arguments, preexec_fn=prepare)
    try:
        for told in process.stderr:
            if told == "begun\n":
                break
        process.send_signal(number)
        out, _ = process.communicate(timeout=HANGS_AFTER)
    finally:
        process.kill()
        process.wait()
    found = [json.loads(text) for text in out.splitlines()]

    assert code == process.returncode
    assert ["line-1", "line-2", "line-3"] == [result["call_id"] for result in found]
    assert ("ok", "cancelled") == (found[0]["status"], found[2]["status"])
    assert "not_started" == found[2]["fate"]
    assert "cancelled" == found[1]["status"]
    assert "<h1>Run of shop.py</h1>" in (folder / "cut.html").read_text("utf-8")


SHOWN = """
import os, sys
os.dup2(0, 2)
sys.path.insert(0, sys.argv.pop(1))
from tooldecl.cli import main
main()
"""


@pytest.mark.slow
def test_a_terminal_is_shown_how_far_it_is_and_who_is_asked(folder):
    """
    The bar makes room for the question, and what went wrong stays to be read.
    """
    lines = [line("fail", word="x"), line("pay", card="1"), line("add", a=1, b=2)]
    batch = written(folder, "asking.jsonl", "\n".join(lines))
    target = str(folder / "shop.py")
    terminal = Terminal(SHOWN, str(folder), "run", target, str(batch))
    terminal.until("fail line-1: tool_error")
    terminal.until("wants to call pay")
    terminal.until("and a reason: ")
    terminal.type("y\n")
    terminal.until("3/3")
    terminal.until("3 calls: 2 ok, 1 tool_error.")
    out, _ = terminal.end()

    assert ["tool_error", "ok", "ok"] == [
        json.loads(text)["status"] for text in out.splitlines()
    ]
