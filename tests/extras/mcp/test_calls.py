"""
The SDK's own client lists and calls the tools of a client, over every wire and by both
eras of the protocol.
"""

from __future__ import annotations

import asyncio

import pytest

from mcp_stage import ERAS, WIRES, connected, text_of


ARGUMENTS = {
    "add": {"a": 2, "b": 40},
    "add_up": {"numbers": [1, 2, 3]},
    "look_up": {"key": "k"},
    "fail": {"text": "The shop is closed."},
    "break_down": {},
    "late_task": {},
    "late_thread": {},
    "late_process": {},
    "step": {},
    "nothing": {},
}


@pytest.fixture(
    scope="module",
    params=[(wire, era) for wire in WIRES for era in ERAS],
    ids="-".join,
)
def seen(request, tmp_path_factory):
    """
    What one client saw of one server: its tools, and a result of each.
    """
    wire, era = request.param
    folder = tmp_path_factory.mktemp("stage")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STAGE", str(folder))
        return asyncio.run(look(wire, era, folder))


async def look(wire, era, folder):
    """
    List the tools and call them.
    """
    seen = {}
    async with connected(wire, folder, era) as client:
        seen["tools"] = {t.name: t for t in (await client.list_tools()).tools}
        for name, arguments in ARGUMENTS.items():
            seen[name] = await client.call_tool(name, arguments)
        seen["none"] = await client.call_tool("step")
        seen["refused"] = await client.call_tool("add", {"a": "2", "c": 1})
        seen["told"] = told = []

        async def hear(progress, total, message):
            told.append((progress, total, message))

        await client.call_tool("step", {}, progress_callback=hear)

    return seen


def test_tools_are_listed_in_their_order(seen):
    """
    A model chooses among what it is shown, in the order in which it is shown.
    """
    import served_tools

    assert [t.__name__ for t in served_tools.tools] == [*seen["tools"]]


def test_a_tool_is_shown_as_it_was_declared(seen):
    """
    What is shown is all that a model knows.
    """
    add = seen["tools"]["add"]

    assert "Add two integers." == add.description
    assert {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    } == add.input_schema
    assert {"result": {"type": "integer"}} == add.output_schema["properties"]


def test_only_hints_that_were_declared_are_given(seen):
    """
    A host may leave out a question because of a hint, so none is guessed.
    """
    add, fail = seen["tools"]["add"], seen["tools"]["fail"]

    assert (True, None) == (add.annotations.idempotent_hint, fail.annotations)
    assert add.annotations.read_only_hint is None


@pytest.mark.parametrize(
    ("name", "text", "structured"),
    [
        ("add", "42", {"result": 42}),
        ("add_up", '{"total":6,"count":3}', {"total": 6, "count": 3}),
        ("step", "done", {"result": "done"}),
        ("none", "done", {"result": "done"}),
    ],
)
def test_results_come_as_text_and_in_form(seen, name, text, structured):
    """
    Old clients read the text, new ones the structured content; arguments may be absent.
    """
    result = seen[name]

    assert (False, text) == (result.is_error, text_of(result))
    assert structured == result.structured_content


@pytest.mark.parametrize(
    ("name", "status", "fate", "text"),
    [
        ("look_up", "not_found", "completed", "There is no k."),
        ("fail", "tool_error", "completed", "The shop is closed."),
        ("break_down", "tool_error", "completed", "'break_down' failed"),
        ("late_task", "timeout", "stopped", "It was stopped."),
        ("late_thread", "timeout", "abandoned", "It may still be running"),
        ("late_process", "timeout", "killed", "It was killed."),
        ("refused", "invalid", "not_started", "$.a: needs an integer, got text."),
        ("nothing", "unknown_tool", "not_started", "There is no tool named 'nothing'."),
    ],
)
def test_what_failed_is_an_error_in_our_words(seen, name, status, fate, text):
    """
    A model can only correct what it is told of, and a host wants to know the fate.
    """
    result = seen[name]

    assert (True, True) == (result.is_error, text in text_of(result))
    assert (status, fate) == (
        result.meta["tooldecl/status"],
        result.meta["tooldecl/fate"],
    )
    assert result.structured_content is None


def test_nothing_of_an_exception_gets_out(seen):
    """
    What a tool raises may hold what is nobody's business.
    """
    assert "secret" not in text_of(seen["break_down"])


def test_progress_is_told_in_order_and_grows(seen):
    """
    The protocol wants numbers that grow, and a number each time.
    """
    assert [(1, 3, "one"), (2, 3, None), (3, 3, "three")] == seen["told"]
