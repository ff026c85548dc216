"""
A client never changes: what is added, replaced, left out or loaded again makes another one.
"""

from __future__ import annotations

import importlib
import sys

import pytest

from fronts import call
from scenarios.plain_tools import add, echo, near, other_add, transfer
from tooldecl import (
    DuplicateToolError,
    JSONLimits,
    ToolClient,
    meta_of,
    tool,
    tools_in,
)
from tooldecl.engines import SequentialEngine
from tooldecl.exceptions import DeclarationError


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
        (lambda client: client.adding(transfer), DeclarationError),
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
    with pytest.raises(error) as caught:
        derive(ToolClient([add]))

    if error is ExceptionGroup:
        assert 3 == len(caught.value.exceptions)


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


def test_a_derived_client_can_tell_further_hooks():
    """
    Whoever is handed a client can watch its calls, and its owner's hooks go on.
    """
    owners, others = [], []
    client = ToolClient([add], hooks=[owners.append])
    derived = client.telling(others.append)
    derived.invoke("add", {"a": 1, "b": 2})
    client.invoke("add", {"a": 1, "b": 2})

    assert (4, 2, owners[:2]) == (len(owners), len(others), others)


@pytest.mark.parametrize(
    ("hooks", "error"), [([5], DeclarationError), ([5, None], ExceptionGroup)]
)
def test_only_a_hook_can_be_told(hooks, error):
    """
    It would be found out in the middle of a call otherwise, and only in the log.
    """
    with pytest.raises(error):
        ToolClient([add]).telling(*hooks)


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


def test_a_closed_client_can_be_closed_again_and_derives_nothing():
    """
    SPEC 4: closing is good manners; doing it twice is no mistake.
    """
    with ToolClient([add]) as client:
        assert "ok" == client.invoke("add", {"a": 1, "b": 2}).status
    client.close()
    with pytest.raises(RuntimeError):
        client.adding(echo)


def test_a_client_shows_its_engine_and_hands_it_on():
    """
    Whether a timeout can stop a body depends on it, so whoever looks at tools needs it.
    """
    engine = SequentialEngine()
    client = ToolClient([add], engine=engine)

    assert client.engine is engine
    assert client.adding(echo).engine is engine
    assert isinstance(ToolClient([add]).engine, SequentialEngine)
