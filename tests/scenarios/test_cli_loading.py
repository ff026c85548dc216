"""
MODULE[:OBJECT] leads to tools, or says why it does not.
"""

from __future__ import annotations

import json
import subprocess
import sys

import click
import pytest

from command_line import HELLO, environment, typed
from tooldecl.cli._loading import find
from tooldecl.engines import ThreadEngine
from tooldecl.filters import approve_all


OBJECTS = """\
from hello import add
from tooldecl import ToolClient, ToolSpec, prefixed, tool

client = ToolClient([add])
listed = [add]
grouped = prefixed("my", [add])
generated = (x for x in [add])
one = add
spec = ToolSpec(name="spec", description="A spec.", input_schema={"type": "object"},
    handler=lambda given: 1)
empty = []
number = 3
text = "add"
mapping = {"add": add}
no_tools = [len]
tuples = [("a", 1), ("b", 2)]
none_at_all = ToolClient([])


class Holder:
    inner = client


@tool
def own(a: int) -> int:
    \"\"\"Is defined here.\"\"\"
    return a
"""


def names(done):
    """
    List the tools that a command has listed.
    """
    assert (0, "") == (done.code, done.err)

    return [tool["name"] for tool in json.loads(done.out)]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("hello", ["add"]),
        ("hello.py", ["add"]),
        ("./hello.py", ["add"]),
        ("hello.py:add", ["add"]),
        ("objects", ["spec", "own"]),
        ("objects:client", ["add"]),
        ("objects:listed", ["add"]),
        ("objects:grouped", ["my_add"]),
        ("objects:generated", ["add"]),
        ("objects:one", ["add"]),
        ("objects:spec", ["spec"]),
        ("objects:Holder.inner", ["add"]),
        ("objects.py:client", ["add"]),
        ("objects:none_at_all", []),
    ],
)
def test_a_target_leads_to_its_tools(cli, target, expected):
    """
    Whatever a client's list takes is found, by module or by file.
    """
    cli.write("objects.py", OBJECTS)

    assert expected == names(cli("list", target, "--json"))


@pytest.mark.parametrize(
    ("target", "code", "message"),
    [
        ("nowhere", 1, "There is no module 'nowhere', neither in "),
        ("package.nowhere", 1, "There is no module 'package.nowhere', neither in "),
        ("hello.nowhere", 1, "There is no module 'hello.nowhere', neither in "),
        ("nowhere.py", 1, "There is no file nowhere.py."),
        ("./package", 1, "./package is not the path of a .py file."),
        ("a..b", 1, "'a..b' is neither a dotted module nor a .py file."),
        (".hello", 1, "'.hello' is neither a dotted module nor a .py file."),
        ("hello:", 2, "'hello:' is not MODULE[:OBJECT]."),
        (":add", 2, "':add' is not MODULE[:OBJECT]."),
        ("hello:ad", 1, "hello:ad: there is no 'ad'. Did you mean 'add'?"),
        ("hello:zzz", 1, "hello:zzz: there is no 'zzz'."),
        ("objects:empty", 1, "There is no tool in objects:empty: it is empty."),
        ("objects:number", 1, "is neither a client nor a list of tools, but: int."),
        ("objects:text", 1, "is neither a client nor a list of tools, but: str."),
        ("objects:mapping", 1, "is neither a client nor a list of tools, but: dict."),
        ("objects:no_tools", 1, "No client can be made of objects:no_tools: "),
        (
            "objects:tuples",
            1,
            "unpack it with *. It is entry 0 of what was given, counted from 0.\n"
            "  A tuple is not a tool. List its tools one by one, or unpack it with *. It "
            "is entry 1 of what was given",
        ),
        ("json", 1, "json names no tools: There is no tool in the module json."),
        ("only", 1, "It holds a client: say only:client or only:other."),
        (
            "package.sub",
            1,
            "package.sub names no tools: There is no tool in the module package.sub. "
            "What it imports is named one by one: say package.sub:add.",
        ),
        ("package/sub/__init__.py", 1, "say package/sub/__init__.py:add."),
        ("re.py", 1, "re.py names no tools: There is no tool in the module re.py.\n"),
        ("batch.jsonl", 1, "batch.jsonl is not a .py file."),
        ("batch.jsonl:add", 1, "batch.jsonl is not a .py file."),
        ("hello.txt", 1, "hello.txt is not a .py file."),
        ("x" * 5_000, 1, "There is no module 'xxx"),
    ],
)
def test_what_cannot_be_found_is_named(cli, target, code, message):
    """
    Every mistake in a target has words of its own, and nothing is on stdout.
    """
    cli.write("objects.py", OBJECTS)
    cli.write("package/__init__.py", "")
    cli.write("package/sub/__init__.py", "from hello import add\n")
    cli.write("re.py", "")
    cli.write("batch.jsonl", "")
    cli.write("hello.txt", "")
    cli.write("only.py", "from objects import client\nother = client\n")
    done = cli("list", target)

    assert (code, "") == (done.code, done.out)
    assert message in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nowhere_1", "ModuleNotFoundError: No module named 'nowhere_1' ("),
        ("def f(:", "SyntaxError: "),
        ("import sys\nsys.exit('leaves')", "SystemExit: leaves ("),
        ("\n\n1 / 0", "ZeroDivisionError: division by zero ("),
        ("raise ValueError('\\x1b[2J')", r"ValueError: \x1b[2J ("),
        ("raise ValueError", "ValueError ("),
        ("class End(BaseException): ...\nraise End('all')", "End: all ("),
        ("raise GeneratorExit", "GeneratorExit ("),
        (
            "import asyncio\nraise asyncio.CancelledError('away')",
            "CancelledError: away (",
        ),
    ],
)
def test_what_a_module_raises_is_told_in_its_own_words(cli, text, message):
    """
    Whoever broke a module needs the error and its line, not ours; no escape gets through.
    """
    cli.write("broken.py", text)
    done = cli("list", "broken")

    assert (1, "") == (done.code, done.out)
    assert f"Error: Importing broken failed: {message}" in done.err
    assert "\x1b" not in done.err


