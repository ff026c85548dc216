"""
The dialects as functions, for tools of a client as for tools from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias

from .._build import ToolDefinition
from .._meta import NAME, NAME_RULE
from .._policy import shown
from ._dialects import SHAPES, STRICT, not_strict


class Shown(Protocol):
    """
    What shows its tools: a `tooldecl.ToolClient`.
    """

    def definitions(self, dialect: str = "openai", /) -> list[dict[str, Any]]:
        """
        Return what a model is shown.
        """
        ...


Tools: TypeAlias = Shown | Iterable[Mapping[str, Any]]

_MAPPING: Any = Mapping
_ITERABLE: Any = Iterable


def to_openai(tools: Tools, *, strict: bool = False) -> list[dict[str, Any]]:
    """
    Return tools as OpenAI's chat completions take them, and all that speak like those.

    Args:
        tools: A client, or definitions: ``name``, ``description``, ``input_schema`` and
            perhaps ``output_schema``, or ``inputSchema`` and ``outputSchema`` as MCP
            writes them.
        strict: Offer in strict mode what has a strict form; `why_not_strict` says what
            has none, and that is offered as it is.

    Raises:
        ValueError: Something is no definition, or has a name that providers refuse.
    """
    shape = STRICT["openai"] if strict else SHAPES["openai"]

    return [shape(_named(definition)) for definition in _read(tools)]


def to_openai_responses(tools: Tools, *, strict: bool = False) -> list[dict[str, Any]]:
    """
    Return tools as OpenAI's responses take them; as `to_openai`.
    """
    shape = STRICT["openai-responses"] if strict else SHAPES["openai-responses"]

    return [shape(_named(definition)) for definition in _read(tools)]


def to_anthropic(tools: Tools) -> list[dict[str, Any]]:
    """
    Return tools as Anthropic's messages take them; as `to_openai`.
    """
    return [SHAPES["anthropic"](_named(definition)) for definition in _read(tools)]


def to_gemini(tools: Tools) -> list[dict[str, Any]]:
    """
    Return tools as Gemini's ``functionDeclarations``; as `to_openai`.
    """
    return [SHAPES["gemini"](_named(definition)) for definition in _read(tools)]


def to_mcp(tools: Tools) -> list[dict[str, Any]]:
    """
    Return tools as an MCP server lists them; as `to_openai`, and any name is taken.
    """
    return [SHAPES["mcp"](definition) for definition in _read(tools)]


def why_not_strict(tools: Tools) -> dict[str, str]:
    """
    Say of each tool that has no strict form why; of the others nothing.
    """
    reasons = {d.name: not_strict(d) for d in _read(tools)}

    return {name: reason for name, reason in reasons.items() if reason is not None}


def _read(tools: Tools) -> list[ToolDefinition]:
    show: Any = getattr(tools, "definitions", None)
    given: Any = show("mcp") if callable(show) else tools
    if isinstance(given, (str, _MAPPING)) or not isinstance(given, _ITERABLE):
        raise ValueError(f"Definitions come as a list, got {shown(tools)}.")

    return [_definition(index, one) for index, one in enumerate(given)]


def _definition(index: int, given: Any) -> ToolDefinition:
    read: Any = given if isinstance(given, _MAPPING) else {}
    name, text = read.get("name"), read.get("description") or ""
    schema = read.get("input_schema", read.get("inputSchema"))
    result = read.get("output_schema", read.get("outputSchema"))
    is_said = isinstance(name, str) and name and isinstance(text, str)
    if not (is_said and isinstance(schema, _MAPPING)):
        raise ValueError(
            f"Definition {index} is no mapping with a name and an input_schema."
        )
    if not isinstance(result, (_MAPPING, type(None))):
        raise ValueError(f"Definition {index} has an output_schema that is no mapping.")

    return ToolDefinition(
        name=name, description=text, input_schema=schema, output_schema=result
    )


def _named(definition: ToolDefinition) -> ToolDefinition:
    """
    Refuse a name for which a provider would refuse the whole request.
    """
    if not NAME.fullmatch(definition.name):
        raise ValueError(
            f"The name {definition.name!r} is none that every provider takes: "
            f"{NAME_RULE}. tooldecl.export.safe_names() makes one of it."
        )

    return definition
