"""
The tools of a foreign server, declared here: under our timeouts, retries and limits.
"""

from __future__ import annotations

import asyncio

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, final, overload

from ... import DeclarationError, ToolContext, ToolSpec
from ._callers import SDKCaller, connecting
from ._calling import Link, OpenLink, Sending
from ._chosen import Chosen, checked_seconds, names_of
from ._forms import JSON, Given
from ._link import Connect, OwnLink
from ._names import described, wire_names
from ._needed import check_installed
from ._replies import is_wrapped, value_of


if TYPE_CHECKING:
    from mcp import Client, ClientSession
    from mcp.types import Tool

    from ._callers import Source


def tools_from_mcp(
    source: Source,
    *,
    options: Mapping[str, Given] | None = None,
    defaults: Given | None = None,
    include: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    connect_within: float = 30.0,
) -> MCPTools:
    """
    Return the tools of an MCP server, to be entered with ``async with`` or ``with``.

    Args:
        source: A command as a list of texts, a URL, ``StdioServerParameters``, a
            function that makes a transport of the SDK, or an open ``Client`` or
            ``ClientSession``, which is entered with ``async with`` only.
        options: Options of `tool` for single tools, by the name that the server uses.
        defaults: Options of `tool` for all others, and beside those.
        include: Only these tools, by the name that the server uses; None is all.
        exclude: Not these.
        connect_within: Seconds to connect and to list the tools.

    Raises:
        ModuleNotFoundError: The SDK is not installed.
        TypeError: The source is none of these.
        ValueError: A text is given that is no URL.
        DeclarationError: An option does not exist, does not take what it is given or
            cannot be kept for a tool of a server, or *connect_within* is not above 0.
    """
    check_installed()
    chosen = Chosen(
        options={name: dict(given) for name, given in (options or {}).items()},
        defaults=dict(defaults or {}),
        include=None if include is None else names_of("include", include),
        exclude=names_of("exclude", exclude),
    )

    return MCPTools(source, chosen, checked_seconds(connect_within))


@final
class MCPTools(Sequence[ToolSpec]):
    """
    The tools of a server as specs, for as long as it is entered.

    Its calls may come from any thread and any loop. A connection that is made here lives
    on a thread of its own; one that is lost is made again by the next call. Leaving it
    closes that connection, and ends a server that it has started.

    Attributes:
        names: The server's name of each tool, by its name here.
        is_entered: Its tools are declared.
    """

    def __init__(self, source: Source, chosen: Chosen, connect_within: float) -> None:
        from mcp import Client, ClientSession

        self._opened: Client | ClientSession | None = None
        self._connect: Connect | None = None
        if isinstance(source, (Client, ClientSession)):
            self._opened = source
        else:
            self._connect = connecting(source)
        self._chosen = chosen
        self._within = connect_within
        self._link: OwnLink | OpenLink | None = None
        self._specs: tuple[ToolSpec, ...] = ()
        self.names: Mapping[str, str] = {}
        self.is_entered = False

    @overload
    def __getitem__(self, place: int) -> ToolSpec: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[ToolSpec]: ...

    def __getitem__(self, place: int | slice) -> ToolSpec | Sequence[ToolSpec]:
        return self._specs[place]

    def __len__(self) -> int:
        return len(self._specs)

    def __enter__(self) -> Self:
        link = self._begin()
        try:
            self._declare(link.start().result(), link)
        finally:
            if not self.is_entered:
                link.close()

        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._link is not None:
            self._link.close()

    async def __aenter__(self) -> Self:
        if self._opened is not None:
            await self._take_open(self._opened)
            return self
        link = self._begin()
        try:
            self._declare(await asyncio.wrap_future(link.start()), link)
        finally:
            if not self.is_entered:
                await asyncio.to_thread(link.close)

        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._link is not None:
            await asyncio.to_thread(self._link.close)

    def __repr__(self) -> str:
        return f"<MCPTools of {len(self)} tools>"

    def _begin(self) -> OwnLink:
        self._check_first()
        if self._connect is None:
            raise TypeError(
                "An open Client or ClientSession belongs to its loop: enter its tools "
                "with 'async with' there."
            )
        link = OwnLink(self._connect, self._within)
        self._link = link

        return link

    async def _take_open(self, opened: Client | ClientSession) -> None:
        self._check_first()
        caller = SDKCaller(opened)
        link = OpenLink(caller)
        self._link = link
        async with asyncio.timeout(self._within):
            listed = await caller.tools()
        self._declare(listed, link)

    def _check_first(self) -> None:
        if self._link is not None:
            raise RuntimeError("The tools of a server are entered once.")

    def _declare(self, listed: list[Tool], link: Link) -> None:
        """
        Make a spec of each tool.

        Raises:
            DeclarationError: One cannot be declared; several come as one ExceptionGroup.
        """
        tools = self._chosen.among(listed)
        options = {tool.name: self._chosen.options_of(tool.name) for tool in tools}
        given = {n: str(o["name"]) for n, o in options.items() if "name" in o}
        names = wire_names((n for n in options if n not in given), given.values())
        faults: list[DeclarationError] = []
        specs: dict[str, ToolSpec] = {}
        for tool in tools:
            name = tool.name
            try:
                wire = given.get(name) or names[name]
                specs[name] = _spec(tool, wire, options[name], link)
            except DeclarationError as error:
                faults.append(error)
        if len(faults) == 1:
            raise faults[0]
        if faults:
            raise ExceptionGroup("Tools of the server cannot be declared", faults)
        self._specs = tuple(specs.values())
        self.names = {spec.name: name for name, spec in specs.items()}
        self.is_entered = True


def _spec(tool: Tool, wire: str, options: JSON, link: Link) -> ToolSpec:
    declared: JSON = {
        "description": described(tool.description, tool.title, tool.name),
        **options,
        "name": wire,
    }

    return ToolSpec(
        input_schema=tool.input_schema,
        handler=_handler(tool.name, is_wrapped(tool.output_schema), link),
        **declared,
    )


def _handler(name: str, wrapped: bool, link: Link) -> Callable[..., Awaitable[object]]:
    """
    Make the body of one tool: it hands the call to the link, whatever loop it runs on.
    """

    async def call(ctx: ToolContext, /, **arguments: Any) -> object:
        sending = Sending(name, arguments, ctx.progress)
        sending.sent = ctx.leave_running
        # Cancelled here, the future is cancelled there, and the server is told.
        reply = await asyncio.wrap_future(link.submit(sending))

        return value_of(reply, wrapped=wrapped)

    return call
