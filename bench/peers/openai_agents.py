"""
openai-agents: what its runner does with one function tool.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agents import FunctionTool, function_tool
from agents.tool import invoke_function_tool
from agents.tool_context import ToolContext

from peers import TEXT, Way, Ways, aread, read


PACKAGES = ["openai-agents"]
IMPORT = "from agents import Agent, Runner, function_tool"


@asynccontextmanager
async def ways() -> AsyncIterator[Ways]:
    """
    Prepare the calls; a sync tool takes no timeout there.
    """

    def way(tool: FunctionTool) -> Way:
        def call() -> object:
            context = ToolContext(
                None, tool_name=tool.name, tool_call_id="1", tool_arguments=TEXT
            )
            return invoke_function_tool(
                function_tool=tool, context=context, arguments=TEXT
            )

        return call

    yield {
        "sync": way(function_tool(read)),
        "async": way(function_tool(aread)),
        "async limited": way(function_tool(timeout=60)(aread)),
    }
