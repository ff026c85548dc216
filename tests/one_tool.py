"""
One tool at a time, without a client: what it shows, what it takes, what its body gets.
"""

from __future__ import annotations

from typing import Any

import pytest

from tooldecl._gate import admit
from tooldecl._strictjson import JSONLimits
from tooldecl._table import ToolEntry, ToolTable
from tooldecl.exceptions import InvalidArgumentsError


def entry_of(tool: object) -> ToolEntry:
    """
    Return the entry that a client would have for *tool*.
    """
    [entry] = ToolTable.assemble([tool]).entries()

    return entry


def schema_of(tool: object) -> dict[str, Any]:
    """
    Return the schema of the arguments.
    """
    return dict(entry_of(tool).definition.input_schema)


def properties_of(tool: object) -> dict[str, Any]:
    """
    Return the schemas of the single arguments.
    """
    return dict(schema_of(tool)["properties"])


def values_of(tool: object, arguments: object) -> dict[str, Any]:
    """
    Return what the body would be called with.
    """
    return _admitted(tool, arguments).values


def problems_of(tool: object, arguments: object) -> dict[str, str]:
    """
    Return why the arguments are refused, by path.
    """
    with pytest.raises(InvalidArgumentsError) as caught:
        _admitted(tool, arguments)
    problems = caught.value.problems
    assert len(str(caught.value)) < 1000
    assert all(len(path) + len(text) < 200 for path, text in problems)

    return dict(problems)


def run(tool: object, arguments: object, context: Any = None) -> Any:
    """
    Send the arguments through the gate and run the body.
    """
    admitted = _admitted(tool, arguments)

    return admitted.entry.call(admitted.values, context)


def _admitted(tool: object, arguments: object) -> Any:
    table = ToolTable.assemble([tool])

    return admit(table, JSONLimits(), next(iter(table)), arguments)
