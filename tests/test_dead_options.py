"""
No option is accepted and then ignored: each field of `ToolMeta` has an enforcer.
"""

from __future__ import annotations

import ast
import dataclasses

from imports import parsed
from source import SOURCES
from tooldecl._meta import ToolMeta


# These make and keep the record: reading a field there enforces nothing.
KEEPERS = {
    "_decl.py",
    "_declared.py",
    "_groups.py",
    "_meta.py",
    "_refs.py",
    "_signature/_promise.py",
    "_spec.py",
    "_table.py",
}

# What shows the record to people, or judges it, enforces nothing either.
SHOWERS = "cli/"

# Facts about the function, not options: the table names tools by them.
FACTS = {"ref", "site"}


def is_record(owner):
    """
    Tell ``meta``, ``x.meta`` and ``table[name]``, the ways a record is called.
    """
    if isinstance(owner, ast.Subscript):
        return is_called(owner.value, ("table", "_table"))

    return is_called(owner, ("meta", "_meta"))


def is_called(node, names):
    """
    Tell a name or an attribute that is one of *names*.
    """
    name = node.attr if isinstance(node, ast.Attribute) else None
    name = node.id if isinstance(node, ast.Name) else name

    return name in names


def fields_read(sources):
    """
    Collect the attributes that are read from a record of what was declared.
    """
    return {
        node.attr
        for label, text in sources.items()
        if label not in KEEPERS and not label.startswith(SHOWERS)
        for node in ast.walk(parsed(text))
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and is_record(node.value)
    }


def dead(record, sources):
    """
    List the fields of *record* that no enforcer reads.
    """
    fields = {field.name for field in dataclasses.fields(record)}

    return sorted(fields - fields_read(sources) - FACTS)


def test_every_option_is_read_by_an_enforcer():
    """
    An option that nothing reads would be a promise that nobody keeps.
    """
    assert [] == dead(ToolMeta, SOURCES)


def test_a_new_option_without_an_enforcer_is_found():
    """
    The check has to bite when a field is added to `ToolMeta` and nowhere else.
    """
    planted = dataclasses.make_dataclass("Planted", ["name", "gentle"])

    assert ["gentle"] == dead(planted, SOURCES)


def test_reading_a_field_where_the_record_is_made_is_no_enforcement():
    """
    The decorator, the table and whoever shows it read every field; that must not count.
    """
    planted = dataclasses.make_dataclass("Planted", ["gentle"])
    sources = {"_decl.py": "meta.gentle", "_table.py": "entry.meta.gentle"}
    sources["cli/_list.py"] = "meta.gentle"

    assert ["gentle"] == dead(planted, sources)
    assert [] == dead(planted, {"_terminal.py": "entry.meta.gentle"})
    assert [] == dead(planted, {"_terminal.py": "self._table[name].gentle"})


def test_a_field_of_the_same_name_elsewhere_is_no_enforcement():
    """
    ``result.name`` says nothing about ``meta.name``; setting is not reading.
    """
    planted = dataclasses.make_dataclass("Planted", ["gentle"])
    sources = {"_terminal.py": "result.gentle\nmeta.gentle = 1"}

    assert ["gentle"] == dead(planted, sources)
