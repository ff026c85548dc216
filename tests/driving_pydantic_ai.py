"""
Make the calls of a turn in an agent of pydantic-ai.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

from everywhere import Answer
from tooldecl import ToolCall, ToolClient
from tooldecl.integrations.pydantic_ai import to_pydantic_ai


def scripted(*turns: Sequence[ToolCall]) -> FunctionModel:
    """
    Make a model that makes the calls of each turn, and then says "done".
    """

    def respond(messages: list[Any], info: Any) -> ModelResponse:
        made = sum(isinstance(message, ModelResponse) for message in messages)
        if made >= len(turns):
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(
            parts=[ToolCallPart(c.name, c.arguments, c.id) for c in turns[made]]
        )

    return FunctionModel(respond)


def returns(result: Any) -> list[ToolReturnPart]:
    """
    List the returns of a run.
    """
    return [
        part
        for message in result.all_messages()
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]


async def drive(
    client: ToolClient, calls: Sequence[ToolCall], **options: Any
) -> list[Answer]:
    """
    Make the calls in one turn of an agent.
    """
    agent = Agent(scripted(calls), toolsets=[to_pydantic_ai(client)], **options)
    result = await agent.run("Go on.")
    assert result.output == "done"
    by_id = {part.tool_call_id: part for part in returns(result)}
    parts = [by_id[call.id or ""] for call in calls]

    return [Answer(part.outcome == "success", part.content) for part in parts]
