"""
Results of calls, as the protocol sends them.
"""

from __future__ import annotations

import json

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from ... import ToolResult
from ._forms import JSON, Given, is_object


if TYPE_CHECKING:
    from mcp.types import CallToolResult


Fits: TypeAlias = Callable[[JSON], bool]


NOT_IN_FORM = (
    "The tool ran and did what it does, but this result is not in the form that its "
    "output schema promises: it was shortened, or changed on its way, or is of another "
    "type. There is no need to call the tool again."
)


def result_kind(schema: Given) -> object:
    """
    Return the type of what stands under ``result``, where results are no objects.
    """
    inner: object = schema.get("properties", {}).get("result")

    return inner.get("type") if is_object(inner) else None


def fitting(schema: Given) -> Fits:
    """
    Return what tells whether a value fits a schema.
    """
    from jsonschema import Draft202012Validator

    validator: Any = Draft202012Validator(schema)  # its stubs leave a type open

    def fits(value: JSON) -> bool:
        valid: bool = validator.is_valid(value)
        return valid

    return fits


def answer(result: ToolResult, fits: Fits | None) -> CallToolResult:
    """
    Write the result of a call for the wire.

    Whatever is not ``ok`` is an error there: whoever knows the output schema of a tool
    would refuse an answer that is neither an error nor in that form. The structured
    content is read from the text for the model, so that limits and filters hold for it.

    Args:
        result: What came of the call.
        fits: Tells whether structured content fits the tool's output schema; None
            where it has none.
    """
    from mcp.types import CallToolResult, TextContent

    texts, structured = [result.content], None
    failed = not result.ok
    if not failed and fits is not None:
        structured = _structured(result, fits)
        if structured is None:
            failed = True
            texts.append(NOT_IN_FORM)

    return CallToolResult(
        content=[TextContent(type="text", text=text) for text in texts],
        structured_content=structured,
        is_error=failed,
        _meta=_facts(result) if failed else None,
    )


def _structured(result: ToolResult, fits: Fits) -> JSON | None:
    """
    Return the first reading of the text that fits: whole, or under ``result``.
    """
    for reading in _readings(result):
        if is_object(reading) and fits(reading):
            return reading

    return None


def _readings(result: ToolResult) -> list[object]:
    if isinstance(result.value, str):
        return [{"result": result.content}]
    try:
        read: object = json.loads(result.content)
    except ValueError:
        return []

    return [read, {"result": read}]


def _facts(result: ToolResult) -> JSON:
    """
    Say how a call ended in words that a program can compare.
    """
    return {
        "tooldecl/status": result.status.value,
        "tooldecl/fate": result.fate.value,
        "tooldecl/attempts": result.attempts,
    }
