"""
Building a client: every fault at once, and duplicates before all others.
"""

from __future__ import annotations

import pytest

from scenarios import plain_tools
from scenarios.plain_tools import add, echo, near, other_add, transfer
from tooldecl import (
    Budget,
    DuplicateToolError,
    ToolCall,
    ToolClient,
    ToolSpec,
    meta_of,
    prefixed,
    tool,
    tools_in,
)
from tooldecl.engines import SequentialEngine
from tooldecl.exceptions import DeclarationError
from tooldecl.filters import Approval, approve_all


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

    assert 7 == len(texts)
    assert [2, 4, 1] == [
        sum("is not a tool" in text for text in texts),
        sum("ToolClient(" in text or "A hook" in text for text in texts),
        sum("is sensitive" in text for text in texts),
    ]


def test_options_and_promises_are_reported_together():
    """
    SPEC 2: a sensitive tool and a wrong limit are two faults of one build, not one after
    the other.
    """
    assert [
        "ToolClient(result_limit=...) takes characters from 1, or None, got 0.",
        "Tool 'transfer' (plain_tools.py:22) is sensitive, and nobody is asked "
        "before it runs. Give the client an Approval filter; to run it unasked, say so "
        "with Approval(approve_all).",
    ] == faults_of([add, transfer], result_limit=0)


def declared_late():
    """
    Declare tools while the client reads them; the second cannot be declared.
    """
    yield transfer
    yield tool(add)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (lambda: [5, transfer], ["is not a tool", "is sensitive"]),
        (declared_late, ["is a tool already", "is sensitive"]),
        (lambda: None, ["given as a list"]),
    ],
    ids=["no tool", "a generator that fails", "no list"],
)
@pytest.mark.parametrize("budget", [None, Budget(per_tool={"lost": 1})], ids=str)
def test_what_could_be_read_is_judged_beside_what_could_not(budget, given, expected):
    """
    SPEC 2: and nothing is said of a name that may be one of those.
    """
    texts = faults_of(given(), budget=budget)

    assert [True] * len(expected) == [
        part in text for part, text in zip(expected, texts, strict=True)
    ]


def unnamed():
    """
    Return a tool that no worker can find.
    """

    @tool(isolation="process")
    def inside() -> None:
        """
        Run elsewhere.
        """

    return inside


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: transfer, "is sensitive"),
        (unnamed, "defined inside of another function"),
    ],
    ids=["a promise", "no name"],
)
def test_a_name_that_no_tool_has_is_one_fault_among_others(make, expected):
    """
    SPEC 2: as long as all tools are known.
    """
    texts = faults_of([add, make()], budget=Budget(per_tool={"lost": 1}))

    assert [True, True] == [expected in texts[0], "'lost'" in texts[1]]


def test_one_fault_is_raised_as_itself():
    """
    SPEC 2: the usual case needs no group around it.
    """
    with pytest.raises(DeclarationError):
        ToolClient([add, 5])
    with pytest.raises(DeclarationError):
        ToolClient([transfer])


@pytest.mark.parametrize("tools", [None, 5, "text", {"add": add}, add])
def test_the_tools_are_a_list(tools):
    """
    E-04: nothing is taken for a list of tools that is none.
    """
    [text] = faults_of(tools)

    assert text.startswith("The tools are given as a list, got ")


def test_a_sensitive_tool_is_refused_unless_somebody_is_asked():
    """
    SPEC 2: running it unasked would be the opposite of what was declared.
    """
    [text] = faults_of([add, transfer])

    assert "Tool 'transfer' " in text
    assert "is sensitive, and nobody is asked" in text
    filters = iter([Approval(approve_all)])
    assert 2 == len(ToolClient([add, transfer], filters=filters).table)


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
    client = ToolClient([spec, prefixed("math", [add]), [echo, near][0]])

    assert ["spec", "math_add", "echo"] == list(client.table)
    assert {"add", "echo", "near"} <= {
        t.name for t in map(meta_of, tools_in(plain_tools))
    }


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
