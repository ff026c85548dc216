"""
Every public name has one home, and the facade offers exactly what it says.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pickle

import pytest

import tooldecl

from source import PUBLIC_MODULES, SOURCES


# The facade, as the README and the reference name it.
FACADE = """
    BatchResult Budget DeclarationError DuplicateToolError Fate FileResultStore
    JSONLimits LoopResult Model ModelRequest NotFound PendingCall Reducer ResultStore Retry
    SqliteResultStore Status StopReason Suspension ToolCall ToolClient ToolContext
    ToolError ToolLoop ToolMeta ToolRequest ToolResult ToolSpec ToolTable Turn UNSET
    current_context meta_of prefixed tool tools_in
""".split()

# What is offered in two places, on purpose: the errors that users raise and catch most.
TWO_HOMES = ["DeclarationError", "DuplicateToolError", "NotFound", "ToolError"]


def in_order(names):
    """
    Sort constants first, then classes, then functions, as the linter does.
    """
    return sorted(names, key=lambda n: (not n.isupper(), not n[0].isupper(), n))


def offered():
    """
    List the homes that each public name has.
    """
    homes = {}
    for module in [tooldecl, *map(load, PUBLIC_MODULES)]:
        for name in module.__all__:
            homes.setdefault(name, []).append(module.__name__)

    return homes


def load(name):
    """
    Import a public module of the package.
    """
    return importlib.import_module(f"tooldecl.{name}")


def test_the_facade_offers_exactly_these_names():
    """
    A name that comes or goes is a decision, not an accident.
    """
    assert sorted(FACADE) == sorted(tooldecl.__all__)


MODULES = pytest.mark.parametrize(
    "module", [tooldecl, *map(load, PUBLIC_MODULES)], ids=lambda module: module.__name__
)


@MODULES
def test_all_is_sorted(module):
    """
    A reader finds a name, and a merge adds one, without thinking.
    """
    assert in_order(module.__all__) == module.__all__


@MODULES
def test_all_is_complete(module):
    """
    A class without an underscore that is not offered is one or the other by mistake.
    """
    found = {
        name
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and value.__module__.startswith(module.__name__)
        and not name.startswith("_")
    }

    assert set() == found - set(module.__all__)


def test_every_public_name_has_one_home():
    """
    Two import paths for one thing make two habits, and a rename breaks one of them.
    """
    several = sorted(name for name, homes in offered().items() if len(homes) > 1)

    assert TWO_HOMES == several


def test_public_modules_are_listed():
    """
    A new public module is a promise; it is made here.
    """
    first = {label.split("/")[0].removesuffix(".py") for label in SOURCES}
    public = {name for name in first if not name.startswith("_")}

    assert {*PUBLIC_MODULES, "cli"} == public


def records():
    """
    Make one of every public record, with a value in each required field.
    """
    meta = tooldecl.ToolMeta(name="add", description="Add.", timeout=5, tags=("a",))
    result = tooldecl.ToolResult(
        call_id="c1",
        name="add",
        status=tooldecl.Status.OK,
        content="3",
        value=3,
        fate=tooldecl.Fate.COMPLETED,
        writes={"total": 3},
    )

    return [
        meta,
        tooldecl.Retry(attempts=2),
        tooldecl.ToolCall("add", {"a": 1}, "c1"),
        tooldecl.ToolRequest(call_id="c1", name="add", arguments={"a": 1}, meta=meta),
        result,
        tooldecl.BatchResult([result]),
        tooldecl.Budget(calls=5, per_tool={"add": 2}, seconds=1.5),
        tooldecl.Reducer([], max),
        tooldecl.JSONLimits(max_chars=10),
        tooldecl.Turn(text="Hello."),
        tooldecl.Status.OK,
        tooldecl.Fate.STOPPED,
        tooldecl.StopReason.ANSWER,
        tooldecl.UNSET,
    ]


@pytest.mark.parametrize("record", records(), ids=lambda r: type(r).__name__)
def test_records_pickle(record):
    """
    Records cross to other processes and into stores.
    """
    assert record == pickle.loads(pickle.dumps(record))


@pytest.mark.parametrize(
    "record",
    [r for r in records() if dataclasses.is_dataclass(r)],
    ids=lambda r: type(r).__name__,
)
def test_records_are_frozen(record):
    """
    What was declared or answered does not change behind anybody's back.
    """
    field = dataclasses.fields(record)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(record, field, None)


def test_sentinels_keep_their_identity():
    """
    ``is UNSET`` has to hold on the other side of a pickle too.
    """
    assert pickle.loads(pickle.dumps(tooldecl.UNSET)) is tooldecl.UNSET
