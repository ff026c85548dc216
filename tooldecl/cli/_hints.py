"""
How an argument that was refused is written at the command line.

The gate's own words are for models: they name what a parameter takes, and not how a shell
is told it.
"""

from __future__ import annotations

import json
import shlex

from collections.abc import Iterable, Sequence

from ._arguments import coerced, fitting
from ._outline import Schema, member, members, resolved, schemas, types_of


# What stands for a value of a type where what was typed says nothing about it.
_SAMPLES = {
    "string": '"text"',
    "integer": "1",
    "number": "0.5",
    "boolean": "true",
    "null": "null",
    "array": "[]",
    "object": "{}",
}


def hints(words: Sequence[str], refused: Iterable[str], schema: Schema) -> list[str]:
    """
    Say of each ``name=text`` that was refused how it is written as JSON, where it may be.

    Args:
        words: The arguments as they were typed.
        refused: The paths that the gate has named.
        schema: What the tool takes.
    """
    known, paths = members(schema), set(refused)
    given = (word.partition("=") for word in words)

    return [
        f"{shlex.quote(name)}:={shlex.quote(written)}"
        for name, _, text in given
        if f"$.{name}" in paths
        and (written := _as_json(text, known.get(name, {}), schema))
    ]


def _as_json(text: str, node: Schema, root: Schema) -> str:
    """
    Return what would be taken in the place of a text; "" where nothing is known.
    """
    types = types_of(node, root)
    if "string" in types:  # so it was sent as text
        return fitting(text, types - {"string"})
    if "array" in types:
        return _list_of(text, node, root)

    return '{"name": "value"}' if "object" in types else ""


def _list_of(text: str, node: Schema, root: Schema) -> str:
    """
    Make a list of what was typed, whose quotes a shell may have taken.
    """
    inner = _items(node, root)
    types = types_of(inner, root)
    inside = text.strip().removeprefix("[").removesuffix("]")
    pieces = [piece.strip(" \t\"'") for piece in inside.split(",")]
    found = [coerced(piece, inner, root) for piece in pieces if piece]
    if types and "string" not in types:
        found = [piece for piece in found if fitting(piece, types)]
        found = found or [_SAMPLES[min(types)]]
    shown = ", ".join(found)

    return f"[{shown}]" if len(shown) <= 100 else json.dumps(["..."])


def _items(node: Schema, root: Schema) -> Schema:
    """
    Return what a list may hold; an empty schema where nothing is said of it.
    """
    node = resolved(node, root)
    for one in (node, *schemas(node.get("anyOf"))):
        if found := member(resolved(one, root), "items"):
            return found

    return {}
