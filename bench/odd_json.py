"""
What agent frameworks do with odd arguments of ``add(a: int, b: int)``: ``odd_json.py``.

Each makes the call in its own loop, with its own tool and a scripted model. It prints a
table with a column for each framework that is installed here. The page with the table is
docs/explanation/coming-from.md; the session of each framework compares its column.
"""

from __future__ import annotations

import asyncio
import importlib.util

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias


TEXTS = [
    '{"a": 1, "b": 2}',
    '{"a": 1, "a": 9, "b": 2}',
    '{"a": "1", "b": 2}',
    '{"a": true, "b": 2}',
    '{"a": 1.0, "b": 2}',
    '{"a": 1, "b": 2, "c": 3}',
    '{"a": NaN, "b": 2}',
    '{"a": 1e400, "b": 2}',
    '{"a": 12345678901234567890, "b": 2}',
    '{"a": 1}',
    "[1, 2]",
    "null",
    '{"a": 1, "b": 2} and more',
    '{"a": 1, "b": 2',
    "{'a': 1, 'b': 2}",
]

Outcome: TypeAlias = tuple[list[tuple[Any, Any]], str]
Way: TypeAlias = Callable[[str], Awaitable[Outcome]]


class Ran(list[tuple[Any, Any]]):
    """
    The arguments that a body was called with.
    """

    def body(self) -> Callable[[int, int], int]:
        """
        Return a function that keeps them.
        """

        def add(a: int, b: int) -> int:
            """
            Add two integers.
            """
            self.append((a, b))
            return 0

        return add


async def in_tooldecl(text: str) -> Outcome:
    """
    Call a tool of a client.
    """
    from tooldecl import ToolClient, tool

    ran = Ran()
    result = await ToolClient([tool(ran.body())]).ainvoke("add", text)

    return ran, result.content


async def in_pydantic_ai(text: str) -> Outcome:
    """
    Run an agent of pydantic-ai.
    """
    from pydantic_ai import Agent, Tool
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    told: list[str] = []

    def respond(messages: list[Any], info: Any) -> ModelResponse:
        if len(messages) == 1:
            return ModelResponse(parts=[ToolCallPart("add", text, "call_0")])
        [part] = messages[-1].parts
        told.append(str(part.content))
        return ModelResponse(parts=[TextPart("done")])

    ran = Ran()
    tool = Tool(ran.body(), name="add", takes_ctx=False)
    await Agent(FunctionModel(respond), tools=[tool]).run("Go on.")

    return ran, told[0]


async def in_openai_agents(text: str) -> Outcome:
    """
    Run an agent of openai-agents.
    """
    from agents import Agent, Runner, function_tool, set_tracing_disabled
    from agents.testing import ScriptedModel
    from openai.types.responses import (
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
    )

    set_tracing_disabled(disabled=True)
    call = ResponseFunctionToolCall(
        type="function_call", call_id="call_0", name="add", arguments=text
    )
    done = ResponseOutputMessage(
        id="msg",
        type="message",
        role="assistant",
        status="completed",
        content=[ResponseOutputText(type="output_text", text="done", annotations=[])],
    )
    ran = Ran()
    model = ScriptedModel([[call], [done]])
    agent = Agent("agent", model=model, tools=[function_tool(ran.body())])
    result = await Runner.run(agent, "Go on.")
    [item] = [i for i in result.new_items if i.type == "tool_call_output_item"]

    return ran, str(item.output)


async def in_langchain(text: str) -> Outcome:
    """
    Run a tool node of LangGraph, on what LangChain's parser makes of the text.
    """
    from langchain_core.exceptions import OutputParserException
    from langchain_core.messages import AIMessage
    from langchain_core.output_parsers.openai_tools import parse_tool_call
    from langchain_core.tools import tool
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode

    ran = Ran()
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode([tool(ran.body())]))
    graph.add_edge(START, "tools")
    raw = {"id": "call_0", "function": {"name": "add", "arguments": text}}
    try:
        call = parse_tool_call(raw)
    except OutputParserException:  # a model notes it, and makes no call of it
        return ran, ""
    message = AIMessage(content="", tool_calls=[call])
    state = await graph.compile().ainvoke({"messages": [message]})

    return ran, state["messages"][-1].content


# The package that has to be there, by the heading of the column.
COLUMNS: dict[str, tuple[str, Way]] = {
    "tooldecl": ("tooldecl", in_tooldecl),
    "pydantic-ai": ("pydantic_ai", in_pydantic_ai),
    "openai-agents": ("agents", in_openai_agents),
    "langgraph": ("langgraph", in_langchain),
}

# What a model is told that does not say what was wrong.
HIDDEN = "An error occurred while running the tool. Please try again."


async def verdict(way: Way, text: str) -> str:
    """
    Say in a word or two what became of a call.
    """
    try:
        ran, told = await way(text)
    except Exception as error:
        return f"run ends: {type(error).__name__}"
    if ran:
        return f"runs {ran[-1]}"
    if not told:
        return "no call is made"
    if told.startswith(HIDDEN):
        return "refused, reason hidden"

    return "refused, says why"


def column(heading: str) -> list[str]:
    """
    Return the column of one framework.
    """

    async def go_through() -> list[str]:
        return [await verdict(COLUMNS[heading][1], text) for text in TEXTS]

    return asyncio.run(go_through())


def main() -> None:
    """
    Print the table.
    """
    here = [h for h, (name, _) in COLUMNS.items() if importlib.util.find_spec(name)]
    columns = [column(heading) for heading in here]
    print("| arguments | " + " | ".join(here) + " |")
    print("|---" * (len(here) + 1) + "|")
    for text, *cells in zip(TEXTS, *columns, strict=True):
        print(f"| `{text}` | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
