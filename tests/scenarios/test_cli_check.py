"""
``tooldecl check``: each rule finds what it is for, and is silent beside it.
"""

from __future__ import annotations

import json

import pytest

from command_line import HELLO
from tooldecl.cli._rules import CODES, RULES, TARGETS


HEAD = """\
import asyncio
import sqlite3

from collections.abc import AsyncIterator, Iterator
from datetime import date
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, SecretStr

from tooldecl import Retry, ToolClient, ToolContext, ToolSpec, tool
from tooldecl.engines import ProcessEngine, SequentialEngine, ThreadEngine
from tooldecl.filters import Approval, approve_all


class Color(Enum):
    RED = "red"


"""


def declared(options="", parameters="", doc="Do what is to be done.", **parts):
    """
    Write one tool.
    """
    word = parts.get("word", "def")
    returns = parts.get("returns", "str")
    body = parts.get("body", "return ''")
    name = parts.get("name", "subject")

    return (
        f"@tool({options})\n{word} {name}({parameters}) -> {returns}:\n"
        f"    '''\n    {doc}\n    '''\n    {body}\n\n\n"
    )


def with_args(*lines):
    """
    Write a docstring with a section of parameters.
    """
    inner = "".join(f"\n        {line}" for line in lines)

    return f"Do what is to be done.\n\n    Args:{inner}"


LARGE = "a: Literal[{}]".format(
    ", ".join(repr(f"choice number {n}") for n in range(250))
)
TIMED = "timeout=5"
SLEEPS = "await asyncio.sleep(0)"

# What a rule finds, and how often with which words; what it has to leave alone.
FOUND = [
    ("T101", declared(doc="Act."), ["is one word, 'Act.'"]),
    (
        "T102",
        declared() + declared(name="another") + declared(name="third"),
        [
            "the description is that of 'subject'",
            "the description is that of 'subject'",
        ],
    ),
    (
        "T102",
        declared() + declared(name="another", doc="DO what  is to be done"),
        ["the description is that of 'subject'"],
    ),
    (
        "T103",
        declared() + declared(name="sub_Jects", doc="Another."),
        ["the name is almost 'subject'"],
    ),
    (
        "T104",
        declared() + declared(parameters="a: int", doc=with_args("a: It.")),
        ["line 22 declares a tool as 'subject' too, and Python keeps the later one"],
    ),
    (
        "T104",
        "import tooldecl as t\nmine = partial(tool, timeout=5)\n"
        "@t.tool\ndef subject(): '''First.'''\n"
        "@mine()\nasync def subject(): '''Second one.'''\n" + declared(),
        ["line 24 declares a tool as 'subject' too", "line 26 declares a tool as"],
    ),
    (
        "T104",
        "class Shop:\n    @tool\n    def subject(self): '''First one.'''\n"
        "    @tool\n    def subject(self): '''Second one.'''\n"
        "client = ToolClient([Shop().subject])\n",
        ["line 23 declares a tool as 'subject' too"],
    ),
    (
        "T201",
        declared(parameters="a: int, b: Color, c: int", doc=with_args("c: It.")),
        ["the parameter 'a' has no", "the parameter 'b' has no"],
    ),
    (
        "T202",
        declared(parameters="a: int", doc=with_args("a: It.", "z: No.", "b: No.")),
        ["the docstring describes 'b'", "the docstring describes 'z'"],
    ),
    (
        "T203",
        declared(parameters="a: list[int] = [], b: dict[str, int] = {}"),
        ["the default of 'a' is a list", "the default of 'b' is a dict"],
    ),
    (
        "T203",
        declared(parameters="a: set[int] = {1}"),
        ["the default of 'a' is a set"],
    ),
    (
        "T204",
        declared(parameters="a: date = date(2026, 1, 1), b: float = float('inf')"),
        ["the default of 'a' is a date", "the default of 'b' is a float"],
    ),
    ("T205", declared(parameters=LARGE), ["tokens (estimated)"]),
    (
        "T206",
        declared(parameters="a: dict[str, int]"),
        ["not offered in strict mode: an object of it takes members of any name"],
    ),
    ("T206", declared(parameters="a: Any"), ["a part of it takes anything"]),
    ("T301", declared(TIMED), ["the timeout of 5 s is on a body in a thread"]),
    (
        "T301",
        declared("timeout=5, isolation='thread'"),
        ["the timeout of 5 s is on a body in a thread"],
    ),
    (
        "T301",
        declared() + "client = ToolClient([subject], engine=ThreadEngine(timeout=2))",
        ["the timeout of 2 s is on a body in a thread"],
    ),
    (
        "T302",
        declared("timeout=5, retry=2"),
        ["the retry does nothing after a timeout"],
    ),
    (
        "T303",
        declared("sensitive=True, serial=True"),
        ["the other calls of its batch wait"],
    ),
    (
        "T303",
        declared("sensitive=True, serial='db'"),
        ["the other calls of the group 'db' wait"],
    ),
    (
        "T304",
        declared(TIMED, word="async def"),
        ["the timeout of 5 s is on an async body that never awaits"],
    ),
    ("T305", declared("coerce='repair'", "a: int"), ["coerce='repair' does nothing"]),
    ("T305", declared("coerce='repair'"), ["coerce='repair' does nothing"]),
    ("T401", declared(returns="sqlite3.Row"), ["it returns Row, which has no JSON"]),
    (
        "T401",
        declared(returns="list[sqlite3.Row]"),
        ["it returns list, which has no JSON"],
    ),
]

