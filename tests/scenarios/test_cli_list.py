"""
``tooldecl list``: the table of what was declared, for people and for programs.
"""

from __future__ import annotations

import dataclasses
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest

from command_line import environment
from ordering import HANGS_AFTER
from tooldecl import ToolMeta


SHOP = """\
from datetime import date
from enum import Enum
from typing import Annotated, Literal

from pydantic import BaseModel
from tooldecl import Retry, ToolClient, ToolContext, tool


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Item(BaseModel):
    name: str


@tool
def plain(a: int) -> str:
    \"\"\"Has nothing declared.\"\"\"


@tool(
    timeout=5, retry=Retry(attempts=3, on=(OSError,)), idempotent=True, serial="db",
    isolation="process", sensitive=True, tags=["x", "y"], result_limit=100,
    on_overflow="truncate", coerce="repair", return_direct=True,
)
async def full(
    names: list[str], color: Color = Color.RED, day: date | None = None,
    way: Literal[1, 2] = 1, items: list[Item] = (), counts: dict[str, int] = {},
    ctx: ToolContext = None,
) -> dict[str, int]:
    \"\"\"Has everything declared.\"\"\"


@tool(timeout=None, serial=True, result_limit=None, retry=True, isolation="thread")
def unlimited() -> None:
    \"\"\"Has no limits.\"\"\"


@tool(external=True)
def elsewhere(a: int = 1) -> bool:
    \"\"\"Is run by somebody else.\"\"\"


nothing = ToolClient([])
"""

HOSTILE = """\
from typing import Literal
from tooldecl import tool

@tool(tags=["[red]tag[/red]", "\\x1b[2J", "\\u202eback"], serial="a\\nb")
def hostile(a: Literal["[bold]", "\\x1b]0;title\\x07", ":smile:", "\\u202e"]) -> str:
    \"\"\"[link=x]Text[/link].\"\"\"
"""

LINES = """\
TOOL PARAMETERS KIND ISOLATION TIMEOUT RETRY SERIAL RESULT LIMIT ALSO TAGS DECLARED
plain (a: integer) -> string sync - - - - - - - shop.py:18
full (names: array[string], color: "red" | "blue" = "red", day: date | null = null, \
way: 1 | 2 = 1, items: array[object] = [], counts: object[integer] = {}) -> \
object[integer] async process 5 s 3 attempts group db 100 truncate sensitive, \
return_direct, idempotent, repair x, y shop.py:23
unlimited () sync thread unlimited 3 attempts alone unlimited - - shop.py:36
elsewhere (a: integer = 1) -> boolean sync - - - - - external - shop.py:41
"""


def listed_on_a_terminal(folder, target, width, **variables):
    """
    List on a terminal of so many columns, and return what it was sent.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    env = environment(TERM="xterm-256color", **variables)
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "tooldecl", "list", target],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                shown += (part := os.read(ours, 4096))
            except OSError:  # the other end is closed
                break
            if not part:
                break
        _, err = process.communicate(timeout=HANGS_AFTER)
    os.close(ours)

    assert (0, b"") == (process.returncode, err)

    return shown.decode("utf-8").replace("\r\n", "\n")


def test_every_column_is_there_where_nobody_looks(cli):
    """
    A file or another program gets aligned text, one line for each tool, never wrapped.
    """
    cli.write("shop.py", SHOP)
    done = cli("list", "shop")
    lines = done.out.splitlines()
    places = [[m.start() for m in re.finditer(r"(?<=  )\S", line)] for line in lines]

    assert (0, "") == (done.code, done.err)
    assert LINES.splitlines() == [re.sub(r" {2,}", " ", line) for line in lines]
    assert all(set(places[0]) <= set(of_line) for of_line in places)


def test_json_has_everything_that_was_declared(cli):
    """
    A field that comes later is in it without anybody's doing.
    """
    cli.write("shop.py", SHOP)
    done = cli("list", "shop", "--json")
    plain, full, *_ = json.loads(done.out)
    fields = {field.name for field in dataclasses.fields(ToolMeta)}

    assert fields | {"parameters", "file", "line"} == set(full)
    assert ("unset", "unset") == (plain["timeout"], plain["result_limit"])
    assert (5.0, ["x", "y"], "db") == (full["timeout"], full["tags"], full["serial"])
    assert (3, ["OSError"]) == (full["retry"]["attempts"], full["retry"]["on"])
    assert ("shop.py", 23, "shop:full") == (full["file"], full["line"], full["ref"])


def test_a_tool_from_elsewhere_has_the_path_to_its_file(cli, tmp_path_factory):
    """
    The name of a file alone opens in no editor.
    """
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "far.py").write_text(SHOP, encoding="utf-8")
    done = cli("list", f"{folder}/far.py", "--json")

    assert str(folder / "far.py") == json.loads(done.out)[0]["file"]


SPECS = """\
from tooldecl import ToolSpec
from handlers import handle

