"""
How much work it is to declare a tool, to build a client of it, and to import both.

Counted are calls, modules and compilations, which no busy machine can change. A higher
number here needs a reason in the diff; a lower one is free. Figures in milliseconds are
on docs/explanation/performance.md.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys

import pytest

from counting import Counting
from source import ROOT
from tooldecl import ToolClient, tool


# Calls of Python and C functions for one declaration.
DECLARING = {"plain": 375, "spelled": 440, "wrapped": 445}

# Modules of the package that an import reads; some room, so that one more is no event.
MODULES = {"": 1, "tool": 31, "ToolClient": 149}

# What dataclasses.dataclass compiles for one class: a class of an import that is no record.
COMPILED = {"": 0, "tool": 0, "ToolClient": 7}

PROGRAM = """
import asyncio, json, sys
import pydantic, wrapt

made = []


def see(event, args):
    if event != "compile":
        return
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__") == "dataclasses":
        frame = frame.f_back
    text = str(args[0])
    if frame.f_globals["__name__"].startswith("tooldecl") and "__create_fn__" in text:
        made.append(text.count("def ") > 1)


sys.addaudithook(see)
import tooldecl
for name in sys.argv[1:]:
    getattr(tooldecl, name)
print(json.dumps([sum(made), sorted(sys.modules)]))
"""


def look(path: str, limit: int = 10, tags: list[str] | None = None) -> int:
    """
    Look at one entry.

    Args:
        path: Where it is.
        limit: How many at most.
        tags: What it has to have.
    """
    return limit


# As in a module whose annotations are no text.
OBJECTS = {"path": str, "limit": int, "tags": list[str] | None, "return": int}


def plain():
    """
    Return a function that nobody has declared, with annotations that are objects.
    """
    function = spelled()
    function.__annotations__ = dict(OBJECTS)

    return function


def spelled():
    """
    Return a function that nobody has declared, with annotations that are text.
    """
    made = type(look)(look.__code__, globals(), "look", look.__defaults__)
    made.__doc__ = look.__doc__
    made.__annotations__ = dict(look.__annotations__)

    return made


def wrapped():
    """
    Return such a function with a decorator of its own around it.
    """
    function = plain()

    @functools.wraps(function)
    def around(*args, **kwargs):
        return function(*args, **kwargs)

    return around


KINDS = {"plain": plain, "spelled": spelled, "wrapped": wrapped}


def counted(work):
    """
    Return the calls that *work* makes.
    """
    with Counting() as counting:
        work()

    return counting


@pytest.mark.parametrize("kind", KINDS)
def test_declaring_stays_within_its_budget(kind):
    """
    A program with a thousand tools declares them all at its start.
    """
    make = KINDS[kind]
    for _ in range(3):
        tool(make())
    function = make()
    made = counted(lambda: tool(function))

    assert made.calls <= DECLARING[kind], f"{kind}: {made.calls} calls"


@pytest.mark.parametrize("kind", KINDS)
def test_a_function_is_read_once(kind):
    """
    Its signature and its docstring are read when it is declared and never again.
    """
    function = KINDS[kind]()
    declared = counted(lambda: tool(function)).functions
    made = tool(KINDS[kind]())
    built = counted(lambda: ToolClient([made]).definitions("mcp")).functions

    assert 1 == declared["Signature.from_callable"]
    assert 1 == declared["read_docstring"]
    assert 0 == built["read_docstring"]


def test_a_client_makes_one_validator_and_one_schema_of_a_tool():
    """
    The schema of the result is of no use to most: it is made for a format that shows it.
    """
    client = None

    def build():
        nonlocal client
        client = ToolClient([tool(plain())])
        client.definitions()

    ToolClient([tool(plain())])
    built = counted(build).functions
    shown = counted(lambda: client.definitions("mcp")).functions
    again = counted(lambda: client.definitions("mcp")).functions

    assert (1, 1) == (
        built["TypeAdapter.__init__"],
        built["GenerateJsonSchema.generate"],
    )
    assert (1, 1) == (
        shown["TypeAdapter.__init__"],
        shown["GenerateJsonSchema.generate"],
    )
    assert 0 == again["TypeAdapter.__init__"]


def test_a_second_client_makes_none():
    """
    What was made of a function serves every client of it.
    """
    declared = tool(plain())
    ToolClient([declared]).definitions("mcp")
    second = counted(lambda: ToolClient([declared]).definitions("mcp")).functions

    assert 0 == second["TypeAdapter.__init__"]


@functools.cache
def imported(name):
    """
    Return how often an import had dataclasses compile, and the modules it brought in.
    """
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *filter(None, [name])],
        capture_output=True,
        check=True,
        cwd=ROOT,
        text=True,
        timeout=60,
    )
    compiled, modules = json.loads(done.stdout)

    return compiled, set(modules)


@pytest.mark.parametrize("name", MODULES)
def test_an_import_reads_few_modules(name):
    """
    Every module is a file that is looked for, read and run at each start of a program.
    """
    _, modules = imported(name)
    ours = {module for module in modules if module.partition(".")[0] == "tooldecl"}

    assert len(ours) <= MODULES[name], f"{len(ours)} modules"


@pytest.mark.parametrize("name", COMPILED)
def test_an_import_compiles_no_methods(name):
    """
    Making a class with dataclasses.dataclass takes longer than importing a small module.
    """
    compiled, _ = imported(name)

    assert compiled <= COMPILED[name], f"{compiled} compiled"


@pytest.mark.parametrize("name", ["", "tool"])
def test_declaring_does_not_bring_in_the_validator(name):
    """
    pydantic itself is lazy, and a worker that runs bodies never needs it.
    """
    _, modules = imported(name)

    assert "pydantic" in modules
    assert not modules & {
        "pydantic.type_adapter",
        "pydantic.json_schema",
        "pydantic.main",
    }


def test_work_that_is_done_is_counted():
    """
    The control: without it, a count of nothing would keep every budget.
    """
    _, modules = imported("ToolClient")

    assert "tooldecl._client" in modules
    assert "pydantic.type_adapter" in modules
    assert counted(lambda: tool(wrapped())).calls > 100
