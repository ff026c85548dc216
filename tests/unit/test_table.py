"""
The one table of a client: every entry is a tool, every name is unique, nothing changes.
"""

from __future__ import annotations

import copy
import functools
import json
import math
import pickle

from collections.abc import Mapping
from typing import Any

import pytest

import sample_declarations

from one_tool import entry_of, run, values_of
from sample_declarations import Shop, add, counted, fetch
from tooldecl import (
    UNSET,
    DeclarationError,
    DuplicateToolError,
    Retry,
    ToolContext,
    ToolSpec,
    ToolTable,
    meta_of,
    prefixed,
    tool,
    tools_in,
)
from tooldecl._build import ToolDefinition
from tooldecl._table import ToolEntry


def named(name: str, **options: Any) -> Any:
    """
    Declare a tool of that name.
    """

    def function() -> str:
        return name

    return tool(name=name, description="Do it.", **options)(function)


def inline(name: str, **options: Any) -> ToolSpec:
    """
    Make a tool of that name without a signature.
    """

    def handle(arguments: dict[str, Any]) -> str:
        return name

    return ToolSpec(
        name=name,
        description="Do it.",
        input_schema={"type": "object"},
        handler=handle,
        **options,
    )


def unreadable(name: str) -> Any:
    """
    Declare a tool that cannot be built.
    """

    def function(x: Nowhere) -> None: ...  # noqa: F821

    return tool(name=name, description="Do it.")(function)


def duplicates_of(tools: Any) -> DuplicateToolError:
    """
    Return the error with which duplicates are refused.
    """
    with pytest.raises(DuplicateToolError) as caught:
        ToolTable.assemble(tools)

    return caught.value


