"""
Models behind OpenAI's two wires, at OpenAI or wherever else they are spoken.

The matching page is docs/how-to/use-a-model.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, final

from ._chat import ChatWire
from ._clients import Clients, check_alone, given_as
from ._remote import Client, RemoteModel, StainlessSdk
from ._responses import ResponsesWire
from ._wire import Given


__all__ = ["OpenAIModel"]

_CHAT = StainlessSdk(lambda client: client.chat.completions)
_RESPONSES = StainlessSdk(lambda client: client.responses)


@final
class OpenAIModel(RemoteModel):
    """
    A `tooldecl.Model` on the official SDK, for any endpoint that speaks as OpenAI does.

    Safe to use from any thread and any event loop. Errors of the SDK leave as they are,
    after the SDK's own retries.

    Args:
        model: Its name at the provider.
        api: The wire: ``"chat"`` for chat completions, ``"responses"``.
        base_url: Where the provider is; OpenAI, or what the SDK reads from the
            environment, if None.
        api_key: The key; what the SDK reads from the environment if None.
        client: An ``openai.OpenAI`` of the caller's, instead of these two; the caller
            closes it.
        async_client: An ``openai.AsyncOpenAI`` of the caller's, for async code.
        stream: Have answers streamed; the turn is the same.
        on_text: Told each piece of text of a stream, as it comes.
        strict: Offer tools in strict mode, those that have a strict form.
        provider_tools: Tools that the provider runs itself, in its own words; they are
            offered beside ours, and never run here.
        options: What else the SDK's ``create`` takes, ``metadata`` say.

    Raises:
        ModuleNotFoundError: The package ``openai`` is not installed.
        TypeError: An option takes another kind of thing.
        ValueError: An option takes another value, or would have no effect.
    """

    def __init__(
        self,
        model: str,
        *,
        api: Literal["chat", "responses"] = "chat",
        base_url: str | None = None,
        api_key: str | None = None,
        client: object = None,
        async_client: object = None,
        stream: bool = False,
        on_text: Callable[[str], object] | None = None,
        strict: bool = False,
        provider_tools: Sequence[Given] = (),
        options: Given | None = None,
    ) -> None:
        if api not in ("chat", "responses"):
            raise ValueError(f"api takes 'chat' or 'responses', got {api!r}.")
        wire = ChatWire if api == "chat" else ResponsesWire
        super().__init__(
            wire(model, strict=strict, provider_tools=provider_tools, options=options),
            _CHAT if api == "chat" else _RESPONSES,
            _clients(base_url, api_key, client, async_client),
            stream=stream,
            on_text=on_text,
        )
        self._shown = f"<OpenAIModel {model!r} by {api}>"

    def __repr__(self) -> str:
        return self._shown


def _clients(
    base_url: str | None, api_key: str | None, given: object, agiven: object
) -> Clients[Client, Client]:
    try:
        from openai import AsyncOpenAI, OpenAI
    except ModuleNotFoundError as error:
        if error.name != "openai":
            raise
        raise ModuleNotFoundError(
            "OpenAIModel needs the package 'openai', which is not installed. Install "
            "it with: pip install 'tooldecl[openai]'",
            name="openai",
        ) from None
    given_as("client", given, OpenAI, AsyncOpenAI)
    given_as("async_client", agiven, AsyncOpenAI, OpenAI)
    check_alone(given, agiven, base_url=base_url, api_key=api_key)

    return Clients(
        lambda: OpenAI(base_url=base_url, api_key=api_key),
        lambda: AsyncOpenAI(base_url=base_url, api_key=api_key),
        given,
        agiven,
    )
