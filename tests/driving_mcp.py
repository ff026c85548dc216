"""
Make the calls of a turn over MCP, with the SDK's own client.
"""

from __future__ import annotations

import asyncio

from collections.abc import Sequence
from typing import NamedTuple

from mcp import Client
from mcp.types import CallToolResult, TextContent

from everywhere import Answer
from tooldecl import ToolCall, ToolClient
from tooldecl.integrations.mcp import server


class Told(NamedTuple):
    """
    What a host is told of one call: how it ended, and the text for the model.
    """

    status: str
    content: str


async def asked(host: Client, calls: Sequence[ToolCall]) -> list[Told]:
    """
    Make the calls as requests that a host sends at once.
    """
    made = (host.call_tool(call.name, call.arguments) for call in calls)

    return [told(result) for result in await asyncio.gather(*made)]


def told(result: CallToolResult) -> Told:
    """
    Read an answer; the status is sent where it is an error, beside one block of text.
    """
    [block] = result.content
    assert isinstance(block, TextContent)
    status = result.meta["tooldecl/status"] if result.is_error else "ok"

    return Told(status, block.text)


async def drive(client: ToolClient, calls: Sequence[ToolCall]) -> list[Answer]:
    """
    Make the calls as a host of a server in memory.
    """
    async with Client(server(client)) as host:
        found = await asked(host, calls)

    return [Answer(one.status in ("ok", "not_found"), one.content) for one in found]
