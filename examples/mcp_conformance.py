"""
The tools that the official conformance suite of MCP asks a server for.

    tooldecl serve examples/mcp_conformance.py --http 8000
    npx @modelcontextprotocol/conformance server --url http://127.0.0.1:8000/mcp

What it asks for beside tools (resources, prompts, sampling, pictures) is not offered.
"""

from __future__ import annotations

import asyncio

from tooldecl import ToolContext, ToolError, ToolSpec, tool


@tool
def test_simple_text() -> str:
    """
    Return a text.
    """
    return "This is a simple text response for testing."


@tool
def test_error_handling() -> str:
    """
    Return an error, in words of its own.
    """
    raise ToolError("This tool intentionally returns an error for testing")


@tool
async def test_tool_with_progress(ctx: ToolContext) -> str:
    """
    Tell of three steps.
    """
    for done in (0, 50, 100):
        ctx.progress(done, 100, f"{done} of 100")
        await asyncio.sleep(0.05)

    return "All steps are done."


def take(arguments: dict[str, object]) -> dict[str, object]:
    """
    Return what was sent.
    """
    return arguments


json_schema_2020_12_tool = ToolSpec(
    name="json_schema_2020_12_tool",
    description="Tool with JSON Schema 2020-12 features.",
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "type": "object",
                "properties": {
                    "street": {"type": "string"},
                    "city": {"type": "string"},
                },
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
        },
        "additionalProperties": False,
    },
    handler=take,
)