def test_the_line_of_what_was_raised_is_that_of_the_module(cli):
    """
    Frames of the import system say nothing to an author.
    """
    file = cli.write("broken.py", "\n\n1 / 0")

    assert f"({file}:3)" in cli("list", "broken.py").err


def test_a_declaration_that_is_refused_is_told_as_it_is(cli):
    """
    It is the library's own text, which names function and rule.
    """
    cli.write("broken.py", "from tooldecl import tool\n@tool\ndef f(a: int): ...\n")
    done = cli("list", "broken")

    assert 1 == done.code
    assert "broken.f cannot be a tool: it has no description." in done.err


def test_duplicate_names_are_told_with_both_places(cli):
    """
    R1 at the command line: no tool is dropped without a word.
    """
    cli.write("twice.py", f"{HELLO}\nother = [add, add]\n")
    done = cli("list", "twice:other")

    assert 1 == done.code
    assert "2 tools are named 'add': twice.add (twice.py:3) and" in done.err


def test_all_faults_of_a_client_are_told(cli):
    """
    Mending one to be told of the next would take as many runs as there are faults.
    """
    cli.write(
        "faulty.py",
        """\
        from tooldecl import tool
        @tool
        def f(a: open) -> int:
            "The first."
        @tool
        def g(a: type) -> int:
            "The second."
        """,
    )
    done = cli("list", "faulty")

    assert 1 == done.code
    assert "\n  faulty.f cannot be a tool" in done.err
    assert "\n  faulty.g cannot be a tool" in done.err


PLACES = [
    (
        "deep/shop/tools.py",
        ["deep/__init__.py", "deep/shop/__init__.py"],
        "deep.shop.tools",
    ),
    ("folder/tools.py", [], "tools"),
    ("folder/my-tools.py", [], "my-tools"),
    ("folder/my.tools.py", [], "my_tools"),
    ("folder/json.py", [], "json_"),
    ("folder/__main__.py", [], "__main___"),
]


@pytest.mark.parametrize(("file", "others", "module"), PLACES)
def test_a_file_gets_the_name_that_python_would_give_it(cli, file, others, module):
    """
    Its package and neighbours are found, and nothing that is loaded is hidden by it.
    """
    cli.write("folder/neighbour.py", "")
    for other in others:
        cli.write(other, "")
    beside = "from .. import shop\n" if others else "import neighbour\n"
    cli.write(file, f"{beside}{HELLO}")
    done = cli("list", file, "--json")

    assert (0, "") == (done.code, done.err)
    assert f"{module}:add" == json.loads(done.out)[0]["ref"]


