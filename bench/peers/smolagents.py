"""
smolagents: what its tool calling agent does with one call.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from smolagents import Model, ToolCallingAgent, tool
from smolagents.models import parse_json_if_needed

from peers import TEXT, Ways, as_way, read


PACKAGES = ["smolagents"]
IMPORT = "from smolagents import ToolCallingAgent, tool"


@asynccontextmanager
async def ways() -> AsyncIterator[Ways]:
    """
    Prepare the call; there are neither async tools nor timeouts there.
    """
    agent = ToolCallingAgent(tools=[tool(read), tool(told)], model=Model())

    def call(name: str) -> object:
        return agent.execute_tool_call(name, parse_json_if_needed(TEXT))

    # For a result that is no text it looks for an optional package, each time.
    yield {
        "sync": as_way(lambda: call("read")),
        "sync, text result": as_way(lambda: str(call("told"))),
    }


def told(path: str, limit: int, tags: list[str]) -> str:
    """Count, and say it.

    Args:
        path: Where it is.
        limit: How many at most.
        tags: What it has to have.
    """
    return str(limit + len(tags))
