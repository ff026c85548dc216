"""
Several tools at once: those of a module, and any under a prefix.
"""

from __future__ import annotations

import functools
import types

from typing import Any

import pytest

import sample_declarations

from one_tool import run
from sample_declarations import Shop, add, counted, fetch
from tooldecl import (
    DeclarationError,
    ToolSpec,
    ToolTable,
    meta_of,
    prefixed,
    tool,
    tools_in,
)


def module_of(text: str, **names: Any) -> types.ModuleType:
    """
    Run *text* as a module of its own.
    """
    module = types.ModuleType("written")
    vars(module).update(tool=tool, ToolSpec=ToolSpec, **names)
    exec(compile(text, "written.py", "exec"), vars(module))  # noqa: S102

    return module


TWO = """
@tool
def second() -> None:
    '''Do it.'''

@tool
def first() -> None:
    '''Do it.'''

again = second
"""


def names_in(tools: Any) -> list[str]:
    """
    Return the names of a table of *tools*.
    """
    return list(ToolTable.assemble([tools]))


class TestModules:
    """
    The tools of a module.
    """

    def test_they_come_in_the_order_of_their_definition(self):
        """
        TAB-11: once each, whatever else they are called; nothing imported.
        """
        assert ["second", "first"] == names_in(tools_in(module_of(TWO, add=add)))
        assert ["add", "fetch_page", "counted", "add_five"] == (
            names_in(tools_in(sample_declarations))
        )

    def test_all_of_a_module_names_them_wherever_they_are_from(self):
        """
        A module that gathers tools says which.
        """
        text = f"{TWO}\n__all__ = ['first', 'add', 'tool', 'number']\nnumber = 5"

        assert ["add", "first"] == names_in(tools_in(module_of(text, add=add)))

    def test_what_is_made_on_demand_counts_too(self):
        """
        A module may make its names only when they are asked for.
        """

        def make(name: str) -> Any:
            if name == "add":
                return add
            raise AttributeError(name)

        module = module_of(f"{TWO}\n__all__ = ['first', 'add']", __getattr__=make)

        assert ["first", "add"] == names_in(tools_in(module))

    def test_a_name_that_is_not_there_is_refused(self):
        """
        A tool must not get lost because of a misspelt name.
        """
        with pytest.raises(DeclarationError) as caught:
            tools_in(module_of(f"{TWO}\n__all__ = ['frist']"))

        assert (
            "The module written names 'frist' in __all__ and has no such attribute."
        ) == str(caught.value)

    def test_wrapped_and_bound_tools_of_the_module_count(self):
        """
        R141: what stands above a tool does not hide it.
        """
        text = """
import functools

class Holder:
    @tool
    def method(self) -> None:
        '''Do it.'''

bound = Holder().method

@functools.cache
@tool
def cached() -> None:
    '''Do it.'''

spec = ToolSpec(
    name="spec", description="Do it.", input_schema={"type": "object"}, handler=lambda x: x
)
"""
        assert ["method", "cached", "spec"] == names_in(tools_in(module_of(text)))

    def test_other_things_of_a_module_are_not_touched(self):
        """
        Looking for tools must not run code of what is no tool.
        """

        class Trap:
            def __getattr__(self, name: str) -> Any:
                raise RuntimeError(name)

            def __call__(self) -> None:
                """
                Do nothing.
                """

        assert ["second", "first"] == names_in(tools_in(module_of(TWO, trap=Trap())))

    def test_a_module_without_tools_is_refused(self):
        """
        An empty list would be noticed by nobody.
        """
        with pytest.raises(DeclarationError) as caught:
            tools_in(types)

        assert "There is no tool in the module types." == str(caught.value)

    @pytest.mark.parametrize(
        "module", ["sample_declarations", [add], Shop, None], ids=str
    )
    def test_what_is_no_module_is_refused(self, module):
        """
        A list of tools needs no function to read it.
        """
        kind = type(module).__name__
        with pytest.raises(DeclarationError) as caught:
            tools_in(module)

        assert (
            f"tools_in takes a module, got {kind}. List other tools one by one."
        ) == str(caught.value)


class TestPrefixes:
    """
    Tools of several origins under one roof.
    """

    def test_the_prefix_is_part_of_the_name(self):
        """
        R49: with distinct prefixes, equal names are callable both.
        """
        table = ToolTable.assemble([prefixed("gh", [add]), prefixed("gl", [add]), add])

        assert ["gh_add", "gl_add", "add"] == list(table)
        assert "gh_add" == table.entry("gh_add").definition.name
        assert 3 == table.entry("gl_add").call({"x": 1}, None)
        assert "add" == meta_of(add).name

    def test_their_record_can_be_read(self):
        """
        What a client's list may hold is a tool, also to `meta_of`.
        """
        [entry] = prefixed("p", [add])

        assert "p_add" == meta_of(entry).name

    def test_groups_stand_in_each_other(self):
        """
        R49: prefixes are put one before the other.
        """
        group = prefixed("a", [prefixed("b", [add, counted]), tools_in(module_of(TWO))])

        assert ["a_b_add", "a_b_counted", "a_second", "a_first"] == names_in(group)
        assert "<ToolGroup of 4 tools>" == repr(group)

    def test_everything_else_stays(self):
        """
        R48: an override of the name is checked again and changes nothing but the name.
        """
        [declared] = prefixed("x", [fetch])

        assert ("x_fetch_page", 5.0, ("web",), True) == (
            declared.meta.name,
            declared.meta.timeout,
            declared.meta.tags,
            declared.meta.is_async,
        )

    def test_bound_and_wrapped_tools_keep_what_is_around_them(self):
        """
        R141, R89: what runs is what was given.
        """
        group = prefixed("x", [Shop(4).count, functools.partial(add, 5)])

        assert [4, 7] == [run(entry, {}) for entry in group]

    @pytest.mark.parametrize("prefix", ["", 5, None])
    def test_a_prefix_is_a_text(self, prefix):
        """
        An empty one would only add an underscore.
        """
        with pytest.raises(DeclarationError) as caught:
            prefixed(prefix, [add])

        assert f"prefixed takes a text to put first, got {prefix!r}." == str(
            caught.value
        )

    @pytest.mark.parametrize("prefix", ["a b", "1", "x" * 62])
    def test_the_whole_name_has_to_fit(self, prefix):
        """
        R50, R52: a name is never cut to fit.
        """
        with pytest.raises(DeclarationError) as caught:
            prefixed(prefix, [add])

        assert str(caught.value).startswith(
            "@tool on sample_declarations:add: name takes 1 to 64 letters, digits, _ or -"
        )

    @pytest.mark.parametrize("tools", [add, "add", sample_declarations, None], ids=str)
    def test_the_tools_are_a_list(self, tools):
        """
        A module has to be read first, a single tool be put in a list.
        """
        kind = "function" if tools is add else type(tools).__name__
        kind = "Tool" if tools is add else kind
        with pytest.raises(DeclarationError) as caught:
            prefixed("x", tools)

        assert f"prefixed takes a list of tools, got {kind}." == str(caught.value)

    def test_what_is_no_tool_is_refused(self):
        """
        Nothing is dropped in silence.
        """
        with pytest.raises(DeclarationError, match="is not a tool"):
            prefixed("x", [len])
