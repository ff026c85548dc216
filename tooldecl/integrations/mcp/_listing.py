"""
What a server shows of the tools of a client.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import ToolClient, ToolMeta
from ._forms import JSON
from ._results import result_kind


if TYPE_CHECKING:
    from mcp.types import Tool


def listed(client: ToolClient) -> dict[str, Tool]:
    """
    Return the tools of a client as the protocol describes them, by name.

    Of the protocol's hints only ``idempotentHint`` is given: nothing that is declared
    says whether a tool only reads, destroys, or reaches the world outside.

    Raises:
        ValueError: One of them is external, and here nobody could give its result.
    """
    from mcp.types import Tool, ToolAnnotations

    _refuse_external(client)
    tools: dict[str, Tool] = {}
    for shown in client.definitions("mcp"):
        meta = client.table[shown["name"]]
        hints = ToolAnnotations(idempotent_hint=True) if meta.idempotent else None
        tools[meta.name] = Tool(
            name=meta.name,
            description=meta.description,
            input_schema=shown["inputSchema"],
            output_schema=_promised(meta, shown.get("outputSchema")),
            annotations=hints,
        )

    return tools


def _promised(meta: ToolMeta, schema: JSON | None) -> JSON | None:
    """
    Return the schema of the results, where each of them can be sent in that form: a text
    that is cut is a text, and JSON that is cut is none.
    """
    if schema is None or meta.on_overflow not in ("truncate", "offload"):
        return schema

    return schema if result_kind(schema) == "string" else None


def _refuse_external(client: ToolClient) -> None:
    external = [name for name, meta in client.table.items() if meta.external]
    if external:
        names = ", ".join(map(repr, external))
        raise ValueError(
            f"These tools are external, so their calls wait for a result from elsewhere, "
            f"and nobody gives one to a server: {names}. Serve the client without them: "
            "client.without(name)."
        )
