"""
Connections of the SDK, as a link uses them.
"""

from __future__ import annotations

import sys

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar, final

from ... import ToolError
from ._link import MOST_PAGES, Connect, LinkLostError, Progress


if TYPE_CHECKING:
    from mcp import Client, ClientSession
    from mcp.types import CallToolResult, ListToolsResult, Tool


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
        self, name: str, arguments: Mapping[str, Any], on_progress: Progress
    ) -> CallToolResult:
        """
        Call a tool of the server.

        Raises:
            ToolError: The server refused the request, or its answer is none.
            LinkLostError: The connection is lost.
        """

        async def heard(done: float, total: float | None, message: str | None) -> None:
            on_progress(done, total, message)

        return await _telling(
            self._opened.call_tool(name, dict(arguments), progress_callback=heard)
        )


def connecting(source: object) -> Connect:
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


def _target(source: object) -> Callable[[], Any]:
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
        return lambda: source
    started = source
    if isinstance(source, (list, tuple)):
        command = [word for word in source if isinstance(word, str)]
        if not command or len(command) != len(source):
            raise TypeError("A command is a list of texts, at least one.")
        started = StdioServerParameters(command=command[0], args=command[1:])
    if isinstance(started, StdioServerParameters):
        parameters = started
        return lambda: stdio_client(parameters, errlog=sys.stderr)
    if callable(source):
        return source

    raise TypeError(
        "A server is given as a command (a list of texts), a URL, StdioServerParameters, "
        "a function that makes a transport, or an open Client or ClientSession, got "
        f"{type(source).__name__}."
    )


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
