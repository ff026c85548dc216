"""
Declare tools for LLM agents once; run them under the limits you declared.
"""

from __future__ import annotations

from ._calls import BatchResult, Fate, Status, ToolCall, ToolRequest, ToolResult
from ._client import ToolClient
from ._context import ToolContext, current_context
from ._decl import ToolSpec, meta_of, prefixed, tool, tools_in
from ._loop import ToolLoop
from ._meta import Retry, ToolMeta
from ._sentinels import UNSET
from ._strictjson import JSONLimits
from ._table import ToolTable
from ._turns import LoopResult, Model, ModelRequest, StopReason, Turn
from .exceptions import DeclarationError, DuplicateToolError, NotFound, ToolError


__all__ = [
    "UNSET",
    "BatchResult",
    "DeclarationError",
    "DuplicateToolError",
    "Fate",
    "JSONLimits",
    "LoopResult",
    "Model",
    "ModelRequest",
    "NotFound",
    "Retry",
    "Status",
    "StopReason",
    "ToolCall",
    "ToolClient",
    "ToolContext",
    "ToolError",
    "ToolLoop",
    "ToolMeta",
    "ToolRequest",
    "ToolResult",
    "ToolSpec",
    "ToolTable",
    "Turn",
    "current_context",
    "meta_of",
    "prefixed",
    "tool",
    "tools_in",
]


def __getattr__(name: str) -> str:
    """
    Read the version from the installed package, only when it is asked for.
    """
    if name == "__version__":
        from importlib.metadata import version

        return version("tooldecl")

    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