spec = ToolSpec(
    name="spec", description="A spec.", input_schema={"type": "object"}, handler=handle
)
"""


@pytest.mark.parametrize(
    ("others", "file"),
    [([], "specs/tools.py"), (["more/tools.py"], "tools.py")],
)
def test_a_spec_is_declared_where_it_is_made(cli, others, file):
    """
    Its handler may be anywhere; where two files have its name, none is guessed.
    """
    cli.write("handlers.py", "def handle(given: dict) -> int: ...")
    cli.write("specs/__init__.py", "")
    cli.write("specs/tools.py", SPECS)
    imports = "import specs.tools\n"
    for other in others:
        cli.write(other, "")
        cli.write("more/__init__.py", "")
        imports += "import more.tools\n"
    cli.write("all.py", f"{imports}tools = [specs.tools.spec]")
    spec = json.loads(cli("list", "all:tools", "--json").out)[0]

    assert (file, 4, "handlers:handle") == (spec["file"], spec["line"], spec["ref"])


@pytest.mark.parametrize("option", [[], ["--json"]])
def test_a_client_without_tools_is_no_failure(cli, option):
    """
    It is a client all the same; that it has none is said beside the results.
    """
    cli.write("shop.py", SHOP)
    done = cli("list", "shop:nothing", *option)

    assert 0 == done.code
    assert done.out in ("", "[]\n")
    assert ("shop:nothing has no tools.\n" == done.err) == (not option)


@pytest.mark.slow
def test_a_wide_terminal_gets_a_table(tmp_path):
    """
    Columns that would hold nothing but dashes are left out there.
    """
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    wide = listed_on_a_terminal(tmp_path, "shop", 400)
    bare = listed_on_a_terminal(tmp_path, "shop:plain", 10, COLUMNS="250")

    assert 5 == len(wide.splitlines())
    assert "isolation" in wide
    assert "\x1b[1mfull" in wide
    words = re.sub(r"\x1b\[[0-9;]*m", "", bare).split()
    assert ["tool", "parameters", "kind", "timeout", "declared"] == words[:5]


@pytest.mark.slow
@pytest.mark.parametrize("width", [100, 40, 1])
def test_a_narrow_terminal_gets_a_paragraph_for_each_tool(tmp_path, width):
    """
    A table that is cut shows less than one that is not drawn.
    """
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    shown = listed_on_a_terminal(tmp_path, "shop", width, NO_COLOR="1")
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    joined = "".join(text.split())

    assert all(len(line) <= width for line in text.splitlines())
    assert "unlimited()sync,isolationthread,timeoutunlimited,retry3attempts" in joined
    assert "declaredshop.py:41" in joined


@pytest.mark.slow
@pytest.mark.parametrize("width", [250, 60])
def test_words_of_others_do_not_move_the_cursor(tmp_path, width):
    """
    Markup is text, and an escape, a title or a right-to-left mark is shown as one.
    """
    (tmp_path / "hostile.py").write_text(HOSTILE, encoding="utf-8")
    shown = listed_on_a_terminal(tmp_path, "hostile", width, NO_COLOR="1")
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    joined = "".join(text.split())

    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\x07" not in text
    for word in (r"[red]tag[/red]", r"\x1b[2J", r"\u202eback", r"groupa\nb", ":smile:"):
        assert word in joined


def test_words_of_others_do_not_break_the_lines(cli):
    """
    One line is one tool, whatever its tags hold.
    """
    cli.write("hostile.py", HOSTILE)
    done = cli("list", "hostile")

    assert 2 == len(done.out.splitlines())
    assert r"group a\nb" in done.out
