"""
The command line as a whole: its streams, its help, and whoever stops reading.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest

from command_line import HELLO, environment, started, typed
from ordering import HANGS_AFTER
from tooldecl import Status
from tooldecl.cli import COMMANDS, group
from tooldecl.cli._exits import Exit, exit_of, exit_of_all


# It prints in every way there is, before and after its result.
LOUD = """\
import os, subprocess, sys, threading
from tooldecl import tool

print("loud")
sys.__stdout__.write("loud\\n")
sys.__stdout__.flush()
os.write(1, b"loud\\n")


@tool
def loud() -> str:
    \"\"\"Print.\"\"\"
    print("loud")
    os.write(1, b"loud\\n")
    subprocess.run([sys.executable, "-c", "print('loud')"])
    threading.Thread(target=later).start()
    return "result"


def later():
    threading.main_thread().join()
    print("loud")
    os.write(1, b"loud\\n")
"""

MANY = """\
from tooldecl import ToolClient, prefixed
from hello import add

client = ToolClient([prefixed(f"p{n}", [add]) for n in range(1_000)])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """
    A folder with modules, for processes of their own.
    """
    folder = tmp_path_factory.mktemp("streams")
    for name, text in (("hello", HELLO), ("loud", LOUD), ("many", MANY)):
        (folder / f"{name}.py").write_text(text, encoding="utf-8")

    return folder


@pytest.mark.slow
def test_whatever_prints_stdout_has_results_alone(folder):
    """
    A program reads them; a line between them, from whoever and whenever, would break it.
    """
    done = typed(folder, "call", "loud", "loud")

    assert (0, "result\n") == (done.code, done.out)
    assert 8 == done.err.count("loud\n")


@pytest.mark.slow
def test_long_results_come_whole(folder):
    """
    A pipe takes a part of them at a time.
    """
    done = typed(folder, "list", "many:client")

    assert (0, "", 1_001) == (done.code, done.err, len(done.out.splitlines()))


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [["list"], ["schema"], ["check", "--json"]],
    ids=" ".join,
)
def test_a_reader_who_leaves_ends_the_command_quietly(folder, words):
    """
    ``| head -1`` is no mistake, and a traceback would be one.
    """
    command, *options = words
    with started(folder, command, "many:client", *options) as process:
        assert process.stdout is not None
        assert process.stdout.read(1)
        process.stdout.close()
        process.stdout = None
        _, err = process.communicate(timeout=HANGS_AFTER)

    assert 141 == process.returncode
    assert "Traceback" not in err
    assert "Broken pipe" not in err


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--help"], ["list", "--help"]])
def test_a_reader_of_help_who_has_left_is_told_apart_from_a_failure(folder, words):
    """
    The same code as for results, whoever wrote the text.
    """
    reads, writes = os.pipe()
    os.close(reads)
    try:
        done = typed(folder, *words, stdout=writes)
    finally:
        os.close(writes)

    assert (141, "") == (done.code, done.err)


@pytest.mark.slow
def test_help_that_cannot_be_written_is_a_failure(folder, tmp_path):
    """
    The file may have no bytes: what a full disk does, without one.
    """

    def no_file_beyond():
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    with (tmp_path / "help.txt").open("w", encoding="utf-8") as file:
        done = typed(folder, "--help", stdout=file, preexec_fn=no_file_beyond)

    assert (1, "Error: File too large\n") == (done.code, done.err)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shell", "message"),
    [
        (">&-", "Error: The results cannot be written: standard output is closed.\n"),
        (">/dev/full", "Error: The results cannot be written: No space left on device"),
    ],
)
def test_results_that_cannot_be_written_are_a_failure(folder, shell, message):
    """
    A full disk must not look like a success.
    """
    done = in_a_shell(folder, f"list hello {shell}")

    assert 1 == done.returncode
    assert done.stderr.startswith(message)


@pytest.mark.slow
def test_a_closed_stderr_takes_nothing_from_the_results(folder):
    """
    A service may have none, and its results are still to be had.
    """
    done = in_a_shell(folder, "call loud loud 2>&-")

    assert (0, "result\n") == (done.returncode, done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shell", "code", "message"),
    [
        ("<&-", 2, "Standard input, which - reads, is closed."),
        ("0>/dev/null", 1, "Standard input cannot be read: OSError: "),
    ],
)
def test_standard_input_that_cannot_be_read_is_said_to_be(folder, shell, code, message):
    """
    There is nothing to read there, and no traceback says so.
    """
    done = in_a_shell(folder, f"call hello add - {shell}")

    assert (code, "") == (done.returncode, done.stdout)
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def in_a_shell(folder, words):
    """
    Run a command with the redirections of a shell.
    """
    return subprocess.run(
        ["/bin/sh", "-c", f'"$PYTHON" -m tooldecl {words}'],
        capture_output=True,
        check=False,
        cwd=folder,
        env=environment(PYTHON=sys.executable),
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=HANGS_AFTER,
    )


