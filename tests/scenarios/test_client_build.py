"""
Building a client: every fault at once, duplicates before all others, and no way to change it.
"""

from __future__ import annotations

import importlib
import sys

import pytest

from tooldecl import (
    DuplicateToolError,
    JSONLimits,
    ToolCall,
    ToolClient,
    ToolSpec,
    meta_of,
    prefixed,
    tool,
    tools_in,
)
from tooldecl.engines import SequentialEngine
from tooldecl.exceptions import DeclarationError, NotAvailableError


@tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@tool
def echo(text: str) -> str:
    """Say it again."""
    return text


@tool(sensitive=True)
def transfer(amount: int) -> str:
    """Transfer an amount."""
    return f"{amount} transferred"


@tool(isolation="inline")
def near(a: int) -> int:
    """Run on the caller's thread."""
    return a


@tool(name="add")
def other_add(a: float) -> float:
    """Add something else."""
    return a


def unsupported(*args):
    """Take anything."""


def faults_of(tools, **options):
    """
    Build a client that cannot be, and return the texts of all its faults.
    """
    with pytest.raises((DeclarationError, ExceptionGroup)) as caught:
        ToolClient(tools, **options)
    error = caught.value
    if isinstance(error, ExceptionGroup):
        assert all(isinstance(e, DeclarationError) for e in error.exceptions)
        return [str(e) for e in error.exceptions]

    return [str(error)]


def test_duplicates_come_before_any_other_complaint():
    """
    DUP-05: two tools of one name, and an engine, a limit and a filter that make no sense:
    the names are what has to be settled first.
    """
    with pytest.raises(DuplicateToolError) as caught:
        ToolClient(
            [add, other_add, transfer, 5],
            engine="fast",
            result_limit=-1,
            filters=[len],
        )

    assert ["add"] == caught.value.duplicates


def test_all_other_faults_are_reported_at_once():
    """
    SPEC 2: whoever builds a client mends everything in one go, the tools, the options and
    the promises that this client cannot keep.
    """
    texts = faults_of(
        [add, 5, "add", transfer], engine="fast", result_limit=-1, hooks=[1], state=3
    )

    assert 6 == len(texts)
    assert [2, 4] == [
        sum("is not a tool" in text for text in texts),
        sum("ToolClient(" in text or "A hook" in text for text in texts),
    ]


def test_options_and_promises_are_reported_together():
    """
    SPEC 2: a sensitive tool and a wrong limit are two faults of one build, not one after
    the other.
    """
    assert [
        "ToolClient(result_limit=...) takes characters from 1, or None, got 0.",
        "The approval that the sensitive tool 'transfer' needs is not available yet: this "
        "version of tooldecl has nothing that enforces it, so it is refused.",
    ] == faults_of([add, transfer], result_limit=0)


def test_one_fault_is_raised_as_itself():
    """
    SPEC 2: the usual case needs no group around it.
    """
    with pytest.raises(DeclarationError):
        ToolClient([add, 5])
    with pytest.raises(NotAvailableError):
        ToolClient([transfer])


@pytest.mark.parametrize("tools", [None, 5, "text", {"add": add}, add])
def test_the_tools_are_a_list(tools):
    """
    E-04: nothing is taken for a list of tools that is none.
    """
    [text] = faults_of(tools)

    assert text.startswith("The tools are given as a list, got ")


def test_a_sensitive_tool_is_refused_until_somebody_can_be_asked():
    """
    SPEC 2: running it unasked would be the opposite of what was declared.
    """
    [text] = faults_of([add, transfer])

    assert text.startswith(
        "The approval that the sensitive tool 'transfer' needs is not"
    )


def test_a_limit_that_inline_cannot_keep_is_refused():
    """
    SPEC 2: the engine's limit would hold for all tools but this one.
    """
    [text] = faults_of([near], engine=SequentialEngine(timeout=5))

    assert (
        f"Tool 'near' ({meta_of(near).site}) runs inline, where the engine's timeout of "
        "5 s cannot be enforced. Declare timeout=None on it, or another isolation."
        == text
    )


def test_inline_without_a_limit_is_built():
    """
    VAL-02: it is the limit that cannot be kept, not the place; and an explicit "none"
    beats the engine's.
    """

    @tool(isolation="inline", timeout=None)
    def free(a: int) -> int:
        """Run without a limit."""
        return a

    assert 1 == len(ToolClient([near]).table)
    assert 1 == len(ToolClient([free], engine=SequentialEngine(timeout=5)).table)


def test_every_kind_of_entry_is_taken():
    """
    E-04, E-06: one table holds them all, in the order given, however they were made.
    """
    spec = ToolSpec(
        name="spec",
        description="A tool without a signature.",
        input_schema={"type": "object", "properties": {}},
        handler=lambda arguments: "spec",
    )
    module = sys.modules[__name__]
    client = ToolClient([spec, prefixed("math", [add]), [echo, near][0]])

    assert ["spec", "math_add", "echo"] == list(client.table)
    assert {"add", "echo", "near"} <= {t.name for t in map(meta_of, tools_in(module))}


def test_adding_gives_another_client_and_leaves_this_one():
    """
    R144: what one session adds is not seen by the others.
    """
    client = ToolClient([add])
    derived = client.adding(echo, near)

    assert (["add"], ["add", "echo", "near"]) == (
        list(client.table),
        list(derived.table),
    )
    assert ("unknown_tool", "ok") == (
        client.invoke("echo", {"text": "x"}).status,
        derived.invoke("echo", {"text": "x"}).status,
    )