class TestReading:
    """
    What the table answers.
    """

    def test_declared_options_are_answered(self):
        """
        TAB-01: from the table alone, whatever they are.
        """
        table = ToolTable.assemble(
            [named("a", serial=True, retry=True, timeout=0.3, return_direct=True)]
        )
        meta = table["a"]

        assert (True, Retry(), 0.3, True) == (
            meta.serial,
            meta.retry,
            meta.timeout,
            meta.return_direct,
        )

    def test_undeclared_options_are_answered_too(self):
        """
        TAB-02, DEC-06: with their documented values, and without an exception.
        """
        meta = ToolTable.assemble([add])["add"]

        assert (False, None, UNSET, False) == (
            meta.serial,
            meta.retry,
            meta.timeout,
            meta.return_direct,
        )

    def test_a_retry_is_completed_when_it_is_declared(self):
        """
        TAB-03: what was left out is there.
        """
        meta = ToolTable.assemble([named("a", retry=Retry(attempts=5))])["a"]

        assert Retry(attempts=5, delay=0.2) == meta.retry

    def test_inline_tools_answer_from_the_same_table(self):
        """
        TAB-04, TAB-08: with all options and with none.
        """
        table = ToolTable.assemble(
            [inline("a", serial=True, retry=True, timeout=0.3), inline("b")]
        )

        assert (True, Retry(), 0.3) == (
            table["a"].serial,
            table["a"].retry,
            table["a"].timeout,
        )
        assert (False, None, UNSET) == (
            table["b"].serial,
            table["b"].retry,
            table["b"].timeout,
        )

    def test_both_kinds_have_name_sensitivity_and_schema(self):
        """
        TAB-07, TAB-08: an inline tool is no second-class tool.
        """
        table = ToolTable.assemble(
            [named("a", sensitive=True), inline("b", sensitive=True)]
        )

        assert [("a", True), ("b", True)] == [
            (m.name, m.sensitive) for m in table.values()
        ]
        assert all(e.definition.input_schema for e in table.entries())

    def test_any_text_of_the_name_finds_the_tool(self):
        """
        TAB-05: a name is its characters, whichever kind of text it is.
        """
        kind = type("Name", (str,), {})
        table = ToolTable.assemble([add])

        assert table["add"] is table[kind("add")]

    def test_an_unknown_name_is_quiet_where_it_is_asked_for(self):
        """
        TAB-06: like any mapping.
        """
        table = ToolTable.assemble([add])

        assert table.get("nothing") is None
        assert "nothing" not in table
        with pytest.raises(KeyError):
            table["nothing"]
        with pytest.raises(KeyError):
            table.entry("nothing")

    def test_a_registered_name_gives_the_same_object_each_time(self):
        """
        TAB-13: static look-up; TAB-11: reading makes nothing anew.
        """
        table = ToolTable.assemble([add])

        assert table.entry("add") is table.entry("add")
        assert table["add"] is table["add"] is table.entry("add").meta is meta_of(add)
        assert table.entries() == table.entries()

    def test_it_is_a_mapping_in_the_order_given(self):
        """
        TAB-09, R143: there is one registry, and it holds exactly what it was given.
        """
        table = ToolTable.assemble([fetch, add, counted])

        assert isinstance(table, Mapping)
        assert ["fetch_page", "add", "counted"] == list(table)
        assert ["fetch_page", "add", "counted"] == [
            e.meta.name for e in table.entries()
        ]
        assert 3 == len(table)
        assert dict(table) == table

    def test_it_counts_itself(self):
        """
        A table in a log shows how large it is, not all that is in it.
        """
        assert "<ToolTable of 2 tools>" == repr(ToolTable.assemble([add, fetch]))
        assert "<ToolTable of 1 tool>" == repr(ToolTable.assemble([add]))
        assert "<ToolTable of 0 tools>" == repr(ToolTable.assemble([]))
        assert "<ToolEntry add>" == repr(entry_of(add))

    def test_definitions_hold_no_handlers(self):
        """
        TAB-10: what is shown is data.
        """
        definition = entry_of(add).definition

        assert (
            ToolDefinition(
                name="add",
                description="Add two integers.",
                input_schema={
                    "type": "object",
                    "properties": {
                        "x": {"type": "integer"},
                        "y": {"type": "integer", "default": 2},
                    },
                    "required": ["x"],
                    "additionalProperties": False,
                },
                output_schema={
                    "type": "object",
                    "properties": {"result": {"type": "integer"}},
                    "required": ["result"],
                },
            )
            == definition
        )
        json.dumps(definition.input_schema)

    def test_a_definition_is_a_value(self):
        """
        Though what it says of the result is made when it is asked for.
        """
        first, second = entry_of(add).definition, entry_of(add).definition

        assert first == second == pickle.loads(pickle.dumps(first))
        assert first != entry_of(fetch).definition
        assert first != "add"
        assert repr(first) == (
            f"ToolDefinition(name='add', description='Add two integers.', "
            f"input_schema={first.input_schema}, output_schema={first.output_schema})"
        )
        assert first.output_schema is first.output_schema
        with pytest.raises(AttributeError, match="never changes"):
            first.name = "other"
        with pytest.raises(TypeError, match="unhashable"):
            hash(first)

    def test_an_entry_calls_the_function_straight(self):
        """
        Running a plain body costs one call.
        """
        entry = entry_of(add)

        assert 3 == entry.call({"x": 1}, None)
        assert entry.declared.function is add

    def test_a_context_tool_is_known(self):
        """
        DEC-02, DEC-08: its context is filled in beside its defaults.
        """

        @tool
        def asking(x: int, ctx: ToolContext, y: int = 2) -> list[object]:
            """
            Return all.
            """
            return [x, ctx, y]

        assert [1, "c", 2] == run(asking, {"x": 1}, "c")
        assert {"x": 1} == values_of(asking, {"x": 1})