def test_a_file_that_is_named_by_its_place_alone_leaves_no_trace_when_it_fails(cli):
    """
    A half module would be found by the next import of that name.
    """
    cli.write("folder/my.tools.py", "1 / 0")

    assert 1 == cli("list", "folder/my.tools.py").code
    assert "my_tools" not in sys.modules


def test_a_file_of_a_package_that_is_hidden_is_refused(cli):
    """
    It would be another module than the one in the file.
    """
    cli.write("json/__init__.py", "")
    cli.write("json/tools.py", HELLO)
    done = cli("list", "json/tools.py")

    assert 1 == done.code
    assert "belongs to the package 'json', and another module of that name" in done.err


@pytest.mark.slow
@pytest.mark.parametrize("file", [place[0] for place in PLACES])
def test_a_tool_of_a_file_runs_in_a_process_too(tmp_path, file):
    """
    A worker finds the module by its name or by its file, wherever that was.
    """
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    text = HELLO.replace("@tool", "@tool(isolation='process')")
    (tmp_path / file).write_text(text, encoding="utf-8")
    done = typed(tmp_path, "call", file, "add", "a=1")

    assert (0, "3\n", "") == (done.code, done.out, done.err)


def test_a_package_is_named_by_its_init_file(cli):
    """
    That file is the package.
    """
    cli.write("shop/__init__.py", HELLO)

    assert ["add"] == names(cli("list", "shop/__init__.py", "--json"))


def test_the_current_folder_is_looked_into_however_we_were_started(tmp_path):
    """
    A script's own folder comes first on its path, and not the one where it is typed.
    """
    (tmp_path / "hello.py").write_text(HELLO, encoding="utf-8")
    program = "from tooldecl.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, "call", "hello", "add", "a=1"],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env=environment(),
        text=True,
        timeout=30,
    )

    assert (0, "3\n", "") == (done.returncode, done.stdout, done.stderr)


def test_an_interrupt_while_a_module_is_imported_is_one(cli):
    """
    A module that takes long is left by the keys that leave everything.
    """
    cli.write("broken.py", "raise KeyboardInterrupt")

    assert 130 == cli("list", "broken").code


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("timout=1", "tool() got an unexpected keyword argument 'timout'"),
        (
            "timeout='1'",
            "@tool on broken:late: timeout takes seconds above 0, got '1'.",
        ),
    ],
)
def test_a_faulty_declaration_is_told_with_its_line(cli, option, told):
    """
    It is mended in the module, and not where our decorator has found it.
    """
    text = (
        f"from tooldecl import tool\n\n@tool({option})\ndef late():\n    'Be late.'\n"
    )
    path = cli.write("broken.py", text)
    done = cli("list", "broken")

    assert told in done.err
    assert f" ({path}:3)" in done.err


def test_an_interrupt_within_an_exec_of_text_is_one_too(tmp_path):
    """
    Dataclasses are made by one; the interpreter would end by the signal for it.
    """
    (tmp_path / "broken.py").write_text("exec('raise KeyboardInterrupt')")
    done = subprocess.run(
        [sys.executable, "-m", "tooldecl", "list", "broken"],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env=environment(),
        text=True,
        timeout=30,
    )

    assert (130, "") == (done.returncode, done.stdout)


def test_a_client_of_tools_takes_what_a_command_chooses(cli):
    """
    An engine, somebody to ask and hooks reach the client that is made of a list.
    """
    cli.write("secret.py", HELLO.replace("@tool", "@tool(sensitive=True)"))
    engine, heard = ThreadEngine(), []
    found = find("secret")
    with (
        engine,
        found.client(
            engine=engine, approver=approve_all, hooks=[heard.append]
        ) as client,
    ):
        result = client.invoke("add", {"a": 1})

    assert found.given is None
    assert (client.engine, "3") == (engine, result.content)
    assert heard


@pytest.mark.parametrize(
    "options",
    [{"engine": ThreadEngine()}, {"approver": approve_all}, {"hooks": [print]}],
)
def test_a_client_that_was_named_takes_none_of_it(cli, options):
    """
    An option that a client would not follow is refused, not dropped.
    """
    cli.write("objects.py", OBJECTS)
    found = find("objects:client")

    assert found.client() is found.given
    with pytest.raises(
        click.UsageError, match="objects:client is a client: its engine"
    ):
        found.client(**options)
