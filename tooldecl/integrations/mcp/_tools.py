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
from ._link import OpenLink, OwnLink, Sending
from ._names import described, wire_names
from ._needed import check_installed
from ._replies import is_wrapped, value_of


if TYPE_CHECKING:
    from mcp.types import Tool


Options = Mapping[str, Any]

# Options that say where a body runs or who runs it: here it is always the server.
_NOT_HERE = ("external", "isolation")
_OURS = ("description", "handler", "input_schema")


def tools_from_mcp(
    source: object,
    *,
    options: Mapping[str, Options] | None = None,
    defaults: Options | None = None,
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
        DeclarationError: An option cannot be kept for a tool of a server.
    """
    check_installed()
    chosen = _Chosen(
        options={name: dict(given) for name, given in (options or {}).items()},
        defaults=dict(defaults or {}),
        include=None if include is None else _names("include", include),
        exclude=_names("exclude", exclude),
    )

    return MCPTools(source, chosen, connect_within)


def _names(option: str, given: Iterable[str]) -> frozenset[str]:
    if isinstance(given, str):
        raise TypeError(f"{option} takes a list of names, got one text.")

    return frozenset(given)


@final
class _Chosen:
    """
    Which tools are taken, and with which options.
    """

    def __init__(
        self,
        *,
        options: Mapping[str, Options],
        defaults: Options,
        include: frozenset[str] | None,
        exclude: frozenset[str],
    ) -> None:
        for given in (defaults, *options.values()):
            _check_options(given)
        if "name" in defaults:
            raise DeclarationError("defaults: no two tools can have one name.")
        self._options = options
        self._defaults = defaults
        self._include = include
        self._exclude = exclude

    def among(self, tools: Iterable[Tool]) -> list[Tool]:
        """
        Return the tools that are taken.

        Raises:
            DeclarationError: A name was given that no tool of the server has.
        """
        listed = {tool.name: tool for tool in tools}
        named = {*self._options, *self._exclude, *(self._include or ())}
        if unknown := sorted(named - set(listed)):
            raise DeclarationError(
                f"The server has no tool named {', '.join(map(repr, unknown))}. It has: "
                f"{', '.join(map(repr, sorted(listed)[:20])) or 'none'}."
            )

        return [
            tool
            for name, tool in listed.items()
            if name not in self._exclude
            and (self._include is None or name in self._include)
        ]

    def options_of(self, name: str) -> dict[str, Any]:
        """
        Return the options of one tool.
        """
        return {**self._defaults, **self._options.get(name, {})}


def _check_options(given: Options) -> None:
    for option in _NOT_HERE:
        if option in given:
            raise DeclarationError(
                f"{option} means nothing for a tool of a server: the server runs it."
            )
    for option in _OURS:
        if option in given and option != "description":
            raise DeclarationError(f"{option} comes from the server.")


@final
class MCPTools(Sequence[ToolSpec]):
    """
    The tools of a server as specs, for as long as it is entered.

    Its calls may come from any thread and any loop. A connection that is made here lives
    on a thread of its own; one that is lost is made again by the next call. Leaving it
    closes that connection, and ends a server that it has started.

    Attributes:
        names: The server's name of each tool, by its name here.
    """

    def __init__(self, source: object, chosen: _Chosen, connect_within: float) -> None:
        self._source = source
        self._chosen = chosen
        self._within = connect_within
        self._link: OwnLink | OpenLink | None = None
        self._own = None if _is_open(source) else connecting(source)
        self._specs: tuple[ToolSpec, ...] = ()
        self.names: Mapping[str, str] = {}

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
        except BaseException:
            link.close()
            raise

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
        if self._own is None:
            await self._take_open()
            return self
        link = self._begin()
        try:
            self._declare(await asyncio.wrap_future(link.start()), link)
        except BaseException:
            await asyncio.to_thread(link.close)
            raise

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
        if self._own is None:
            raise TypeError(
                "An open Client or ClientSession belongs to its loop: enter its tools "
                "with 'async with' there."
            )
        link = OwnLink(self._own, self._within)
        self._link = link

        return link

    async def _take_open(self) -> None:
        self._check_first()
        caller = SDKCaller(_opened(self._source))
        link = OpenLink(caller)
        self._link = link
        async with asyncio.timeout(self._within):
            listed = await caller.tools()
        self._declare(listed, link)

    def _check_first(self) -> None:
        if self._link is not None:
            raise RuntimeError("The tools of a server are entered once.")

    def _declare(self, listed: list[Tool], link: OwnLink | OpenLink) -> None:
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


def _is_open(source: object) -> bool:
    from mcp import Client, ClientSession

    return isinstance(source, (Client, ClientSession))


def _opened(source: object) -> Any:
    return source


def _spec(
    tool: Tool, wire: str, options: dict[str, Any], link: OwnLink | OpenLink
) -> ToolSpec:
    declared: dict[str, Any] = {
        "description": described(tool.description, tool.title, tool.name),
        **options,
        "name": wire,
    }

    return ToolSpec(
        input_schema=tool.input_schema,
        handler=_handler(tool.name, is_wrapped(tool.output_schema), link),
        **declared,
    )


def _handler(
    name: str, wrapped: bool, link: OwnLink | OpenLink
) -> Callable[..., Awaitable[object]]:
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
