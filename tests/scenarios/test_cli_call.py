"""
``tooldecl call``: one call, its result on stdout, the way it ended in the exit code.
"""

from __future__ import annotations

import json
import shlex
import signal

import pytest

from command_line import started, typed
from ordering import HANGS_AFTER
from source import ROOT
from terminals import Terminal


TOOLS = (ROOT / "tests" / "cli_tools.py").read_text(encoding="utf-8")
IMPORTED = "printed while it is imported\n"


@pytest.fixture
def call(cli):
    """
    Call a tool of ours in this process.
    """
    cli.write("ours.py", TOOLS)

    return lambda *arguments, of="ours": cli("call", of, *arguments)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """
    A folder with our tools, for processes of their own.
    """
    folder = tmp_path_factory.mktemp("tools")
    (folder / "ours.py").write_text(TOOLS, encoding="utf-8")

    return folder


def echoed(call, name, *words):
    """
    Return what one parameter of echo was given.
    """
    done = call("echo", *words)
    assert 0 == done.code, done.err
    order = "text number ratio flag maybe either names counts day color free".split()

    return json.loads(done.out)[order.index(name)]


def test_the_text_for_the_model_is_the_result(call):
    """
    A script takes it as it is; what else was printed is somewhere else.
    """
    done = call("sum_of", "a=1", "b=2")

    assert (0, "3\n", IMPORTED) == (done.code, done.out, done.err)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("text=7", "str 7"),
        ("text=null", "str null"),
        ("text=a=b:=c", "str a=b:=c"),
        ("text=", "str "),
        ("text=[1]", "str [1]"),
        ('text="quoted"', 'str "quoted"'),
        ("number=-7", "int -7"),
        ("ratio=1", "float 1.0"),
        ("ratio=1e-3", "float 0.001"),
        ("flag=true", "bool True"),
        ("maybe=null", "NoneType None"),
        ("maybe=5", "int 5"),
        ("either=5", "str 5"),
        ("either:=5", "int 5"),
        ('names=["a"]', "list ['a']"),
        ('names:=["a", "b"]', "list ['a', 'b']"),
        ('counts={"a": 1}', "dict {'a': 1}"),
        ("day=2026-01-02", "date 2026-01-02"),
        ("color=red", "Color Color.RED"),
        ("color:=1", "Color Color.ONE"),
        ("free=5", "str 5"),
        ("free:=5", "int 5"),
        ('text:="\\u00e9"', "str é"),
    ],
)
def test_a_word_becomes_what_its_parameter_takes(call, word, expected):
    """
    Text stays text wherever text is taken; only what can be nothing else is read as JSON.
    """
    assert expected == echoed(call, word.split("=")[0].rstrip(":"), word)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["number=1.0"], "$.number: needs an integer"),
        (["number=one"], "$.number: needs an integer"),
        (["number=true"], "$.number: needs an integer"),
        (["flag=yes"], "$.flag: "),
        (["flag=1"], "$.flag: "),
        (["names=a"], "$.names: "),
        (["nmae=a"], "nmae"),
        (["number=1", "number=2"], "a member is given twice at $.number"),
        (["number:=NaN"], "NaN and Infinity have no JSON form at $.number"),
        (["ratio=Infinity"], "NaN and Infinity have no JSON form at $.ratio"),
        (['counts={"a": 1, "a": 2}'], "a member is given twice at $.counts.a"),
        (["--json", '{"number": "1"}'], "$.number: needs an integer"),
        (["--json", "[1]"], "The arguments were refused and nothing was run"),
        (["--json", "{"], "The arguments were refused and nothing was run"),
    ],
)
def test_arguments_that_do_not_fit_are_the_gates_to_refuse(call, words, message):
    """
    The command line has no rules of its own: a model that sent this would be told so too.
    """
    done = call("echo", *words)

    assert (2, "") == (done.code, done.out)
    assert "invalid: " in done.err
    assert message in done.err


