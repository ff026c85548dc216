"""
What the commands have in common: the argument that names tools, and one tool of them.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeVar

from .. import ToolClient
from ._words import plain


if TYPE_CHECKING:
    import click


F = TypeVar("F", bound="Callable[..., object]")

FORMATS = ("openai", "openai-responses", "openai-strict", "anthropic", "gemini", "mcp")


def target_argument(function: F) -> F:
    """
    Give a command the argument MODULE[:OBJECT], as ``target``.
    """
    import click

    return click.argument("target", metavar="MODULE[:OBJECT]")(function)


def json_flag(function: F) -> F:
    """
    Give a command the option ``--json``, as ``as_json``.
    """
    import click

    words = "Write the results as JSON."

    return click.option("--json", "as_json", is_flag=True, help=words)(function)


def check_tool(client: ToolClient, name: str) -> None:
    """
    Refuse a name that no tool has.

    Raises:
        click.UsageError: There is no such tool.
    """
    if name not in client.table:
        raise unknown_tool(client, name)


def unknown_tool(client: ToolClient, name: str) -> click.UsageError:
    """
    Say that there is no such tool, and what there is.
    """
    import click

    near = get_close_matches(name, client.table, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else f"There are: {_some(client)}."

    return click.UsageError(plain(f"There is no tool named {name!r}. {hint}"))


def _some(client: ToolClient) -> str:
    names = list(client.table)
    more = len(names) - 10

    return ", ".join(names[:10]) + (f" and {more} more" if more > 0 else "")
