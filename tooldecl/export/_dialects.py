"""
Definitions of tools as plain data, in the shapes that providers take.

The matching page is docs/how-to/export-schemas.md.
"""

from __future__ import annotations

import logging

from collections.abc import Callable, Iterable
from typing import Any

from .._build import ToolDefinition
from .._jsonschema import NotStrictError, copied, strict_form
from .._table import ToolEntry


logger = logging.getLogger("tooldecl")


def render(
    entries: Iterable[ToolEntry],
    format: str,  # noqa: A002 (the name it has in `ToolClient.definitions`)
    tags: Iterable[str] | None,
    exclude_tags: Iterable[str] | None,
) -> list[dict[str, Any]]:
    """
    Return the definitions of *entries*, each time as fresh copies.

    Args:
        entries: The tools, in the order in which they are shown.
        format: ``"openai"``, ``"openai-responses"``, ``"openai-strict"``,
            ``"anthropic"``, ``"gemini"`` or ``"mcp"``.
        tags: Only tools with one of these; None is all.
        exclude_tags: No tools with one of these; this wins. None is none.

    Raises:
        ValueError: There is no such format.
        TypeError: Tags are given as one text.
    """
    if format not in SHAPES:
        choices = ", ".join(map(repr, SHAPES))
        raise ValueError(f"format takes one of {choices}, got {format!r}.")
    wanted = None if tags is None else _words(tags, "tags")
    unwanted = _words(() if exclude_tags is None else exclude_tags, "exclude_tags")
    shape = SHAPES[format]

    return [
        shape(entry.definition)
        for entry in entries
        if (wanted is None or wanted.intersection(entry.meta.tags))
        and not unwanted.intersection(entry.meta.tags)
    ]


def _words(tags: Iterable[str], option: str) -> set[str]:
    if isinstance(tags, str):
        raise TypeError(f"{option} takes a list of texts, got one text.")

    return set(tags)


def _openai(definition: ToolDefinition) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": definition.name,
            "description": definition.description,
            "parameters": copied(definition.input_schema),
        },
    }


def _openai_responses(definition: ToolDefinition) -> dict[str, Any]:
    return {
        "type": "function",
        "name": definition.name,
        "description": definition.description,
        "parameters": copied(definition.input_schema),
        "strict": False,
    }


def _openai_strict(definition: ToolDefinition) -> dict[str, Any]:
    shown = _openai(definition)
    shown["function"] |= _strict(definition)

    return shown


def _openai_responses_strict(definition: ToolDefinition) -> dict[str, Any]:
    return _openai_responses(definition) | _strict(definition)


def _strict(definition: ToolDefinition) -> dict[str, Any]:
    """
    Return what strict mode changes: nothing in the schema where it has no strict form.
    """
    try:
        return {"parameters": strict_form(definition.input_schema), "strict": True}
    except NotStrictError as reason:
        text = "The schema of tool %r is not offered in strict mode: %s."
        logger.info(text, definition.name, reason)

    return {"strict": False}


def not_strict(definition: ToolDefinition) -> str | None:
    """
    Say why a definition has no strict form; None where it has one.
    """
    try:
        strict_form(definition.input_schema)
    except NotStrictError as reason:
        return str(reason)

    return None


def _gemini(definition: ToolDefinition) -> dict[str, Any]:
    shown = {
        "name": definition.name,
        "description": definition.description,
        "parametersJsonSchema": copied(definition.input_schema),
    }
    if definition.output_schema is not None:
        shown["responseJsonSchema"] = copied(definition.output_schema)

    return shown


def _anthropic(definition: ToolDefinition) -> dict[str, Any]:
    return {
        "name": definition.name,
        "description": definition.description,
        "input_schema": copied(definition.input_schema),
    }


def _mcp(definition: ToolDefinition) -> dict[str, Any]:
    shown = {
        "name": definition.name,
        "description": definition.description,
        "inputSchema": copied(definition.input_schema),
    }
    if definition.output_schema is not None:
        shown["outputSchema"] = copied(definition.output_schema)

    return shown


SHAPES: dict[str, Callable[[ToolDefinition], dict[str, Any]]] = {
    "openai": _openai,
    "openai-responses": _openai_responses,
    "openai-strict": _openai_strict,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "mcp": _mcp,
}

# Of no format of its own: the flat form is asked for with ``strict=True``.
STRICT = {"openai": _openai_strict, "openai-responses": _openai_responses_strict}
