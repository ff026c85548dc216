"""
``tooldecl schema``: exactly what a model is sent, and what has changed in it.
"""

from __future__ import annotations

import json

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

from .. import ToolClient
from ._exits import Exit
from ._loading import load
from ._notices import tell, telling
from ._plain import is_array, is_object
from ._results import Results, results
from ._schema_diff import Definition, differences, name_of, unified
from ._size import CHARACTERS_OF_A_TOKEN, characters, tokens
from ._target import FORMATS, check_tool, json_flag, target_argument


if TYPE_CHECKING:
    import click


def command() -> click.Command:
    """
    Return the command, for the group of all.
    """
    import click

    @click.command("schema", short_help="Write what a model is sent, as JSON.")
    @target_argument
    @click.argument("tool", required=False)
    @click.option(
        "--format",
        "shape",
        type=click.Choice(FORMATS),
        default="openai",
        show_default=True,
        help="Whose format.",
    )
    @click.option(
        "--diff",
        type=click.File(encoding="utf-8"),
        help="Show instead what has changed since this output of the same command.",
    )
    @json_flag
    def schema(
        target: str, tool: str | None, shape: str, diff: TextIO | None, *, as_json: bool
    ) -> int:
        """
        Write what a model is sent about all tools, or about TOOL, as JSON.

        How large that is, goes to standard error. With --diff, the exit code is 1 if
        something has changed, and --json writes the changes as JSON.
        """
        with results() as out:
            client = load(target)
            shown = definitions(client, shape, tool)
            if diff is not None:
                return _compare(out, _read(diff), shown, diff.name, as_json=as_json)
            out.json(shown if tool is None else shown[0])
            tell(size_of(shown))

        return Exit.OK

    return schema


def definitions(client: ToolClient, shape: str, tool: str | None) -> list[Definition]:
    """
    Return what a model is sent about all tools or one.

    Raises:
        click.UsageError: There is no such tool.
    """
    with telling():
        shown: list[Definition] = list(client.definitions(format=shape))
    if tool is None:
        return shown
    check_tool(client, tool)

    return [shown[list(client.table).index(tool)]]


def size_of(shown: Sequence[Definition]) -> str:
    """
    Say how many characters definitions are, and about how many tokens.
    """
    sizes = {name_of(one): characters(one) for one in shown}
    total = sum(sizes.values())
    words = f"{len(sizes)} tool{'' if len(sizes) == 1 else 's'}, {total:,} characters"
    words += f", about {tokens(total):,} tokens (estimated: "
    words += f"{CHARACTERS_OF_A_TOKEN} characters each)"
    if len(sizes) > 1:
        largest = max(sizes, key=sizes.__getitem__)
        words += f"; the largest is {largest}, {sizes[largest]:,} characters"

    return f"{words}."


def _read(file: TextIO) -> list[Definition]:
    import click

    try:
        read: object = json.load(file)
    except ValueError as error:
        raise click.ClickException(f"{file.name} is not JSON: {error}.") from None
    listed = read if is_array(read) else [read]
    known = [one for one in listed if is_object(one) and name_of(one)]
    if len(known) < len(listed):
        raise click.ClickException(
            f"{file.name} is not what `tooldecl schema` writes: each tool is an object "
            "that has a name."
        )

    return known


def _compare(
    out: Results,
    before: Sequence[Definition],
    after: Iterable[Definition],
    name: str,
    *,
    as_json: bool,
) -> int:
    found = differences(before, [*after])
    if as_json:
        out.json(found)
    elif any(found.values()):
        out.text(unified(before, [*after], name))

    return Exit.FAILED if any(found.values()) else Exit.OK
