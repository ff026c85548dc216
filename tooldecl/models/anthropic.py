"""
Models behind Anthropic's messages.

The matching page is docs/how-to/use-a-model.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import final

from ._clients import Clients, check_alone, given_as
from ._messages import MessagesWire
from ._remote import Client, RemoteModel, StainlessSdk
from ._wire import Given


__all__ = ["AnthropicModel"]

_SDK = StainlessSdk(lambda client: client.messages)


@final
class AnthropicModel(RemoteModel):
    """
    A `tooldecl.Model` on the official SDK.

    Safe to use from any thread and any event loop. Errors of the SDK leave as they are,
    after the SDK's own retries.

    Args:
        model: Its name at the provider.
        max_tokens: How long one turn may be; the provider wants to be told.
        base_url: Where the provider is; Anthropic, or what the SDK reads from the
            environment, if None.
        api_key: The key; what the SDK reads from the environment if None.
        client: An ``anthropic.Anthropic`` of the caller's, instead of these two; the
            caller closes it.
        async_client: An ``anthropic.AsyncAnthropic`` of the caller's, for async code.
        stream: Have answers streamed; the turn is the same.
        on_text: Told each piece of text of a stream, as it comes.
        provider_tools: Tools that the provider runs itself, in its own words; they are
            offered beside ours, and never run here.
        options: What else the SDK's ``create`` takes, ``metadata`` say.

    Raises:
        ModuleNotFoundError: The package ``anthropic`` is not installed.
        TypeError: An option takes another kind of thing.
        ValueError: An option takes another value, or would have no effect.
    """

    def __init__(
        self,
        model: str,
        *,
        max_tokens: int = 8192,
        base_url: str | None = None,
        api_key: str | None = None,
        client: object = None,
        async_client: object = None,
        stream: bool = False,
        on_text: Callable[[str], object] | None = None,
        provider_tools: Sequence[Given] = (),
        options: Given | None = None,
    ) -> None:
        super().__init__(
            MessagesWire(
                model,
                max_tokens=max_tokens,
                provider_tools=provider_tools,
                options=options,
            ),
            _SDK,
            _clients(base_url, api_key, client, async_client),
            stream=stream,
            on_text=on_text,
        )
        self._shown = f"<AnthropicModel {model!r}>"

    def __repr__(self) -> str:
        return self._shown


def _clients(
    base_url: str | None, api_key: str | None, given: object, agiven: object
) -> Clients[Client, Client]:
    try:
        from anthropic import Anthropic, AsyncAnthropic
    except ModuleNotFoundError as error:
        if error.name != "anthropic":
            raise
        raise ModuleNotFoundError(
            "AnthropicModel needs the package 'anthropic', which is not installed. "
            "Install it with: pip install 'tooldecl[anthropic]'",
            name="anthropic",
        ) from None
    given_as("client", given, Anthropic, AsyncAnthropic)
    given_as("async_client", agiven, AsyncAnthropic, Anthropic)
    check_alone(given, agiven, base_url=base_url, api_key=api_key)

    return Clients(
        lambda: Anthropic(base_url=base_url, api_key=api_key),
        lambda: AsyncAnthropic(base_url=base_url, api_key=api_key),
        given,
        agiven,
    )
