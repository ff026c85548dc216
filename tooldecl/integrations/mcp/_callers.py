"""
Connections of the SDK, as a link uses them.
"""

from __future__ import annotations

import sys

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, final

from ... import ToolError
from ._calling import MOST_PAGES, LinkLostError, Progress
from ._forms import Given
from ._link import Connect


if TYPE_CHECKING:
    from mcp import Client, ClientSession, StdioServerParameters
    from mcp.client import Transport
    from mcp.server import MCPServer, Server
    from mcp.types import CallToolResult, ListToolsResult, Tool

    Target: TypeAlias = Server[Any] | MCPServer | Transport | str
    Source: TypeAlias = (
        Sequence[str]
        | StdioServerParameters
        | Server[Any]
        | MCPServer
        | Client
        | ClientSession
        | Callable[[], Transport]
    )


T = TypeVar("T")


@final
class SDKCaller:
    """
    A client or a session of the SDK that is open.
    """

    def __init__(self, opened: Client | ClientSession) -> None:
        self._opened = opened

    async def tools(self) -> list[Tool]:
        """
        List all tools of the server, page by page.

        Raises:
            ToolError: The list does not end.
            LinkLostError: The connection is lost.
        """
        found: list[Tool] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await _telling(self._page(cursor))
            found += page.tools
            if page.next_cursor is None or page.next_cursor == cursor:
                return found
            cursor = page.next_cursor

        raise ToolError(f"The server lists its tools on more than {MOST_PAGES} pages.")

    async def _page(self, cursor: str | None) -> ListToolsResult:
        from mcp import Client
        from mcp.types import PaginatedRequestParams

        if isinstance(self._opened, Client):
            return await self._opened.list_tools(cursor=cursor, cache_mode="refresh")

        return await self._opened.list_tools(
            params=PaginatedRequestParams(cursor=cursor)
        )

    async def call(
        self, name: str, arguments: Given, on_progress: Progress
    ) -> CallToolResult:
        """
        Call a tool of the server.

        Raises:
            ToolError: The server refused the request, or its answer is none.
            LinkLostError: The connection is lost.
        """
        from mcp import Client

        async def heard(
            progress: float, total: float | None, message: str | None
        ) -> None:
            on_progress(progress, total, message)

        opened, sent = self._opened, dict(arguments)
        if isinstance(opened, Client):
            asked = opened.call_tool(name, sent, progress_callback=heard)
        else:
            asked = opened.call_tool(name, sent, progress_callback=heard)

        return await _telling(asked)


def connecting(source: Source) -> Connect:
    """
    Return what connects to a server that is not connected yet.

    Args:
        source: A command as a list of texts, a URL, or anything else that the SDK's
            `Client` takes.

    Raises:
        TypeError: It is none of these.
        ValueError: It is a text, and no URL.
    """
    target = _target(source)

    @asynccontextmanager
    async def connect() -> AsyncGenerator[SDKCaller, None]:
        from mcp import Client

        async with Client(target()) as client:
            yield SDKCaller(client)

    return connect


def _target(source: Source) -> Callable[[], Target]:
    """
    Return what makes that which the SDK's `Client` takes, new for each connection.
    """
    from mcp import StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp.server import MCPServer, Server

    if isinstance(source, str):
        if not source.startswith(("http://", "https://")):
            raise ValueError(
                f"{source!r} is no URL of a server. A command is given as a list of "
                "texts, as in ['python', '-m', 'server']."
            )
        return lambda: source
    if isinstance(source, (Server, MCPServer)):
        return partial(_same, source)
    if isinstance(source, Sequence):
        command: list[str] = [*source]
        if not command or not all(isinstance(word, str) for word in command):
            raise TypeError("A command is a list of texts, at least one.")
        started = StdioServerParameters(command=command[0], args=command[1:])
        return lambda: stdio_client(started, errlog=sys.stderr)
    if isinstance(source, StdioServerParameters):
        return lambda: stdio_client(source, errlog=sys.stderr)
    if callable(source):
        return source

    raise TypeError(
        "A server is given as a command (a list of texts), a URL, StdioServerParameters, "
        "a function that makes a transport, or an open Client or ClientSession, got "
        f"{type(source).__name__}."
    )


def _same(server: Target) -> Target:
    """
    Return a server in this process, which each connection is made to.
    """
    return server


async def _telling(answer: Awaitable[T]) -> T:
    """
    Wait for an answer, and say what went wrong in words for the model.

    Raises:
        ToolError: The server refused the request, or its answer is none.
        LinkLostError: The connection is lost.
    """
    import anyio

    from mcp import MCPError
    from mcp.types import CONNECTION_CLOSED

    try:
        return await answer
    except MCPError as error:
        if error.code == CONNECTION_CLOSED or error.message == "Session terminated":
            raise _lost() from error
        raise ToolError(f"The server refused the call: {error.message}") from error
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError) as error:
        raise _lost() from error
    except (RuntimeError, ValueError) as error:
        raise ToolError(
            "The server's answer to this call does not keep to the protocol, or to the "
            "tool's output schema. The tool may have taken effect."
        ) from error


def _lost() -> LinkLostError:
    return LinkLostError(
        "The connection to the server of this tool was lost before it answered. The "
        "call may have taken effect.",
        error_class="transient",
    )
