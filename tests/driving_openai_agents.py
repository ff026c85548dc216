"""
Make the calls of a turn in an agent of openai-agents.
"""

from __future__ import annotations

import json

from collections.abc import Sequence
from typing import Any

from agents import Agent, Runner, set_tracing_disabled
from agents.testing import ScriptedModel
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from everywhere import Answer
from tooldecl import ToolCall, ToolClient
from tooldecl.integrations.openai_agents import to_openai_agents


set_tracing_disabled(disabled=True)


def said(calls: Sequence[ToolCall]) -> list[Any]:
    """
    Write down calls as a model of OpenAI does: as text.
    """
    return [
        ResponseFunctionToolCall(
            type="function_call",
            id=f"fc_{call.id}",
            call_id=call.id or "",
            name=call.name,
            arguments=_text(call.arguments),
        )
        for call in calls
    ]


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def told(text: str) -> list[Any]:
    """
    Write down an answer.
    """
    content = ResponseOutputText(type="output_text", text=text, annotations=[])
    message = ResponseOutputMessage(
        id="msg",
        type="message",
        role="assistant",
        status="completed",
        content=[content],
    )

    return [message]


def agent_of(tools: Sequence[Any], calls: Sequence[ToolCall], **options: Any) -> Agent:
    """
    Make an agent whose model makes the calls and then says "done".
    """
    model = ScriptedModel([said(calls), told("done")])

    return Agent("agent", model=model, tools=list(tools), **options)


def outputs(result: Any) -> dict[str, Any]:
    """
    Map the outputs of a run by the ids of their calls.
    """
    return {
        item.raw_item["call_id"]: item
        for item in result.new_items
        if item.type == "tool_call_output_item"
    }


async def drive(client: ToolClient, calls: Sequence[ToolCall]) -> list[Answer]:
    """
    Make the calls in one turn of an agent.
    """
    result = await Runner.run(agent_of(to_openai_agents(client), calls), "Go on.")
    assert result.final_output == "done"
    by_id = outputs(result)
    items = [by_id[call.id or ""] for call in calls]

    return [
        Answer(
            item.custom_data["tooldecl"]["status"] in ("ok", "not_found"),
            item.raw_item["output"],
        )
        for item in items
    ]