CHOOSY = '''
from typing import Literal
from tooldecl import tool

@tool
def choose(
    words: list[str] = [],
    numbers: list[int] | None = None,
    mode: Literal["a", 1] = "a",
    table: dict[str, int] = {},
    count: int = 0,
    deep: list[list[int]] = [],
) -> str:
    """Choose something."""
    return f"{words} {numbers} {mode} {table} {count}"

secret = tool(sensitive=True, name="secret")(choose.__wrapped__)
'''


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("words=space", "words:='[\"space\"]'"),
        ("words=[space]", "words:='[\"space\"]'"),
        ("words=[a, it's]", 'words:=\'["a", "it\'"\'"\'s"]\''),
        ("words=7", "words:='[\"7\"]'"),
        ("words=", "words:='[]'"),
        ("words=" + "x" * 200, "words:='[\"...\"]'"),
        ("numbers=1", "numbers:='[1]'"),
        ("numbers=1,2", "numbers:='[1, 2]'"),
        ("numbers=x", "numbers:='[1]'"),
        ("mode=1", "mode:=1"),
        ("table=a", 'table:=\'{"name": "value"}\''),
        ("deep=1", "deep:='[[]]'"),
    ],
)
def test_whoever_types_is_told_how_it_is_written_here(cli, word, hint):
    """
    The gate's words are a model's, which has no shell; and what is told is taken.
    """
    cli.write("choosy.py", CHOOSY)
    done = cli("call", "choosy", "choose", word)
    again = cli("call", "choosy", "choose", *shlex.split(hint))

    assert (2, f"At the command line: {hint}") == (done.code, done.err.splitlines()[-1])
    assert word.startswith("table") or 0 == again.code


@pytest.mark.parametrize(
    "word", ["count=x", "mode=b", "mode:=2", "words:=7", "other=1"]
)
def test_where_nothing_else_could_be_written_there_is_no_hint(cli, word):
    """
    A wrong one would lead astray.
    """
    cli.write("choosy.py", CHOOSY)
    done = cli("call", "choosy", "choose", word)

    assert (2, False) == (done.code, "At the command line" in done.err)


def test_a_hint_holds_no_value_of_a_sensitive_tool(cli):
    """
    It may stand in a log.
    """
    cli.write("choosy.py", CHOOSY)
    done = cli("call", "choosy:secret", "secret", "words=4111", "--approve-all")

    assert 2 == done.code
    assert "At the command line: words:='[]'\n" in done.err
    assert "4111" not in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["echo", "word"], "'word' is neither name=text nor name:=json."),
        (["echo", "=1"], "'=1' is neither name=text nor name:=json."),
        (["echo", ":=1"], "':=1' is neither name=text nor name:=json."),
        (
            ["echo", "number:=x"],
            "What is given for 'number' is not one JSON value: 'x'",
        ),
        (["echo", 'number:=1, "b": 2'], "is not one JSON value"),
        (["echo", "number:="], "is not one JSON value"),
        (["echo", "number:=" + "[" * 100_000], "is not one JSON value"),
        (["echo", "a=1", "--json", "{}"], "Give the arguments once"),
        (["echo", "a=1", "-"], "Give the arguments once"),
        (["ecoh"], "There is no tool named 'ecoh'. Did you mean 'echo'?"),
        (["\x1b[2J"], "There is no tool named '\\x1b[2J'. There are: echo, say, "),
        (["echo", "--nothing"], "No such option"),
        (["echo", "--timeout", "0"], "0.0 is no number of seconds above 0."),
        (["echo", "--timeout", "nan"], "nan is no number of seconds above 0."),
        (["echo", "--timeout", "inf"], "inf is no number of seconds above 0."),
        (["echo", "--output", "xml"], "'xml' is not one of 'text', 'json'."),
        ([], "Missing argument 'TOOL'."),
    ],
)
def test_a_command_that_cannot_be_read_runs_nothing(call, words, message):
    """
    It is the typist's mistake, with the code of invalid arguments, on stderr alone.
    """
    done = call(*words)

    assert (2, "") == (done.code, done.out)
    assert message in done.err
    assert "\x1b" not in done.err
    assert "printed while it runs" not in done.err


ENDS = [
    (["raises", "password=p"], 3, "tool_error: Tool 'raises' failed: KeyError."),
    (["explains"], 3, "tool_error: "),
    (["finds_nothing"], 3, "not_found: There is none."),
    (["too_much"], 3, "too_large: "),
    (["no_json"], 3, "unencodable: "),
    (["overruns_async"], 4, "timeout: Tool 'overruns_async' did not finish within"),
    (["wipes", "path=x"], 5, "denied: Tool 'wipes' was not run"),
    (["signs", "order=1"], 5, "pending: The call of 'signs' has no result yet"),
]