class TestDuplicates:
    """
    Two tools of one name never make a table.
    """

    @pytest.mark.parametrize(
        "tools",
        [
            [named("a"), inline("a")],
            [inline("a"), inline("a")],
            [add, add],
            [named("a"), named("a")],
            [counted, counted],
            [Shop(1).count, Shop(2).count],
            [add, prefixed("x", [named("b")]), functools.partial(add, 1)],
            [named("gh_a"), prefixed("gh", [named("a")])],
            [prefixed("gh", [named("a")]), prefixed("gh", [inline("a")])],
            [tools_in(sample_declarations), add],
        ],
        ids=[
            "DUP-01 decorated and inline",
            "DUP-02 two inline",
            "DUP-03 one listed twice",
            "DUP-06 two decorated",
            "one inline listed twice",
            "one method of two instances",
            "a tool and a partial of it",
            "R49 a prefix that meets a name",
            "R49 one prefix for two",
            "DUP-07 group and direct",
        ],
    )
    def test_they_are_refused_whatever_the_kinds(self, tools):
        """
        DUP-01, DUP-02, DUP-03, DUP-06, DUP-07, R46, R47, R50: on the name that goes out
        on the wire, without a choice in silence.
        """
        assert 1 == len(duplicates_of(tools).duplicates)

    def test_all_of_them_are_listed_with_their_places(self):
        """
        DUP-04, R46: sorted, and every place of each.
        """
        tools = [
            named("b"),
            named("a"),
            named("ok"),
            inline("a"),
            named("b"),
            named("b"),
        ]
        error = duplicates_of(tools)

        assert ["a", "b"] == error.duplicates
        assert [2, 3] == [len(sites) for sites in error.by_name.values()]
        first, second = error.by_name["a"]
        assert first.endswith(
            f"test_table.named.<locals>.function ({meta_of(tools[1]).site})"
        )
        assert second.endswith(
            f"test_table.inline.<locals>.handle ({tools[3].meta.site})"
        )
        assert str(error).endswith("Rename one with @tool(name=...).")
        assert first in str(error)

    def test_they_come_before_any_other_fault(self):
        """
        DUP-05: whoever mends the other faults first would do it for nothing.
        """
        tools = [unreadable("a"), unreadable("a"), 5, [add]]

        assert ["a"] == duplicates_of(tools).duplicates

    def test_names_that_differ_are_no_duplicates(self):
        """
        R50: names are neither cleaned nor cut nor folded.
        """
        table = ToolTable.assemble([named("a_b"), named("a-b"), named("A_b")])

        assert ["a_b", "a-b", "A_b"] == list(table)


class TestFaults:
    """
    Every entry is a tool or an error.
    """

    @pytest.mark.parametrize(
        ("entry", "expected"),
        [
            (len, "builtins.len is not a tool. Decorate it with @tool."),
            (Shop, "sample_declarations.Shop is not a tool. Decorate it with @tool."),
            (
                sample_declarations,
                (
                    "The module sample_declarations is not a tool. Take its tools with "
                    "tools_in(sample_declarations)."
                ),
            ),
            (
                [add],
                "A list is not a tool. List its tools one by one, or unpack it with *.",
            ),
            (
                (add,),
                "A tuple is not a tool. List its tools one by one, or unpack it with *.",
            ),
            (
                {},
                "A dict is not a tool. List its tools one by one, or unpack it with *.",
            ),
            (
                "add",
                (
                    "An object of type builtins.str is not a tool. Decorate a function with "
                    "@tool, or make a ToolSpec."
                ),
            ),
            (
                None,
                (
                    "An object of type builtins.NoneType is not a tool. Decorate a function "
                    "with @tool, or make a ToolSpec."
                ),
            ),
            (
                Shop(1),
                (
                    "An object of type sample_declarations.Shop is not a tool. Decorate a "
                    "function with @tool, or make a ToolSpec."
                ),
            ),
            (functools.partial(math.sqrt, 4), None),
        ],
        ids=str,
    )
    def test_what_is_no_tool_is_refused(self, entry, expected):
        """
        Nothing is dropped in silence, and each mistake has its own hint.
        """
        with pytest.raises(DeclarationError) as caught:
            ToolTable.assemble([add, entry])

        if expected is None:
            expected = (
                "An object of type functools.partial is not a tool. Decorate a function "
                "with @tool, or make a ToolSpec."
            )
        assert expected == str(caught.value)

    @pytest.mark.parametrize(
        "tools", ["add", b"add", {"add": add}, None, add, 5], ids=str
    )
    def test_the_tools_are_a_list(self, tools):
        """
        A single tool, or a dict of them, is an easy mistake.
        """
        with pytest.raises(
            DeclarationError, match=r"^The tools are given as a list, got "
        ):
            ToolTable.assemble(tools)

    def test_several_faults_come_together(self):
        """
        Mending them one by one, build after build, would be a nuisance.
        """
        with pytest.raises(ExceptionGroup) as caught:
            ToolTable.assemble([5, unreadable("a"), add, unreadable("b")])

        assert "3 of the tools cannot be offered. (3 sub-exceptions)" == str(
            caught.value
        )
        assert all(isinstance(e, DeclarationError) for e in caught.value.exceptions)

    def test_what_is_no_tool_is_told_by_its_place(self):
        """
        Three tuples are told apart by nothing else; a group of tools is one entry.
        """
        group = prefixed("x", [add, fetch])
        with pytest.raises(ExceptionGroup) as caught:
            ToolTable.assemble([group, (1,), add, (2,)])

        assert [
            ["It is entry 1 of what was given, counted from 0."],
            ["It is entry 3 of what was given, counted from 0."],
        ] == [fault.__notes__ for fault in caught.value.exceptions]

    def test_any_iterable_will_do(self):
        """
        A generator is read once.
        """
        assert ["add"] == list(ToolTable.assemble(t for t in [add]))


