"""
Make the calls of a turn in a graph of LangGraph, and in an agent of LangChain.
"""

from __future__ import annotations

import json

from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from everywhere import Answer
from tooldecl import ToolCall, ToolClient
from tooldecl.integrations.langchain import to_langchain


class FakeModel(GenericFakeChatModel):
    """
    A chat model that says what it is given, and does not mind tools.
    """

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        """
        Return the model as it is.
        """
        return self


def said(calls: Sequence[ToolCall]) -> AIMessage:
    """
    Write down calls as LangChain's models do: parsed.
    """
    return AIMessage(
        content="",
        tool_calls=[
            {"name": call.name, "args": _parsed(call.arguments), "id": call.id}
            for call in calls
        ],
    )


def _parsed(arguments: Any) -> Any:
    return json.loads(arguments) if isinstance(arguments, str) else arguments


def graph_of(tools: Sequence[Any], **options: Any) -> Any:
    """
    Compile a graph of one tool node.
    """
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "tools")

    return graph.compile(**options)


def agent_of(tools: Sequence[Any], calls: Sequence[ToolCall], **options: Any) -> Any:
    """
    Make an agent whose model makes the calls and then says "done".
    """
    model = FakeModel(messages=iter([said(calls), AIMessage(content="done")]))

    return create_agent(model, tools, **options)


def answers(state: Any, calls: Sequence[ToolCall]) -> list[Answer]:
    """
    Read the answers in the state that a run has ended with.
    """
    messages = [m for m in state["messages"] if isinstance(m, ToolMessage)]
    by_id = {message.tool_call_id: message for message in messages}
    found = [by_id[call.id or ""] for call in calls]

    return [Answer(m.status == "success", m.content) for m in found]


async def drive(client: ToolClient, calls: Sequence[ToolCall]) -> list[Answer]:
    """
    Make the calls in a tool node, awaited.
    """
    graph = graph_of(to_langchain(client))

    return answers(await graph.ainvoke({"messages": [said(calls)]}), calls)


async def drive_sync(client: ToolClient, calls: Sequence[ToolCall]) -> list[Answer]:
    """
    Make the calls in a tool node, from a script without a loop.
    """
    graph = graph_of(to_langchain(client))
    running: Any = graph.invoke({"messages": [said(calls)]})

    return answers(running, calls)


async def drive_agent(client: ToolClient, calls: Sequence[ToolCall]) -> list[Answer]:
    """
    Make the calls in one turn of an agent.
    """
    agent = agent_of(to_langchain(client), calls)
    state = await agent.ainvoke({"messages": [HumanMessage("Go on.")]})
    assert state["messages"][-1].content == "done"

    return answers(state, calls)
