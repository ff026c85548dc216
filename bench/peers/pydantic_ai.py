"""
pydantic-ai: a toolset, and the tool manager that its agents call.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic_ai import FunctionToolset, RunContext
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models.test import TestModel
from pydantic_ai.tool_manager import ToolManager
from pydantic_ai.usage import RunUsage

from peers import TEXT, Way, Ways, aread, read


PACKAGES = ["pydantic-ai-slim"]
IMPORT = "from pydantic_ai import Agent, FunctionToolset"


@asynccontextmanager
async def ways() -> AsyncIterator[Ways]:
    """
    Prepare the calls.
    """
    toolset = FunctionToolset[None]()
    toolset.add_function(read, name="sync")
    toolset.add_function(aread, name="async")
    toolset.add_function(read, name="sync limited", timeout=60)
    toolset.add_function(aread, name="async limited", timeout=60)
    context = RunContext(deps=None, model=TestModel(), usage=RunUsage())
    manager = await ToolManager(toolset).for_run_step(context)

    def way(name: str) -> Way:
        def call() -> object:
            return manager.handle_call(ToolCallPart(name, TEXT))

        return call

    yield {name: way(name) for name in manager.tools}
