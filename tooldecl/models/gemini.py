"""
Models behind Gemini's generated content.

The matching page is docs/how-to/use-a-model.md.
"""

from __future__ import annotations

import json

from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import closing
from typing import Any, final

from ._clients import Clients, check_alone, given_as
from ._generate import GenerateWire
from ._remote import Client, RemoteModel
from ._wire import Data, Given


__all__ = ["GeminiModel"]


@final
class GeminiModel(RemoteModel):
    """
    A `tooldecl.Model` on the official SDK.

    Safe to use from any thread and any event loop. Errors of the SDK leave as they are,
    after the SDK's own retries.

    Args:
        model: Its name at the provider.
        base_url: Where the provider is; Google, or what the SDK reads from the
            environment, if None.
        api_key: The key; what the SDK reads from the environment if None.
        client: A ``google.genai.Client`` of the caller's, instead of these two, for
            both colours; the caller closes it.
        stream: Have answers streamed; the turn is the same.
        on_text: Told each piece of text of a stream, as it comes.
        provider_tools: Tools that the provider runs itself, in its own words; they are
            offered beside ours, and never run here.
        options: What else the SDK's ``GenerateContentConfig`` takes, ``temperature``
            say.

    Raises:
        ModuleNotFoundError: The package ``google-genai`` is not installed.
        TypeError: An option takes another kind of thing.
        ValueError: An option takes another value, or would have no effect.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        client: object = None,
        stream: bool = False,
        on_text: Callable[[str], object] | None = None,
        provider_tools: Sequence[Given] = (),
        options: Given | None = None,
    ) -> None:
        clients, content = _clients(base_url, api_key, client)
        super().__init__(
            GenerateWire(model, provider_tools=provider_tools, options=options),
            _Sdk(content),
            clients,
            stream=stream,
            on_text=on_text,
        )
        self._shown = f"<GeminiModel {model!r}>"

    def __repr__(self) -> str:
        return self._shown


def _clients(
    base_url: str | None, api_key: str | None, given: object
) -> tuple[Clients[Client, Client], Any]:
    try:
        from google.genai import Client, types
    except ModuleNotFoundError as error:
        if error.name not in ("google", "google.genai"):
            raise
        raise ModuleNotFoundError(
            "GeminiModel needs the package 'google-genai', which is not installed. "
            "Install it with: pip install 'tooldecl[gemini]'",
            name="google.genai",
        ) from None
    given_as("client", given, Client, type(None))
    check_alone(given, base_url=base_url, api_key=api_key)

    def make() -> Any:
        return Client(
            api_key=api_key, http_options=types.HttpOptions(base_url=base_url)
        )

    return Clients(make, make, given, given), types.Content


@final
class _Sdk:
    """
    The way the SDK of Gemini is called; one of its clients has both colours.
    """

    def __init__(self, content: Any) -> None:
        self._content = content

    def _request(self, body: Data) -> Data:
        # Signatures are bytes to the SDK, and text on the wire.
        contents = [
            self._content.model_validate_json(json.dumps(content))
            for content in body["contents"]
        ]

        return {**body, "contents": contents}

    def send(self, client: Client, body: Data, /) -> Data:
        """
        Return the answer.
        """
        return _plain(client.models.generate_content(**self._request(body)))

    async def asend(self, client: Client, body: Data, /) -> Data:
        """
        Return the answer.
        """
        return _plain(await client.aio.models.generate_content(**self._request(body)))

    def events(self, client: Client, body: Data, /) -> Generator[Data]:
        """
        Yield the pieces of the answer.
        """
        stream = client.models.generate_content_stream(**self._request(body))
        with closing(stream):
            for event in stream:
                yield _plain(event)

    async def aevents(self, client: Client, body: Data, /) -> AsyncGenerator[Data]:
        """
        Yield the pieces of the answer.
        """
        models = client.aio.models
        stream = await models.generate_content_stream(**self._request(body))
        try:
            async for event in stream:
                yield _plain(event)
        finally:
            await stream.aclose()

    async def aclose(self, client: Client, /) -> None:
        """
        Close a client for async code.
        """
        await client.aio.aclose()
        client.close()


def _plain(answer: Any) -> Data:
    data: Data = answer.model_dump(
        mode="json",
        by_alias=True,
        exclude_none=True,
        exclude={"sdk_http_response", "parsed"},
        warnings=False,
    )

    return data