SILENT = [
    ("T101", declared(doc="Act now.")),
    ("T102", declared() + declared(name="another", doc="Do what is to be left.")),
    ("T103", declared() + declared(name="subject2", doc="Another.")),
    (
        "T104",
        "from typing import overload\n"
        "@overload\ndef subject(a: int) -> str: ...\n"
        "@overload\ndef subject(a: str) -> str: ...\n"
        + declared(parameters="a: str = ''"),
    ),
    (
        "T104",
        "if True:\n    @tool\n    def subject(): '''First one.'''\n"
        "else:\n    @tool\n    def subject(): '''Second one.'''\n",
    ),
    (
        "T104",
        declared("name='one'")
        + "tools = [subject]\n"
        + declared("name='two'")
        + "client = ToolClient([*tools, subject])\n",
    ),
    ("T104", "def subject(): '''First one.'''\n" + declared()),
    ("T104", declared() + "class Shop:\n    @tool\n    def subject(self): '''A.'''\n"),
    ("T103", declared(name="get_user") + declared(name="get_group")),
    (
        "T201",
        declared(
            parameters="a: int, b: Annotated[int, Field(description='It.')], "
            "c: Annotated[int, 'It.'], ctx: ToolContext",
            doc=with_args("a: It."),
        ),
    ),
    ("T202", declared(parameters="a: int", doc=with_args("a: It."))),
    (
        "T202",
        declared(parameters="a: int, ctx: ToolContext", doc=with_args("ctx: It.")),
    ),
    (
        "T202",
        declared(parameters="a: int, b: int", doc=with_args("a: It.", "b: It."))
        + "client = ToolClient([partial(subject, b=1)])",
    ),
    (
        "T203",
        declared(
            parameters="a: tuple[int, ...] = (), b: list[int] | None = None, "
            "c: list[int] = Field(default_factory=list)"
        ),
    ),
    (
        "T204",
        declared(
            parameters="a: int = 1, b: Color = Color.RED, c: list[int] = [1], "
            "d: int | None = None, e: tuple[int, ...] = (1,), f: int = Field(default=3), "
            "g: str = None, h: date"
            " | None = None"
        ),
    ),
    ("T205", declared(parameters=LARGE[: LARGE.index(", 'choice number 100")] + "]")),
    ("T206", declared(parameters="a: int, b: list[str]")),
    ("T301", declared()),
    ("T301", declared("timeout=None")),
    ("T301", declared("timeout=5, isolation='process'")),
    ("T301", declared("timeout=5, external=True")),
    ("T301", declared(TIMED, word="async def", body=SLEEPS)),
    (
        "T301",
        declared("timeout=None")
        + "client = ToolClient([subject], engine=ThreadEngine(timeout=2))",
    ),
    ("T302", declared("timeout=5, retry=2, idempotent=True")),
    ("T302", declared("retry=2")),
    ("T302", declared("timeout=5, retry=1")),
    ("T302", declared("timeout=5, retry=2, isolation='process'")),
    ("T302", declared("timeout=5, retry=2", word="async def", body=SLEEPS)),
    ("T303", declared("sensitive=True")),
    ("T303", declared("serial=True")),
    ("T304", declared(TIMED, word="async def", body=SLEEPS)),
    ("T304", declared(TIMED, word="async def", body="async with x as y: pass")),
    ("T304", declared(TIMED, word="async def", body="async for y in x: pass")),
    (
        "T304",
        declared(
            TIMED, word="async def", body="return [y async for y in x]", returns="list"
        ),
    ),
    ("T304", declared(word="async def")),
    ("T304", declared("timeout=5, isolation='thread'", word="async def")),
    (
        "T304",
        declared(
            TIMED, word="async def", body="yield ''", returns="AsyncIterator[str]"
        ),
    ),
    ("T305", declared("coerce='repair'", "a: list[int]")),
    ("T305", declared("coerce='repair'", "a: int | dict[str, int] | None = None")),
    ("T305", declared("coerce='repair'", "a: Any")),
    ("T305", declared("", "a: int")),
    ("T401", declared(returns="date")),
    ("T401", declared(returns="None")),
    ("T401", declared(returns="object")),
    ("T401", declared(returns="Iterator[str]", body="yield ''")),
    ("T401", declared(returns="list[dict[str, Path]]")),
]