@pytest.mark.parametrize(("words", "code", "message"), ENDS)
def test_the_exit_code_is_how_the_call_ended(call, words, code, message):
    """
    A script decides by it; nothing is on stdout that could be taken for a result.
    """
    done = call(*words)

    assert (code, "") == (done.code, done.out)
    assert message in done.err
    assert "Traceback" not in done.err
    assert "\x1b" not in done.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["overruns"], "did not finish within 0.2 s, the limit declared on it."),
        (["hangs", "--timeout", "0.2"], "did not finish within 0."),
    ],
)
def test_a_body_that_hangs_does_not_hold_the_exit(folder, words, message):
    """
    What was given up is not waited for, and nobody says that it was stopped.
    """
    done = typed(folder, "call", "ours", *words)

    assert (4, "") == (done.code, done.out)
    assert message in done.err
    assert "It may still be running and may still take effect." in done.err


@pytest.mark.slow
def test_a_worker_that_dies_is_a_failure_of_the_tool(folder):
    """
    Its own process was lost, not ours.
    """
    done = typed(folder, "call", "ours", "dies")

    assert (3, "") == (done.code, done.out)
    assert "worker_died: " in done.err


@pytest.mark.parametrize(
    ("client", "code", "message"),
    [
        ("poor", 6, "budget: "),
        ("guarded", 5, "guard_failed: "),
        ("closed", 1, "The call of say did not end in a result: EngineClosedError"),
    ],
)
def test_a_client_that_was_named_keeps_its_own_rules(call, client, code, message):
    """
    Its budget, its filters and its end are why somebody names it.
    """
    done = call("say", "text=x", of=f"ours:{client}")

    assert (code, "") == (done.code, done.out)
    assert message in done.err


def test_what_a_client_lets_out_is_the_end_of_the_command(call):
    """
    `stop_on` means that it is no result, so it is no result here.
    """
    done = call("raises", "password=p", of="ours:stopping")

    assert (1, "") == (done.code, done.out)
    assert "The call of raises did not end in a result: KeyError: " in done.err
    assert "Traceback" not in done.err


def test_the_authors_own_error_is_shown_with_its_line(call):
    """
    The model is told the type alone; whoever debugs a tool needs the rest.
    """
    done = call("raises", "password=p")
    line = TOOLS.splitlines().index('    raise KeyError("no such \\x1b[31mkey")') + 1

    assert r"It raised KeyError: 'no such \x1b[31mkey' (" in done.err
    assert f"ours.py:{line})." in done.err


def test_the_error_of_a_sensitive_tool_is_not_shown(call):
    """
    It may quote an argument, and those are never logged or echoed.
    """
    done = call("raises_secretly", "password=hunter2", "--approve-all", "--verbose")

    assert 3 == done.code
    assert "hunter2" not in done.err + done.out


def test_the_log_is_shown_where_it_is_asked_for(call):
    """
    A traceback of thirty lines is not what a failed call has to say at first.
    """
    silent, loud = call("raises", "password=p"), call("raises", "password=p", "-v")

    assert "Traceback" not in silent.err
    assert "WARNING: Tool 'raises' failed: KeyError.\nTraceback" in loud.err
    assert "\x1b" not in loud.err


@pytest.mark.slow
def test_the_whole_result_is_there_as_json(folder):
    """
    A script that needs the fate, or the text of a failure, reads it from there.
    """
    done = typed(folder, "call", "ours", "overruns", "--output", "json")
    result = json.loads(done.out)

    assert 4 == done.code
    assert ("timeout", "abandoned", None) == (
        result["status"],
        result["fate"],
        result["value"],
    )
    assert "ToolTimeoutError" == result["error"]["type"]


def test_arguments_come_as_one_object_too(call):
    """
    SPEC: ``--json '{...}'`` are the arguments.
    """
    assert "3\n" == call("sum_of", "--json", '{"a": 1, "b": 2}').out


def test_a_tool_with_a_schema_of_its_own_takes_words_too(call):
    """
    What the schema does not name stays text.
    """
    done = call("given", "b=1", "a:=2", of="ours:given")

    assert (0, '["a","b"]\n') == (done.code, done.out)