@pytest.mark.slow
def test_what_an_encoding_does_not_have_is_escaped(folder):
    """
    JSON has a form for every character, and a text is not lost for one.
    """
    (folder / "wide.py").write_text(
        HELLO.replace("Add two integers.", "Add \u00e9 \U0001f600."), encoding="utf-8"
    )
    env = environment(PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    done = typed(folder, "schema", "wide", env=env)

    assert 0 == done.code
    assert r"Add \u00e9 \ud83d\ude00." in done.out


def test_every_command_says_what_it_does(cli):
    """
    Help is the page that everybody reads.
    """
    whole = cli("--help")

    assert (0, "") == (whole.code, whole.err)
    for name in COMMANDS:
        done = cli(name, "--help")
        assert (0, "") == (done.code, done.err)
        assert done.out.startswith(f"Usage: tooldecl {name} [OPTIONS]")
        assert group().commands[name].get_short_help_str().rstrip(".") in whole.out
        assert cli(name, "-h").out == done.out


def test_every_option_has_a_help_text():
    """
    An option that nobody explains is found by reading our code.
    """
    silent = [
        (name, parameter.name)
        for name, command in group().commands.items()
        for parameter in command.params
        if parameter.param_type_name == "option" and not parameter.help
    ]

    assert [] == silent


def test_the_version_is_that_of_the_package(cli, monkeypatch):
    """
    A report of a fault begins with it.
    """
    monkeypatch.setattr("importlib.metadata.version", lambda name: f"of {name}")
    done = cli("--version")

    assert (0, "tooldecl, version of tooldecl\n") == (done.code, done.out)


@pytest.mark.parametrize("words", [["nothing"], ["list"], ["list", "--nothing", "x"]])
def test_a_command_that_is_none_is_refused(cli, words):
    """
    Exit code 2, as for every command that cannot be read.
    """
    done = cli(*words)

    assert (2, "") == (done.code, done.out)
    assert "Error: " in done.err


def test_every_status_has_an_exit_code():
    """
    A status that comes later is mapped on purpose.
    """
    assert {status: exit_of(status) for status in Status}
    assert [Status.OK] == [s for s in Status if exit_of(s) is Exit.OK]
    assert {0, 2, 3, 4, 5, 6} == {exit_of(status).value for status in Status}


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([], Exit.OK),
        (["ok", "ok"], Exit.OK),
        (["ok", "timeout", "invalid"], Exit.TIMEOUT),
        (["denied", "timeout", "tool_error"], Exit.TIMEOUT),
        (["denied", "invalid", "tool_error"], Exit.TOOL_ERROR),
        (["denied", "budget", "invalid"], Exit.INVALID),
        (["denied", "ok", "budget"], Exit.LIMIT),
        (["ok", "denied"], Exit.REFUSED),
    ],
)
def test_several_calls_leave_with_the_worst(statuses, expected):
    """
    One code has to stand for all: what may have left a body behind comes before what
    failed, and that before what never ran.
    """
    assert expected is exit_of_all(map(Status, statuses))


def test_the_exit_codes_are_those_of_the_contract():
    """
    Scripts are written against the numbers.
    """
    numbers = [(code.name, code.value) for code in Exit]

    assert [
        ("OK", 0),
        ("FAILED", 1),
        ("INVALID", 2),
        ("TOOL_ERROR", 3),
        ("TIMEOUT", 4),
        ("REFUSED", 5),
        ("LIMIT", 6),
        ("HUNG_UP", 129),
        ("INTERRUPTED", 130),
        ("NOBODY_READS", 141),
        ("TERMINATED", 143),
    ] == numbers


def test_without_the_extra_it_is_said_how_to_get_it(tmp_path):
    """
    The core does without click and rich, and so may its users.
    """
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u\nfind = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'click' else find(name, *a)\n",
        encoding="utf-8",
    )
    path = os.pathsep.join([str(tmp_path), environment()["PYTHONPATH"]])
    done = typed(tmp_path, "list", "x", env=environment(PYTHONPATH=path))

    assert (1, "") == (done.code, done.out)
    assert 'pip install "tooldecl[cli]"' in done.err