@pytest.fixture
def check(cli):
    """
    Check a text as a module, by all rules there are but those of no interest.
    """

    def check(text, *options, only=None):
        cli.write("subjects.py", HEAD + text)
        others = [c for c in CODES if only is not None and c != only]
        ignored = [word for code in others for word in ("--ignore", code)]
        targets = [word for target in TARGETS for word in ("--target", target)]
        target = "subjects:client" if "client = " in text else "subjects"

        return cli("check", target, *ignored, *targets, *options)

    return check


@pytest.mark.parametrize(("code", "text", "messages"), FOUND)
def test_a_rule_finds_what_it_is_for(check, code, text, messages):
    """
    A rule that cannot find anything is a promise that nobody keeps.
    """
    done = check(text, "--json", only=code)
    found = json.loads(done.out)

    assert 1 == done.code, done.err
    assert [code] * len(messages) == [finding["code"] for finding in found]
    for message, finding in zip(messages, found, strict=True):
        assert message in finding["message"]


@pytest.mark.parametrize(("code", "text"), SILENT)
def test_a_rule_is_silent_beside_it(check, code, text):
    """
    A rule that finds what is right is switched off, and finds nothing any more.
    """
    done = check(text, only=code)

    assert (0, "") == (done.code, done.out), done.err


def test_every_rule_has_both():
    """
    A rule comes with what it finds and what it leaves alone.
    """
    assert list(CODES) == list(dict.fromkeys(case[0] for case in FOUND))
    assert list(CODES) == list(dict.fromkeys(case[0] for case in SILENT))
    assert len(CODES) == len(set(CODES)) == len(RULES)