def test_an_async_tool_is_called_like_any_other(call):
    """
    Whoever types has no loop.
    """
    assert (0, "hello\n") == (
        (done := call("waits", "text=hello")).code,
        done.out,
    )


@pytest.mark.slow
@pytest.mark.parametrize("typing", ['{"a": 1, "b": 2}', '{"a": 1,\n "b": 2}\n\n'])
def test_arguments_are_read_from_standard_input(folder, typing):
    """
    Another program writes them, as many lines as they are.
    """
    done = typed(folder, "call", "ours", "sum_of", "-", typing=typing)

    assert (0, "3\n", IMPORTED) == (done.code, done.out, done.err)


@pytest.mark.slow
def test_bytes_that_are_no_text_are_the_gates_to_refuse(folder):
    """
    Invalid UTF-8 is an invalid call, and no traceback.
    """
    (folder / "bytes").write_bytes(b'{"a": "\xff"}')
    with (folder / "bytes").open("rb") as file:
        done = typed(folder, "call", "ours", "sum_of", "-", stdin=file)

    assert (2, "") == (done.code, done.out)
    assert "invalid: The arguments were refused and nothing was run" in done.err


def test_a_sensitive_tool_runs_unasked_where_that_is_said(call):
    """
    A script that means it says so.
    """
    done = call("wipes", "path=x", "--approve-all")

    assert (0, "wiped x\n") == (done.code, done.out)


def test_who_approves_of_a_clients_tools_is_its_own_to_say(call):
    """
    An option that a client would ignore is refused, not accepted.
    """
    assert "wiped x\n" == call("wipes", "path=x", of="ours:asking").out
    done = call("wipes", "path=x", "--approve-all", of="ours:asking")

    assert (2, "") == (done.code, done.out)
    assert "ours:asking is a client: its engine, its filters" in done.err


def test_without_a_terminal_it_is_said_who_refused(folder):
    """
    Nobody waits for somebody who is not there.
    """
    done = typed(folder, "call", "ours", "wipes", "path=x")

    assert 5 == done.code
    assert "No terminal to ask at: wipes is denied by the rule deny_all." in done.err


TYPED = """
import shlex
import sys
from tooldecl.cli import main
sys.argv = ["tooldecl", "call", "ours", "wipes", "path=x"]
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "code", "out"), [("y\n", 0, "wiped x\n"), ("n not today\n", 5, "")]
)
def test_somebody_at_the_terminal_is_asked(folder, answer, code, out):
    """
    The question is no result, so it is not among them.
    """
    terminal = Terminal(f"import os; os.chdir({str(folder)!r})\n{TYPED}")
    terminal.until('wants to call wipes({"path": "x"})')
    terminal.until("and a reason: ")
    terminal.type(answer)
    shown, complaints = terminal.end()

    assert (code, out) == (terminal.script.returncode, shown)
    assert ("not today" in complaints) == (code == 5)


@pytest.mark.slow
@pytest.mark.parametrize("words", [["hangs"], ["hangs", "--timeout", "100"]])
def test_an_interrupt_ends_a_call_at_once(folder, words):
    """
    Whoever pressed the keys waits for nothing, and a shell sees 130.
    """
    with started(folder, "call", "ours", *words) as process:
        assert process.stderr is not None
        assert IMPORTED == process.stderr.readline()
        assert "begun\n" == process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=HANGS_AFTER)

    assert (130, "", "") == (process.returncode, out, err.strip())


@pytest.mark.slow
def test_an_interrupt_ends_the_wait_for_an_answer(folder):
    """
    A question that nobody answers is left by the keys that leave everything.
    """
    terminal = Terminal(f"import os; os.chdir({str(folder)!r})\n{TYPED}")
    terminal.until("and a reason: ")
    terminal.type("\x03")
    shown, complaints = terminal.end()

    assert (130, "") == (terminal.script.returncode, shown)
    assert "Traceback" not in complaints


@pytest.mark.slow
def test_a_text_is_not_changed_on_its_way_to_a_file(folder):
    """
    Another program gets every character; only a terminal is protected from some.
    """
    text = "é\x1b[31m\u202e\nend"
    given = json.dumps({"text": text})
    done = typed(folder, "call", "ours", "say", "--json", given)

    assert (0, f"{text}\n") == (done.code, done.out)
