"""
``tooldecl list``: what was declared about each tool.
"""

from __future__ import annotations

import dataclasses

from typing import TYPE_CHECKING

from .. import UNSET, Retry, ToolClient, ToolMeta
from ._list_table import Row, aligned, table
from ._loading import load
from ._notices import tell
from ._outline import outline
from ._places import place_of
from ._plain import is_array
from ._results import results
from ._target import json_flag, target_argument


if TYPE_CHECKING:
    import click


def command() -> click.Command:
    """
    Return the command, for the group of all.
    """
    import click

    @click.command("list", short_help="Show what was declared about each tool.")
    @target_argument
    @json_flag
    def list_tools(target: str, *, as_json: bool) -> None:
        """
        Show what was declared about each tool: its parameters, timeout, retry, serial
        group, isolation, limits, and the line where it stands.

        A dash is what was not declared: the engine or the client decides it.
        """
        with results() as out:
            client = load(target)
            if as_json:
                out.json(records(client))
            elif not client.table:
                tell(f"{target} has no tools.")
            elif out.is_terminal:
                out.drawn(table(rows(client), out.width))
            else:
                out.text(aligned(rows(client)))

    return list_tools


def records(client: ToolClient) -> list[dict[str, object]]:
    """
    Return everything declared about every tool, as plain data.
    """
    return [
        {
            **{f.name: _data(getattr(meta, f.name)) for f in dataclasses.fields(meta)},
            "parameters": outline(definition),
            "file": place_of(meta)[0],
            "line": place_of(meta)[1],
        }
        for meta, definition in _tools(client)
    ]


def _data(value: object) -> object:
    if value is UNSET:
        return "unset"
    if isinstance(value, Retry):
        plain = dataclasses.asdict(value)
        plain["on"] = None if value.on is None else _names(value.on)
        return plain

    return list(value) if is_array(value) else value


def _names(on: object) -> list[str]:
    kinds = on if is_array(on) else (on,)

    return [str(getattr(k, "__qualname__", type(k).__name__)) for k in kinds]


def rows(client: ToolClient) -> list[Row]:
    """
    Return one row for every tool, with its cells by column.
    """
    return [_row(meta, outline(definition)) for meta, definition in _tools(client)]


def _row(meta: ToolMeta, parameters: str) -> Row:
    file, line = place_of(meta)
    retry = meta.retry

    return {
        "tool": meta.name,
        "parameters": parameters,
        "kind": "async" if meta.is_async else "sync",
        "isolation": "-" if meta.isolation is UNSET else meta.isolation,
        "timeout": _seconds(meta.timeout),
        "retry": "-" if retry is None else f"{retry.attempts} attempts",
        "serial": _serial(meta.serial),
        "result limit": _limit(meta),
        "also": ", ".join(_flags(meta)) or "-",
        "tags": ", ".join(meta.tags) or "-",
        "declared": f"{file}:{line}" if file else "-",
    }


def _seconds(timeout: object) -> str:
    if timeout is UNSET:
        return "-"

    return "unlimited" if timeout is None else f"{timeout:g} s"


def _serial(serial: bool | str) -> str:
    if isinstance(serial, str):
        return f"group {serial}"

    return "alone" if serial else "-"


def _limit(meta: ToolMeta) -> str:
    words: list[str] = []
    if meta.result_limit is not UNSET:
        words.append(
            "unlimited" if meta.result_limit is None else f"{meta.result_limit}"
        )
    if meta.on_overflow is not UNSET:
        words.append(meta.on_overflow)

    return " ".join(words) or "-"


def _flags(meta: ToolMeta) -> list[str]:
    flags = ("sensitive", "external", "return_direct", "idempotent")
    found = [flag for flag in flags if getattr(meta, flag)]

    return [*found, *(["repair"] if meta.coerce == "repair" else [])]


def _tools(client: ToolClient) -> list[tuple[ToolMeta, dict[str, object]]]:
    shown = client.definitions(format="mcp")

    return list(zip(client.table.values(), shown, strict=True))
