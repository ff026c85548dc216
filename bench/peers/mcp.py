"""
mcp: the server of the SDK, asked directly and by its client in memory.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp import Client
from mcp.server import MCPServer
from pydantic_core import from_json

from peers import TEXT, Way, Ways, aread, read


PACKAGES = ["mcp"]
IMPORT = "from mcp.server import MCPServer"


@asynccontextmanager
async def ways() -> AsyncIterator[Ways]:
    """
    Prepare the calls; a tool takes no timeout there.
    """
    server = MCPServer("bench")
    server.add_tool(read)
    server.add_tool(aread)

    async with Client(server) as client:

        def direct(name: str) -> Way:
            async def call() -> object:
                done = await server.call_tool(name, from_json(TEXT))
                return done.structured_content["result"]

            return call

        async def through() -> object:
            done = await client.call_tool("aread", from_json(TEXT))
            return done.structured_content["result"]

        yield {
            "sync": direct("read"),
            "async": direct("aread"),
            "async, its client": through,
        }
