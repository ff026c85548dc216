"""
agno: what its models do with one call.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agno.models.openai.like import OpenAILike
from agno.tools import tool
from agno.utils.tools import get_function_call

from peers import TEXT, Way, Ways, aread, as_way, read


PACKAGES = ["agno", "openai"]
IMPORT = "from agno.agent import Agent; from agno.tools import tool"


@asynccontextmanager
async def ways() -> AsyncIterator[Ways]:
    """
    Prepare the calls; there are no timeouts there.
    """
    functions = {"read": tool(read), "aread": tool(aread)}
    for function in functions.values():
        function.process_entrypoint()
    model = OpenAILike(id="none", api_key="none")

    def way(name: str) -> Way:
        async def call() -> object:
            ready = get_function_call(name, TEXT, "1", functions)
            _, _, _, done = await model.arun_function_call(ready)
            return done.result

        return call

    def entry() -> object:
        return get_function_call("read", TEXT, "1", functions).execute().result

    yield {
        "sync": way("read"),
        "sync, its sync entry": as_way(entry),
        "async": way("aread"),
    }
