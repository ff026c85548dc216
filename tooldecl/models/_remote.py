"""
Ask a provider, in both colours, whole or in pieces; what is said is the wire's matter.
"""

from __future__ import annotations

import inspect

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, closing
from typing import Any, Protocol, Self, TypeAlias

from .. import ModelRequest, Turn
from ._clients import Clients
from ._wire import Asked, Data, Pieces, Wire, check_flag


# How often one turn lets a provider go on with tools of its own.
MOST_PAUSES = 10


# Whatever an SDK calls its client: its types are the SDK's own.
Client: TypeAlias = Any


class Sdk(Protocol):
    """
    How an SDK is called: its clients are its own matter, what they give is plain data.
    """

    def send(self, client: Client, body: Data, /) -> Data:
        """
        Return the answer.
        """
        ...

    async def asend(self, client: Client, body: Data, /) -> Data:
        """
        Return the answer.
        """
        ...

    def events(self, client: Client, body: Data, /) -> Generator[Data]:
        """
        Yield the pieces of the answer.
        """
        ...

    def aevents(self, client: Client, body: Data, /) -> AsyncGenerator[Data]:
        """
        Yield the pieces of the answer.
        """
        ...

    async def aclose(self, client: Client, /) -> None:
        """
        Close a client for async code.
        """
        ...


class RemoteModel:
    """
    A `tooldecl.Model` behind an SDK; safe to use from any thread and any event loop.

    Errors of the SDK leave as they are, after the SDK's own retries.
    """

    def __init__(
        self,
        wire: Wire,
        sdk: Sdk,
        clients: Clients[Client, Client],
        *,
        stream: bool,
        on_text: Callable[[str], object] | None,
    ) -> None:
        check_flag("stream", stream)
        _check_on_text(on_text, stream=stream)
        self._wire = wire
        self._sdk = sdk
        self._clients = clients
        self._stream = stream
        self._on_text = on_text

    def respond(self, request: ModelRequest, /) -> Turn:
        """
        Return the model's next turn.

        Raises:
            ConnectionError: A stream ended before its turn was complete.
            RuntimeError: The provider says in its answer that it failed.
        """
        asked = Asked(self._wire.body(request))
        for _ in range(MOST_PAUSES):
            said = self._wire.read(asked, self._ask(asked.body))
            if isinstance(said, Turn):
                return said
            asked = said

        raise _never_goes_on()

    async def arespond(self, request: ModelRequest, /) -> Turn:
        """
        Return the model's next turn, from async code; as `respond`.
        """
        asked = Asked(self._wire.body(request))
        for _ in range(MOST_PAUSES):
            said = self._wire.read(asked, await self._aask(asked.body))
            if isinstance(said, Turn):
                return said
            asked = said

        raise _never_goes_on()

    def _ask(self, body: Data) -> Data:
        client = self._clients.sync()
        if not self._stream:
            return self._sdk.send(client, body)
        pieces = self._wire.pieces()
        with closing(self._sdk.events(client, body)) as events:
            for event in events:
                self._hear(pieces, event)

        return pieces.answer()

    async def _aask(self, body: Data) -> Data:
        client = self._clients.running()
        if not self._stream:
            return await self._sdk.asend(client, body)
        pieces = self._wire.pieces()
        async with aclosing(self._sdk.aevents(client, body)) as events:
            async for event in events:
                self._hear(pieces, event)

        return pieces.answer()

    def _hear(self, pieces: Pieces, event: Data) -> None:
        text = pieces.add(event)
        if text and self._on_text is not None:
            self._on_text(text)

    def close(self) -> None:
        """
        Close the connections of sync code, if they are the model's own.

        It may be used again afterwards.
        """
        client = self._clients.take_sync()
        if client is not None:
            client.close()

    async def aclose(self) -> None:
        """
        Close the connections of the running loop, if they are the model's own.

        It may be used again afterwards, and by others meanwhile.
        """
        client = self._clients.take_running()
        if client is not None:
            await self._sdk.aclose(client)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()


def _never_goes_on() -> RuntimeError:
    return RuntimeError(f"The provider paused this turn {MOST_PAUSES} times.")


def _check_on_text(on_text: object, *, stream: bool) -> None:
    """
    Refuse what would be told nothing, or could not be told.
    """
    if on_text is None:
        return
    if not stream:
        raise ValueError("on_text is told of the pieces of a stream: give stream=True.")
    if not callable(on_text) or inspect.iscoroutinefunction(on_text):
        raise TypeError("on_text takes a callable that waits for nothing.")


class StainlessSdk:
    """
    The way the SDKs of OpenAI and Anthropic are called.

    Args:
        resource: Finds what has ``create`` in a client.
    """

    def __init__(self, resource: Callable[[Client], Any]) -> None:
        self._resource = resource

    def send(self, client: Client, body: Data, /) -> Data:
        """
        Return the answer.
        """
        return _plain(self._resource(client).create(**body))

    async def asend(self, client: Client, body: Data, /) -> Data:
        """
        Return the answer.
        """
        return _plain(await self._resource(client).create(**body))

    def events(self, client: Client, body: Data, /) -> Generator[Data]:
        """
        Yield the pieces of the answer.
        """
        with self._resource(client).create(**body, stream=True) as stream:
            for event in stream:
                yield _plain(event)

    async def aevents(self, client: Client, body: Data, /) -> AsyncGenerator[Data]:
        """
        Yield the pieces of the answer.
        """
        async with await self._resource(client).create(**body, stream=True) as stream:
            async for event in stream:
                yield _plain(event)

    async def aclose(self, client: Client, /) -> None:
        """
        Close a client for async code.
        """
        await client.close()


def _plain(answer: Any) -> Data:
    # A provider that answers in another shape than promised is read as far as it goes.
    data: Data = answer.to_dict(mode="json", exclude_none=True, warnings=False)

    return data
