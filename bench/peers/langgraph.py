"""
langgraph: its tool node, alone and in a compiled graph.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from langchain_core.messages import AIMessage
from langchain_core.output_parsers.openai_tools import parse_tool_call
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime

from peers import TEXT, Way, Ways, aread, as_way, read


PACKAGES = ["langgraph", "langchain-core"]
IMPORT = (
    "from langgraph.prebuilt import ToolNode; from langchain_core.tools import tool"
)


@asynccontextmanager
async def ways() -> AsyncIterator[Ways]:
    """
    Prepare the calls.
    """
    node = ToolNode([tool(read), tool(aread)])
    graph = StateGraph(MessagesState)
    graph.add_node("tools", node)
    graph.add_edge(START, "tools")
    compiled = graph.compile()
    # What a graph gives each of its nodes.
    config = {"configurable": {"__pregel_runtime": Runtime()}}

    def state(name: str) -> dict[str, list[AIMessage]]:
        raw = {"id": "1", "function": {"name": name, "arguments": TEXT}}
        return {"messages": [AIMessage(content="", tool_calls=[parse_tool_call(raw)])]}

    def alone(name: str) -> Way:
        async def call() -> object:
            done = await node.ainvoke(state(name), config=config)
            return int(done["messages"][-1].content)

        return call

    async def within() -> object:
        done = await compiled.ainvoke(state("aread"))
        return int(done["messages"][-1].content)

    def entry() -> object:
        return int(node.invoke(state("read"), config=config)["messages"][-1].content)

    yield {
        "sync": alone("read"),
        "sync, its sync entry": as_way(entry),
        "async": alone("aread"),
        "async, its graph": within,
    }
