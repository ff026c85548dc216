"""
Serve over HTTP, with the protocol's streamable transport.
"""

from __future__ import annotations

import asyncio
import socket

from collections.abc import Callable, Iterable
from types import FrameType
from typing import TYPE_CHECKING

from ... import ToolClient
from ._descriptors import flush_prints
from ._ends import quiet_at_the_end, run_until_told
from ._needed import check_installed
from ._server import NAME, server


if TYPE_CHECKING:
    import uvicorn

    from mcp.server.transport_security import TransportSecuritySettings

    from ._forms import Served


LOOPBACK = ("127.0.0.1", "localhost", "::1")

# How long open connections have when the server is told to end.
CLOSE_SECONDS = 2


def serve_http(
    client: ToolClient,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    allowed_hosts: Iterable[str] = (),
    allowed_origins: Iterable[str] = (),
    ready: Callable[[str], object] | None = None,
    name: str = NAME,
    version: str = "",
    instructions: str | None = None,
    deps: object = None,
) -> None:
    """
    Serve a client over HTTP at ``/mcp``, until SIGINT or SIGTERM.

    A request with a ``Host`` or an ``Origin`` header that is not allowed is refused, so
    that no web page can reach a server on this machine (DNS rebinding). There is no
    authentication: whoever reaches the port may call the tools.

    Args:
        client: Whose tools are served; it stays open.
        host: The address to listen at.
        port: The port; 0 takes a free one.
        allowed_hosts: Values of ``Host`` beside those of this machine's loopback, like
            ``"tools.example:8000"`` or ``"tools.example:*"``.
        allowed_origins: Values of ``Origin`` beside those, like ``"https://app.example"``.
        ready: Called with the URL once connections are accepted.
        name: What the server calls itself.
        version: Its version; where neither is given, that of tooldecl.
        instructions: What a model should know about the server as a whole.
        deps: The host's own object for ``ToolContext.deps``, the same in every call.

    Raises:
        ModuleNotFoundError: The SDK is not installed.
        ValueError: A tool of the client is external, or the address can be reached from
            elsewhere and no host is allowed.
        OSError: The address or the port cannot be had.
    """
    check_installed()
    served = server(
        client, name=name, version=version, instructions=instructions, deps=deps
    )
    rules = _rules(host, _texts("allowed_hosts", allowed_hosts), allowed_origins)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family, backlog=128) as listening:
        bound = listening.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        url = f"http://{shown}:{bound}/mcp"
        asyncio.run(_serve(served, rules, listening, host, ready, url))


def _texts(option: str, given: Iterable[str]) -> list[str]:
    if isinstance(given, str):
        raise TypeError(f"{option} takes a list of texts, got one text.")

    return list(given)


def _rules(
    host: str, hosts: list[str], origins: Iterable[str]
) -> TransportSecuritySettings:
    from mcp.server.transport_security import TransportSecuritySettings

    if host not in LOOPBACK and not hosts:
        raise ValueError(
            f"host={host!r} can be reached from other machines. Say by which names in "
            "allowed_hosts, as in ['tools.example:*']: a request for any other is refused."
        )
    names = ["127.0.0.1:*", "localhost:*", "[::1]:*"]

    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[*names, *hosts],
        allowed_origins=[
            *(f"http://{name}" for name in names),
            *_texts("allowed_origins", origins),
        ],
    )


def _patient() -> type[uvicorn.Server]:
    """
    Return a server that goes on with its end at a second Ctrl-C: it has its bounds, and
    what uvicorn leaves out when it is forced would be logged as a fault.
    """
    import uvicorn

    class Patient(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            if not self.should_exit:
                super().handle_exit(sig, frame)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await super().shutdown(sockets)
            flush_prints()  # what ends the process next is the signal that it got

    return Patient


async def _serve(
    served: Served,
    rules: TransportSecuritySettings,
    listening: socket.socket,
    host: str,
    ready: Callable[[str], object] | None,
    url: str,
) -> None:
    import uvicorn

    app = served.streamable_http_app(transport_security=rules, host=host)
    running = _patient()(
        uvicorn.Config(
            quiet_at_the_end(app, lambda: running.should_exit),
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=CLOSE_SECONDS,
        )
    )
    if ready is not None:
        # The socket listens already: a connection that comes now waits for its turn.
        ready(url)

    def end() -> None:
        running.should_exit = True

    await run_until_told(running.serve(sockets=[listening]), end)
