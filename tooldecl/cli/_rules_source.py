"""
Rules about where a tool stands in its file.
"""

from __future__ import annotations

import ast
import functools
import linecache
import sys

from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import TypeAlias

from .. import tool as declares
from ._subjects import Subject


Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def replaced(tool: Subject) -> Iterator[str]:
    """
    Find a tool that Python has dropped: a later one has its name in the same scope.
    """
    if tool.code is None:
        return
    linecache.checkcache(tool.code.co_filename)
    text = "".join(linecache.getlines(tool.code.co_filename))
    for earlier in _before(text, tool.code.co_name, tool.code.co_firstlineno):
        line = _first_line(earlier)
        kept = any(other.site == _site(tool.code, line) for other in tool.all)
        if not kept and _makes_a_tool(earlier, tool.meta.ref):
            yield (
                f"line {line} declares a tool as {earlier.name!r} too, and Python keeps "
                "the later one alone: rename one of the functions"
            )


def _site(code: CodeType, line: int) -> str:
    return f"{Path(code.co_filename).name}:{line}"


def _before(text: str, name: str, line: int) -> list[Function]:
    """
    Return the functions of a name that stand before one in the same scope.
    """
    for scope in _scopes(text):
        found = [node for node in scope if node.name == name]
        for place, node in enumerate(found):
            if _first_line(node) == line:
                return found[:place]

    return []


@functools.lru_cache(maxsize=16)
def _scopes(text: str) -> tuple[list[Function], ...]:
    """
    Return the functions of each scope; those of branches may never meet.
    """
    try:
        nodes = [*ast.walk(ast.parse(text))]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    bodies = [
        n.body for n in nodes if isinstance(n, ast.Module | ast.ClassDef | Function)
    ]

    return tuple([n for n in body if isinstance(n, Function)] for body in bodies)


def _first_line(node: Function) -> int:
    """
    Return the line that Python remembers of a function.
    """
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def _makes_a_tool(node: Function, ref: str) -> bool:
    """
    Tell whether a decorator is ours, by whatever name the module knows it.
    """
    module = sys.modules.get(ref.partition(":")[0])
    for one in node.decorator_list:
        called = one.func if isinstance(one, ast.Call) else one
        found: object = module
        for part in ast.unparse(called).split("."):
            found = getattr(found, part, None)
        if isinstance(found, functools.partial):
            found = found.func
        if found is declares:
            return True

    return False
