"""
Answers of a foreign server, as what a tool returns or raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import ToolError
from ._forms import Given, is_object
from ._results import result_kind


if TYPE_CHECKING:
    from mcp.types import CallToolResult


NO_WORDS = "The server says that the call failed, and nothing more."


def value_of(reply: CallToolResult, *, wrapped: bool) -> object:
    """
    Return the value of an answer.

    The structured content comes first; without it the text; and where there is anything
    but text, the content as it is, one JSON object for each block.

    Args:
        reply: The answer.
        wrapped: The structured content holds the value under ``result``.

    Raises:
        ToolError: The answer is an error, in the server's words.
    """
    if reply.is_error:
        raise ToolError(_text(reply) or NO_WORDS)
    structured: object = reply.structured_content
    if structured is None:
        return _content(reply)
    if wrapped and is_object(structured) and set(structured) == {"result"}:
        value: object = structured["result"]
        return value

    return structured


def is_wrapped(schema: Given | None) -> bool:
    """
    Whether results of that schema are no objects, and so stand under ``result``.
    """
    if schema is None or set(schema.get("properties", {})) != {"result"}:
        return False

    return schema.get("required") == ["result"] and result_kind(schema) != "object"


def _content(reply: CallToolResult) -> object:
    text = _text(reply)
    if text is not None:
        return text

    return [
        block.model_dump(mode="json", by_alias=True, exclude_none=True)
        for block in reply.content
    ]


def _text(reply: CallToolResult) -> str | None:
    """
    Return the text of an answer, or None where it is not text alone.
    """
    from mcp.types import TextContent

    texts = [block.text for block in reply.content if isinstance(block, TextContent)]
    if reply.is_error or len(texts) == len(reply.content):
        return "\n".join(texts)

    return None