def test_replacing_and_leaving_out_give_other_clients():
    """
    R47: a reload replaces on purpose, by one word that says so.
    """
    client = ToolClient([add, echo])
    replaced, without = client.replacing(other_add), client.without("echo")

    assert (3, 1.5, ["add"]) == (
        client.invoke("add", {"a": 1, "b": 2}).value,
        replaced.invoke("add", {"a": 1.5}).value,
        list(without.table),
    )
    assert ["add", "echo"] == list(replaced.table)


@pytest.mark.parametrize(
    ("derive", "error"),
    [
        (lambda client: client.adding(other_add), DuplicateToolError),
        (lambda client: client.adding(5), DeclarationError),
        (lambda client: client.adding(transfer), NotAvailableError),
        (lambda client: client.adding(5, transfer, "x"), ExceptionGroup),
        (lambda client: client.replacing(near), DeclarationError),
        (lambda client: client.without("nothing"), DeclarationError),
    ],
    ids=range(6),
)
def test_a_derived_client_is_judged_like_any_other(derive, error):
    """
    SPEC 2: a way around the checks would be used.
    """
    with pytest.raises(error):
        derive(ToolClient([add]))


def test_a_derived_client_keeps_the_options():
    """
    SPEC 2: it is the same client with other tools.
    """
    seen = []
    client = ToolClient(
        [add],
        engine=SequentialEngine(timeout=60),
        json_limits=JSONLimits(max_chars=40),
        result_limit=3,
        hooks=[seen.append],
        state={"x": 1},
    )
    derived = client.adding(echo).without("add")
    results = [derived.invoke("echo", {"text": t}) for t in ("abc", "abcd", "x" * 50)]

    assert (["ok", "too_large", "invalid"], 6, {"x": 1}) == (
        [result.status for result in results],
        len(seen),
        derived.state,
    )
    with pytest.raises(DeclarationError):
        derived.adding(near)


def test_inputs_are_copied():
    """
    R148: the caller clears its list and its dict, and the client does not notice.
    """
    tools, state = [add, echo], {"x": 1}
    client = ToolClient(tools, state=state)
    tools.clear()
    state.clear()

    assert (["add", "echo"], {"x": 1}, 3) == (
        list(client.table),
        client.state,
        client.invoke("add", {"a": 1, "b": 2}).value,
    )


def test_reading_changes_nothing():
    """
    R145: a hundred reads, every answer mutated, and the next one is as the first.
    """
    client = ToolClient([add, echo], state={"x": [1]})
    before = client.definitions()
    for _ in range(100):
        for definition in client.definitions():
            definition.clear()
        definitions = client.definitions("anthropic")
        definitions[0]["input_schema"]["properties"].clear()
        definitions.clear()

    assert (before, ["add", "echo"]) == (client.definitions(), list(client.table))
    with pytest.raises(TypeError):
        client.table["x"] = 1
    with pytest.raises(AttributeError):
        client.table = {}
    with pytest.raises(AttributeError):
        client.state = {}


def test_one_tool_in_two_clients_keeps_nothing_of_either(front, gate):
    """
    R146: per-client settings live in the client, not on the tool.
    """
    from fronts import call

    @tool
    def wait() -> str:
        """Wait."""
        gate.pass_through()
        return "done"

    short = ToolClient([wait], engine=SequentialEngine(timeout=0.02))
    long = ToolClient([wait], engine=SequentialEngine(timeout=60))
    first = call(front, short, "wait")
    gate.open()
    second = call(front, long, "wait")

    assert (["timeout", "ok"], "UNSET") == (
        [first.status, second.status],
        repr(meta_of(wait).timeout),
    )


def test_a_module_can_be_loaded_again_and_built_from(tmp_path, monkeypatch):
    """
    R142, R143: decorating registers nothing anywhere, so the new module's tools are no
    duplicates of the old ones, and the old client still works.
    """
    path = tmp_path / "reloaded_tools.py"
    path.write_text(
        "from tooldecl import tool\n\n"
        "@tool\ndef one() -> int:\n    'One.'\n    return 1\n\n"
        "@tool\ndef two() -> int:\n    'Two.'\n    return 2\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("reloaded_tools")
    old = ToolClient([tools_in(module)])
    path.write_text(path.read_text().replace("return 1", "return 100"))
    importlib.invalidate_caches()
    new = ToolClient([tools_in(importlib.reload(module))])
    del sys.modules["reloaded_tools"]

    assert (1, 100, 2) == (
        old.invoke("one").value,
        new.invoke("one").value,
        new.invoke("two").value,
    )


def test_an_empty_client_answers_too():
    """
    A host that has filtered all its tools away still gets answers.
    """
    client = ToolClient([])
    [result] = client.invoke_batch([ToolCall("add")])

    assert ("There is no tool named 'add'. No tools are available.", []) == (
        result.content,
        client.definitions(),
    )


def test_a_client_shows_what_it_is():
    """
    What stands in a debugger should be of use, and hold no values.
    """
    client = ToolClient([add, echo], state={"token": "hunter2"})
    open_one = repr(client)
    client.close()

    assert [
        "<ToolClient of 2 tools, 0 abandoned>",
        "<ToolClient of 2 tools, closed>",
    ] == [open_one, repr(client)]


def test_a_closed_client_can_be_closed_again_and_derives_nothing():
    """
    SPEC 4: closing is good manners; doing it twice is no mistake.
    """
    with ToolClient([add]) as client:
        assert "ok" == client.invoke("add", {"a": 1, "b": 2}).status
    client.close()
    with pytest.raises(RuntimeError):
        client.adding(echo)
