"""
fastmcp: its server, asked directly and by its client in memory.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastmcp import Client, FastMCP
from pydantic_core import from_json

from peers import TEXT, Way, Ways, aread, read


PACKAGES = ["fastmcp"]
IMPORT = "from fastmcp import FastMCP"


@asynccontextmanager
async def ways() -> AsyncIterator[Ways]:
    """
    Prepare the calls.
    """
    server = FastMCP("bench")
    server.tool(name="sync")(read)
    server.tool(name="async")(aread)
    server.tool(name="sync limited", timeout=60)(read)
    server.tool(name="async limited", timeout=60)(aread)

    async with Client(server) as client:

        def direct(name: str) -> Way:
            async def call() -> object:
                done = await server.call_tool(name, from_json(TEXT))
                return done.structured_content["result"]

            return call

        async def through() -> object:
            return (await client.call_tool("async", from_json(TEXT))).data

        kinds = ("sync", "async", "sync limited", "async limited")
        yield {kind: direct(kind) for kind in kinds} | {"async, its client": through}
