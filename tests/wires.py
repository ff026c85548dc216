"""
Make models that speak to a fake provider, and ask them by either front.
"""

from __future__ import annotations

import asyncio

from typing import Any

from tooldecl import LoopResult, ModelRequest, ToolClient, ToolLoop, Turn
from tooldecl.models import AnthropicModel, GeminiModel, OpenAIModel
from tooldecl.testing import FakeLLM


WIRES = ("chat", "responses", "anthropic", "gemini")

# Where a conversation stands in the request of each wire.
SAID = {
    "chat": "messages",
    "responses": "input",
    "anthropic": "messages",
    "gemini": "contents",
}


def model_for(wire: str, llm: FakeLLM, **options: Any) -> Any:
    """
    Make a model of *wire* that speaks to *llm*.
    """
    options = {"base_url": llm.url, "api_key": "key", **options}
    if wire in ("chat", "responses"):
        return OpenAIModel("model-1", api=wire, **options)

    return {"anthropic": AnthropicModel, "gemini": GeminiModel}[wire](
        "model-1", **options
    )


def ask(front: str, model: Any, messages: Any = "Hi", tools: Any = ()) -> Turn:
    """
    Ask a model once, and close it.
    """
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    request = ModelRequest(messages=messages, tools=list(tools))
    if front == "sync":
        with model:
            return model.respond(request)

    async def asked() -> Turn:
        async with model:
            return await model.arespond(request)

    return asyncio.run(asked())


def each(front: str, model: Any, before: Any, times: int) -> list[Turn | Exception]:
    """
    Ask a model again and again, with what is to be done *before* each time, and close it.
    """
    request = ModelRequest(messages=[{"role": "user", "content": "Hi"}], tools=[])
    got: list[Turn | Exception] = []

    async def asked() -> None:
        async with model:
            for number in range(times):
                before(number)
                try:
                    got.append(await model.arespond(request))
                except Exception as error:
                    got.append(error)

    if front == "async":
        asyncio.run(asked())
        return got
    with model:
        for number in range(times):
            before(number)
            try:
                got.append(model.respond(request))
            except Exception as error:
                got.append(error)

    return got


def run(
    front: str, client: ToolClient, model: Any, messages: Any = "Go.", **options: Any
) -> LoopResult:
    """
    Run a loop to its end, and close its model.
    """
    loop = ToolLoop(client, model)
    if front == "sync":
        with model:
            return loop.run(messages, **options)

    async def ran() -> LoopResult:
        async with model:
            return await loop.arun(messages, **options)

    return asyncio.run(ran())


def said(wire: str, llm: FakeLLM, number: int = -1) -> list[Any]:
    """
    Return the conversation of a request, as the provider got it.
    """
    return llm.requests[number].body[SAID[wire]]