class TestChanging:
    """
    A table never changes; others are made from it.
    """

    def test_it_cannot_be_changed(self):
        """
        R48, R144: no public way leads to another tool or another option.
        """
        table = ToolTable.assemble([add])

        with pytest.raises(TypeError):
            table["add"] = table["add"]  # type: ignore[index]
        with pytest.raises(AttributeError, match="A table never changes"):
            table.extra = 1  # type: ignore[attr-defined]
        with pytest.raises(AttributeError, match="A table never changes"):
            del table._entries
        with pytest.raises(AttributeError):
            table.entry("add").meta = None  # type: ignore[misc]
        assert table is copy.copy(table) is copy.deepcopy(table)

    def test_the_list_it_was_made_from_is_copied(self):
        """
        R148, DEC-11: what the caller does to it afterwards changes nothing.
        """
        tools = [add, fetch]
        table = ToolTable.assemble(tools)
        tools.clear()

        assert ["add", "fetch_page"] == list(table)

    def test_adding_makes_another_one(self):
        """
        R144: the first one does not know; what is built already is not built again.
        """
        table = ToolTable.assemble([add])
        more = table.adding(fetch, prefixed("x", [counted]))

        assert (["add"], ["add", "fetch_page", "x_counted"]) == (
            list(table),
            list(more),
        )
        assert table.entry("add") is more.entry("add")

    def test_adding_refuses_what_a_list_would(self):
        """
        R47: a second tool of one name is an error also when it comes later.
        """
        table = ToolTable.assemble([add])

        with pytest.raises(DuplicateToolError):
            table.adding(named("add"))
        with pytest.raises(DeclarationError, match="A list is not a tool"):
            table.adding([fetch])

    def test_replacing_is_a_call_of_its_own(self):
        """
        R47: swapping on purpose keeps the place; the other table goes on as it was.
        """
        table = ToolTable.assemble([add, fetch])
        other = table.replacing(named("add"))

        assert ["add", "fetch_page"] == list(other)
        assert "add" == other.entry("add").call({}, None)
        assert add is table.entry("add").declared.function

    def test_without_leaves_one_out(self):
        """
        R144: a derived table, not a changed one.
        """
        table = ToolTable.assemble([add, fetch])

        assert (["fetch_page"], 2) == (list(table.without("add")), len(table))

    def test_what_is_not_there_cannot_be_replaced_or_left_out(self):
        """
        R47: a misspelt name must not look like success.
        """
        table = ToolTable.assemble([add])

        for change in (
            lambda: table.replacing(named("addd")),
            lambda: table.without("addd"),
        ):
            with pytest.raises(DeclarationError) as caught:
                change()
            assert (
                "There is no tool named 'addd' in the table. Did you mean 'add'?"
            ) == str(caught.value)
        with pytest.raises(DeclarationError) as caught:
            table.without("zzz")
        assert "There is no tool named 'zzz' in the table." == str(caught.value)

    def test_one_tool_in_two_tables_is_two_entries(self):
        """
        R146: what a client makes of a tool is the client's.
        """
        first, second = entry_of(add), entry_of(add)

        assert first is not second
        assert first.meta is second.meta
        assert isinstance(first, ToolEntry)


def test_an_entry_knows_what_was_read_from_its_function():
    """
    A rule about docstrings and defaults has nothing to look at where a schema was given.
    """
    spec = ToolSpec(
        name="spec",
        description="Takes anything.",
        input_schema={"type": "object"},
        handler=lambda given: given,
    )
    table = ToolTable.assemble([add, spec])
    read = table.entry("add").declared.read

    assert read is not None
    assert ["x", "y"] == [parameter.name for parameter in read.parameters()]
    assert table.entry("spec").declared.read is None
