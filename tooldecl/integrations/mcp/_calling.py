"""
Calls on their way to a server, whoever has opened the connection.
"""

from __future__ import annotations

import asyncio

from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Protocol, TypeAlias, final

from ... import ToolError
from ._forms import Given


if TYPE_CHECKING:
    from mcp.types import CallToolResult, Tool


Progress: TypeAlias = Callable[[float, float | None, str | None], None]

# More pages than these, and a server never comes to the end of its list.
MOST_PAGES = 1_000


class Caller(Protocol):
    """
    What a link needs of an open connection.
    """

    async def tools(self) -> list[Tool]:
        """
        List all tools of the server.
        """
        ...

    async def call(
        self, name: str, arguments: Given, on_progress: Progress
    ) -> CallToolResult:
        """
        Call a tool of the server.
        """
        ...


class LinkClosedError(ToolError):
    """
    The connection was closed by its owner, and takes no more calls.
    """


class LinkLostError(ToolError):
    """
    There is no connection to the server, or none any more.
    """


@final
class Sending:
    """
    One call on its way; `sent` once it may have reached the server.
    """

    def __init__(self, name: str, arguments: Given, on_progress: Progress) -> None:
        self.name = name
        self.arguments = arguments
        self.on_progress = on_progress
        self.sent: Callable[[], None] = lambda: None


class Link(Protocol):
    """
    Where calls are handed in, from any thread.
    """

    def submit(self, sending: Sending) -> Future[CallToolResult]:
        """
        Begin a call; cancelling the future cancels it at the server.
        """
        ...


def closed_link() -> LinkClosedError:
    """
    Say that the owner has closed the connection.
    """
    return LinkClosedError(
        "The connection to the server of this tool is closed.",
        error_class="environment",
    )


def look_at_end(task: asyncio.Task[CallToolResult]) -> None:
    """
    Read what a call ended with: one that was cancelled may still fail in another way,
    and asyncio would say that nobody has looked.
    """
    if not task.cancelled():
        task.exception()


@final
class OpenLink:
    """
    A connection that somebody else has opened, on the running loop.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._loop = asyncio.get_running_loop()
        self._closed = False

    def close(self) -> None:
        """
        Take no more calls; the connection is not ours.
        """
        self._closed = True

    def submit(self, sending: Sending) -> Future[CallToolResult]:
        """
        Begin a call; cancelling the future cancels it at the server.

        Raises:
            LinkClosedError: The link is closed, or the loop of the connection.
        """
        work = self._call(sending)
        if not self._closed:
            try:
                return asyncio.run_coroutine_threadsafe(work, self._loop)
            except RuntimeError:  # its loop is closed
                pass
        work.close()
        raise closed_link()

    async def _call(self, sending: Sending) -> CallToolResult:
        if (task := asyncio.current_task()) is not None:
            task.add_done_callback(look_at_end)
        sending.sent()

        return await self._caller.call(
            sending.name, sending.arguments, sending.on_progress
        )