def test_a_schema_of_ones_own_is_checked_by_what_it_says(check):
    """
    A spec has no docstring and no defaults in Python; its schema has descriptions.
    """
    spec = """\
        client = ToolClient([ToolSpec(
            name="given", description="Takes it.",
            input_schema={"type": "object", "properties": {
                "a": {"type": "integer", "default": 1},
                "b": {"description": "It.", "type": "string"}}},
            handler=dict,
        )])
        """
    handler = "def taking(a: int = 0, b: str = '') -> str: ...\n"
    text = handler + "\n".join(line[8:] for line in spec.splitlines())
    done = check(text.replace("handler=dict", "handler=taking"))

    assert 1 == done.code
    assert ["T201"] == [line.split()[1] for line in done.out.splitlines()]
    assert "given: the parameter 'a' has no description" in done.out


def test_a_worker_of_a_client_can_be_stopped(check):
    """
    Where bodies run depends on the engine that the client has.
    """
    engine = "client = ToolClient([subject], engine=ProcessEngine(timeout=5))"

    assert 0 == check(declared() + engine, only="T301").code


def test_what_is_right_has_no_findings(cli):
    """
    The text is empty, so that a pipeline shows nothing; how many were looked at is said.
    """
    done = cli("check", "hello")

    assert (0, "", "Nothing found in 1 tool.\n") == (done.code, done.out, done.err)
    assert "[]\n" == cli("check", "hello", "--json").out


def test_a_finding_is_a_line_that_editors_can_follow(check):
    """
    File, line, code, tool, and what is wrong.
    """
    done = check(declared("timeout=5, retry=2"))
    place = f"subjects.py:{HEAD.count(chr(10)) + 1}: "
    first, second = done.out.splitlines()

    assert 1 == done.code
    assert first.startswith(f"{place}T301 subject: the timeout of 5 s ")
    assert second.startswith(f"{place}T302 subject: the retry does nothing ")
    assert "2 findings in 1 of 1 tool.\n" == done.err


def test_json_is_a_list_of_findings(check):
    """
    Both spellings of the option give the same.
    """
    short, long = (
        check(declared(TIMED), *o) for o in (["--json"], ["--format", "json"])
    )
    finding = json.loads(short.out)[0]

    assert short.out == long.out
    assert {"code", "tool", "message", "file", "line"} == set(finding)
    assert ("T301", "subject", "subjects.py") == (
        finding["code"],
        finding["tool"],
        finding["file"],
    )


def test_annotations_have_the_form_that_github_reads(check):
    """
    A comma or a colon in a property would end it, a line end the whole annotation.
    """
    done = check(declared(doc="100%,"), "--format", "github")

    assert done.out.startswith("::warning file=subjects.py,line=")
    assert ",title=T101 subject::the description is one word, '100%25,': " in done.out


def test_json_and_another_form_are_not_both_to_be_had(check):
    """
    One of them would be ignored without a word.
    """
    done = check(declared(), "--json", "--format", "github")

    assert (2, "") == (done.code, done.out)
    assert "Give either --json or another --format." in done.err


def test_what_is_ignored_is_not_found(check):
    """
    A rule that somebody has decided against is silent by name, and no other is.
    """
    text = declared("timeout=5, retry=2")

    assert "T302" in check(text, "--ignore", "T301").out
    assert 0 == check(text, "--ignore", "T301", "--ignore", "T302").code


def test_an_unknown_code_is_refused(check):
    """
    A typing error would ignore nothing, and nobody would know.
    """
    done = check(declared(), "--ignore", "T999")

    assert 2 == done.code
    assert "'T999' is not one of 'T101'" in done.err


def test_the_rules_of_a_format_have_to_be_asked_for(cli):
    """
    What OpenAI's strict mode does not take, everybody else may.
    """
    cli.write("free.py", HEAD + declared(parameters="a: Any", doc=with_args("a: It.")))

    assert 0 == cli("check", "free").code
    assert 1 == cli("check", "free", "--target", "openai-strict").code


def test_what_no_client_takes_fails_as_such(cli):
    """
    There is nothing to check, and the reason is the library's own.
    """
    cli.write("twice.py", f"{HELLO}\nboth = [add, add]\n")
    done = cli("check", "twice:both", "--json")

    assert (1, "") == (done.code, done.out)
    assert "2 tools are named 'add'" in done.err
