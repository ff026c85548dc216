"""
Read the imports of the package from its text, wherever in a module they stand.
"""

from __future__ import annotations

import ast
import functools

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


NAME = "tooldecl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """
    One name that a module imports.

    Attributes:
        line: Line of the import.
        in_function: Whether it runs only when a function does.
        outside: First component of a module outside of the package, or None.
        module: Components below the package of a module of ours; empty is the facade.
        name: The name taken from that module, or None for the module itself.
    """

    line: int
    in_function: bool
    outside: str | None = None
    module: tuple[str, ...] = ()
    name: str | None = None


def parts_of(label: str) -> tuple[str, ...]:
    """
    Turn ``engines/_base.py`` into its components, ``engines/__init__.py`` into one.
    """
    parts = tuple(label.removesuffix(".py").split("/"))

    return parts[:-1] if parts[-1] == "__init__" else parts


@functools.cache
def parsed(text: str) -> ast.Module:
    """
    Parse a module once.
    """
    return ast.parse(text)


def imports_of(label: str, sources: Mapping[str, str]) -> list[Import]:
    """
    List what the module at *label* imports; ``TYPE_CHECKING`` and ``try`` change nothing.
    """
    modules = {parts_of(other) for other in sources}
    package = tuple(label.split("/")[:-1])
    found = []
    for node, in_function in _imports(parsed(sources[label])):
        where = {"line": node.lineno, "in_function": in_function}
        if isinstance(node, ast.Import):
            targets = [(alias.name.split("."), None) for alias in node.names]
        else:
            base = (node.module or "").split(".") if node.module else []
            if node.level:
                base = [NAME, *package[: len(package) - node.level + 1], *base]
            targets = [(base, alias.name) for alias in node.names]
        for (top, *below), name in targets:
            if top != NAME:
                found.append(Import(**where, outside=top))
            elif name is not None and (*below, name) in modules:
                found.append(Import(**where, module=(*below, name)))
            else:
                found.append(Import(**where, module=tuple(below), name=name))

    return found


def _imports(
    node: ast.AST, in_function: bool = False
) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, in_function
        else:
            inside = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
            yield from _imports(child, in_function or inside)
