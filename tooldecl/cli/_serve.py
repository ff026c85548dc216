"""
``tooldecl serve``: the tools of a module over the Model Context Protocol.
"""

from __future__ import annotations

import sys

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from .. import ToolClient
from ..filters import approve_all, deny_all
from ..integrations.mcp import serve_http, serve_stdio
from ._loading import find
from ._notices import tell
from ._results import results
from ._target import target_argument
from ._words import plain


if TYPE_CHECKING:
    import click

# What `serve_http` takes without a name that requests may give.
_OF_THIS_MACHINE = ("127.0.0.1", "localhost", "::1")


def command() -> click.Command:
    """
    Return the command, for the group of all.
    """
    import click

    @click.command("serve", short_help="Serve tools over MCP.")
    @target_argument
    @click.option(
        "--http",
        "port",
        type=click.IntRange(0, 65535),
        metavar="PORT",
        help="Serve over HTTP at this port, 0 takes a free one; else over stdio.",
    )
    @click.option("--host", help="Listen at this address.  [default: 127.0.0.1]")
    @click.option(
        "--allow-host",
        "hosts",
        multiple=True,
        help="A Host that requests may name, as in tools.example:*; again for more.",
    )
    @click.option(
        "--allow-origin",
        "origins",
        multiple=True,
        help="An Origin that requests may come from; again for more.",
    )
    @click.option(
        "--approve-all",
        "approves",
        is_flag=True,
        help="Run sensitive tools without asking anybody.",
    )
    def serve(
        target: str,
        port: int | None,
        host: str | None,
        hosts: tuple[str, ...],
        origins: tuple[str, ...],
        approves: bool,
    ) -> None:
        """
        Serve tools over the Model Context Protocol.

        Over stdio, unless --http says otherwise, until the input ends. Whatever the
        tools print goes to standard error. Over HTTP there is no authentication.

        A host that starts its servers itself is given a command and arguments: the path
        of this Python, and -m tooldecl serve, with the path of a file as MODULE.
        """
        if port is None and (host is not None or hosts or origins):
            raise click.UsageError(
                "--host, --allow-host and --allow-origin belong to --http."
            )
        if host not in (None, *_OF_THIS_MACHINE) and not hosts:
            raise click.UsageError(
                f"Other machines can reach --host {plain(str(host))}: say with "
                "--allow-host by which names, as in --allow-host 'tools.example:*'. A "
                "request for any other is refused."
            )
        try:
            if port is None:
                make = partial(client_of, target, approves=approves)
                serve_stdio(_told(make) if _is_typed_at() else make)
                return
            with results(), client_of(target, approves=approves) as client:
                serve_http(
                    client,
                    host=host or "127.0.0.1",
                    port=port,
                    allowed_hosts=hosts,
                    allowed_origins=origins,
                    ready=lambda url: click.echo(
                        f"Serving {_tools(client)} at {url}", err=True
                    ),
                )
        except (ModuleNotFoundError, OSError, ValueError) as error:
            raise click.ClickException(str(error)) from error

    return serve


def _is_typed_at() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _told(make: Callable[[], ToolClient]) -> Callable[[], ToolClient]:
    """
    Say what is served to whoever sits at a terminal, where nothing else is to be seen.
    """

    def made() -> ToolClient:
        client = make()
        tell(
            f"Serving {_tools(client)} over stdio, for a host that writes its messages to "
            "standard input.\nCtrl-D or Ctrl-C ends this."
        )

        return client

    return made


def _tools(client: ToolClient) -> str:
    count = len(client.table)

    return "1 tool" if count == 1 else f"{count} tools"


def client_of(target: str, *, approves: bool) -> ToolClient:
    """
    Return the client to serve: the one that is named, or one of the tools.

    Nobody can be asked about a call here: over stdio, the input is the wire.

    Raises:
        click.ClickException: There is none, or a tool would have to be asked about.
    """
    import click

    found = find(target)
    if found.given is not None and not approves:
        return found.given
    client = found.client(approver=approve_all if approves else deny_all)
    sensitive = [name for name, meta in client.table.items() if meta.sensitive]
    if sensitive and not approves:
        names = ", ".join(sensitive)
        raise click.ClickException(
            f"Sensitive tools, and nobody to ask about their calls: {names}. Say "
            "--approve-all, or name a client that has an approval of its own."
        )

    return client
