"""
``tooldecl call``: one call of one tool, as a model would make it.
"""

from __future__ import annotations

import contextlib
import logging
import math
import sys

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import ToolCall, ToolClient, ToolResult
from ..exceptions import InvalidArgumentsError
from ..filters import approve_all
from ._arguments import arguments_of
from ._exits import Exit, exit_of
from ._foreign import foreign, summary
from ._hints import hints
from ._loading import find
from ._notices import tell, telling
from ._outline import Schema, member
from ._results import Results, results
from ._target import check_tool, target_argument


if TYPE_CHECKING:
    import click

_STDIN = "-"


def command() -> click.Command:
    """
    Return the command, for the group of all.
    """
    import click

    @click.command("call", short_help="Call one tool and write its result.")
    @target_argument
    @click.argument("tool")
    @click.argument("words", metavar="[ARGUMENT]...", nargs=-1)
    @click.option(
        "--json",
        "given",
        metavar="OBJECT",
        help="All arguments as one JSON object, in place of ARGUMENT.",
    )
    @click.option(
        "--output",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="Write the text that the model would read, or the whole result.",
    )
    @click.option(
        "--approve-all",
        "approved",
        is_flag=True,
        help="Let sensitive tools run without asking; whoever sits at the terminal is "
        "asked otherwise.",
    )
    @click.option(
        "--timeout",
        type=float,
        metavar="SECONDS",
        callback=_seconds,
        help="Bound the whole call, beside the tool's own timeout.",
    )
    @click.option(
        "-v",
        "--verbose",
        is_flag=True,
        help="Show the log too, with the traceback of what the tool raised.",
    )
    def call(
        target: str,
        tool: str,
        words: tuple[str, ...],
        *,
        given: str | None,
        output: str,
        approved: bool,
        timeout: float | None,
        verbose: bool,
    ) -> Exit:
        """
        Call TOOL and write its result.

        ARGUMENT is name=text, where the text becomes what the parameter takes, or
        name:=json, as in names:='["Ann", "Bo"]'; a single - reads all of them from
        standard input, as one JSON object. What a call that failed has to say goes to
        standard error, and the exit code is that of its status.
        """
        with results() as out:
            client = find(target).client(approver=approve_all if approved else None)
            check_tool(client, tool)
            text = _arguments(client, tool, words, given)
            log = telling(logging.INFO) if verbose else contextlib.nullcontext()
            with client, log:
                result = _made(client, ToolCall(tool, text), timeout)
            _write(out, client, result, output)
            if given is None and isinstance(result.error, InvalidArgumentsError):
                _help(client, result.error, words)

        return exit_of(result.status)

    return call


def _arguments(
    client: ToolClient, tool: str, words: Sequence[str], given: str | None
) -> str | bytes:
    """
    Return the arguments as they were given, for the gate to judge.
    """
    import click

    if given is not None and words:
        raise click.UsageError("Give the arguments once: one by one, or with --json.")
    if given is not None:
        return given
    if _STDIN not in words:
        return arguments_of(words, _schema(client, tool))
    if len(words) > 1:
        raise click.UsageError("Give the arguments once: one by one, or with -.")
    if sys.stdin is None:
        raise click.UsageError("Standard input, which - reads, is closed.")
    with foreign("Standard input cannot be read"):
        return sys.stdin.buffer.read()


def _schema(client: ToolClient, tool: str) -> Schema:
    shown = client.definitions(format="mcp")[list(client.table).index(tool)]

    return member(shown, "inputSchema")


def _made(client: ToolClient, call: ToolCall, timeout: float | None) -> ToolResult:
    with foreign(f"The call of {call.name} did not end in a result"):
        if timeout is None:
            return client.invoke(call.name, call.arguments)

        return client.invoke_batch([call], within=timeout)[0]


def _write(out: Results, client: ToolClient, result: ToolResult, output: str) -> None:
    if output == "json":
        out.json(result.to_dict())
    elif result.ok:
        out.text(result.content)
    if not result.ok:
        tell(f"{result.status}: {result.content}")
    cause = None if result.error is None else result.error.__cause__
    if cause is not None and not client.table[result.name].sensitive:
        tell(f"It raised {summary(cause)}.")


def _help(
    client: ToolClient, error: InvalidArgumentsError, words: Sequence[str]
) -> None:
    """
    Say how what was refused is written here.
    """
    if client.table[error.tool].sensitive:  # its values are shown nowhere
        words = [f"{word.partition('=')[0]}=" for word in words]
    refused = (path for path, _ in error.problems)
    for hint in hints(words, refused, _schema(client, error.tool)):
        tell(f"At the command line: {hint}")


def _seconds(
    _context: click.Context, _parameter: click.Parameter, value: float | None
) -> float | None:
    import click

    if value is None or (math.isfinite(value) and value > 0):
        return value

    raise click.BadParameter(f"{value} is no number of seconds above 0.")
