"""
A server of the SDK whose tools are those of a client.
"""

from __future__ import annotations

import asyncio

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from typing import TYPE_CHECKING, TypeVar, final

from ... import ToolClient, ToolResult
from ...exceptions import EngineClosedError
from .._turns import Turns
from ._forms import Given, Work
from ._listing import listed
from ._needed import check_installed
from ._progress import Teller
from ._results import Fits, answer, fitting


if TYPE_CHECKING:
    from mcp.types import (
        CallToolRequestParams,
        CallToolResult,
        ListToolsResult,
        PaginatedRequestParams,
    )

    from ._forms import Request, Served


T = TypeVar("T")

NAME = "tooldecl"

# A call that was cancelled has its end long before; a filter may keep it longer.
CANCEL_SECONDS = 5.0


def server(
    client: ToolClient,
    *,
    name: str = NAME,
    version: str = "",
    instructions: str | None = None,
    deps: object = None,
) -> Served:
    """
    Return a low-level server of the SDK whose tools are those of *client*.

    Calls go through the client, with all that was declared: its gate, its filters and
    approvals, timeouts, retries, serial groups, limits and budgets. A request that is
    cancelled cancels its call. All connections share the client, its state and its
    budget. Use it from one asyncio loop.

    Args:
        client: Whose tools are served; it stays open when the server ends.
        name: What the server calls itself.
        version: Its version; where neither is given, that of tooldecl.
        instructions: What a model should know about the server as a whole.
        deps: The host's own object for ``ToolContext.deps``, the same in every call.

    Raises:
        ModuleNotFoundError: The SDK is not installed.
        TypeError: It is no client, or what should be a text is none.
        ValueError: A tool of the client is external.
    """
    check_installed()
    from mcp.server import Server

    if not isinstance(client, ToolClient):
        kind = type(client).__name__
        raise TypeError(f"A ToolClient is served, got {kind}.")
    _check_texts(name=name, version=version, instructions=instructions or "")
    host = _Host(client, deps)

    return Server(
        name,
        version=version or _version(name),
        instructions=instructions,
        get_tool_input_schema=host.input_schema,
        on_list_tools=host.list_tools,
        on_call_tool=host.call_tool,
    )


def _check_texts(**given: object) -> None:
    for option, text in given.items():
        if not isinstance(text, str):
            kind = type(text).__name__
            raise TypeError(f"{option} takes a text, got {kind}.")


def _version(name: str) -> str:
    """
    Return the version of a server that says none: a name of one's own has one's own.
    """
    try:
        return installed("tooldecl") if name == NAME else ""
    except PackageNotFoundError:  # it is used from its folder
        return ""


@final
class _Host:
    """
    Answers the requests about tools.
    """

    def __init__(self, client: ToolClient, deps: object) -> None:
        self._client = client
        self._deps = deps
        self._tools = listed(client)
        self._fits: dict[str, Fits] = {
            name: fitting(tool.output_schema)
            for name, tool in self._tools.items()
            if tool.output_schema is not None
        }
        self._alone = {n for n, meta in client.table.items() if meta.serial is True}
        self._turns = Turns()

    def input_schema(self, name: str) -> Given | None:
        """
        Return the schema of a tool's arguments, or None where there is no such tool.
        """
        tool = self._tools.get(name)

        return None if tool is None else tool.input_schema

    async def list_tools(
        self,
        _context: Request,
        params: PaginatedRequestParams | None,
    ) -> ListToolsResult:
        """
        List all tools, on one page.

        Raises:
            MCPError: Another page is asked for.
        """
        from mcp import MCPError
        from mcp.types import INVALID_PARAMS, ListToolsResult

        if params is not None and params.cursor is not None:
            raise MCPError(INVALID_PARAMS, "All tools are on the first page.")

        return ListToolsResult(tools=list(self._tools.values()))

    async def call_tool(
        self, context: Request, params: CallToolRequestParams
    ) -> CallToolResult:
        """
        Call a tool, and answer whatever comes of it.

        Raises:
            MCPError: The client is closed.
        """
        from mcp import MCPError
        from mcp.types import INTERNAL_ERROR

        teller = Teller(context.session)
        try:
            result = await _apart(self._call(params, teller))
            await teller.finish()
        except EngineClosedError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from error
        finally:
            teller.stop()

        return answer(result, self._fits.get(params.name))

    async def _call(self, params: CallToolRequestParams, teller: Teller) -> ToolResult:
        if not self._alone:
            return await self._invoke(params, teller)
        async with self._turns.ataken(None, params.name in self._alone):
            return await self._invoke(params, teller)

    async def _invoke(
        self, params: CallToolRequestParams, teller: Teller
    ) -> ToolResult:
        return await self._client.ainvoke(
            params.name,
            params.arguments,
            deps=self._deps,
            on_progress=teller.hear,
        )


async def _apart(work: Work[T]) -> T:
    """
    Await *work* in a task of its own, and see its end where the request is cancelled.

    The SDK cancels a request again and again until its handler has ended: what the call
    awaits to end its body would be cancelled as well.
    """
    import anyio

    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait({task}, timeout=CANCEL_SECONDS)
        if task.done() and not task.cancelled():
            task.exception()  # read, or asyncio would log that nobody has
        raise
