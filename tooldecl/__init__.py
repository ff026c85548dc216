"""
Declare tools for LLM agents once; run them under the limits you declared.

A name is read from its home when it is first asked for: a module that only declares
tools does not pay for the validator, and ``import tooldecl`` pays for neither.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any


if TYPE_CHECKING:
    from ._budget import Budget
    from ._calls import Fate, Status, ToolCall, ToolRequest, ToolResult
    from ._client import ToolClient
    from ._context import ToolContext, current_context
    from ._decl import ToolSpec, meta_of, prefixed, tool, tools_in
    from ._loop import ToolLoop
    from ._meta import Retry, ToolMeta
    from ._sentinels import UNSET
    from ._sqlitestore import SqliteResultStore
    from ._state import Reducer
    from ._stores import FileResultStore, ResultStore
    from ._strictjson import JSONLimits
    from ._suspension import BatchResult, PendingCall, Suspension
    from ._table import ToolTable
    from ._turns import LoopResult, Model, ModelRequest, StopReason, Turn
    from .exceptions import DeclarationError, DuplicateToolError, NotFound, ToolError


__all__ = [
    "UNSET",
    "BatchResult",
    "Budget",
    "DeclarationError",
    "DuplicateToolError",
    "Fate",
    "FileResultStore",
    "JSONLimits",
    "LoopResult",
    "Model",
    "ModelRequest",
    "NotFound",
    "PendingCall",
    "Reducer",
    "ResultStore",
    "Retry",
    "SqliteResultStore",
    "Status",
    "StopReason",
    "Suspension",
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

_HOMES = {
    "UNSET": "_sentinels",
    "Budget": "_budget",
    "BatchResult": "_suspension",
    "PendingCall": "_suspension",
    "Suspension": "_suspension",
    "DeclarationError": "exceptions",
    "DuplicateToolError": "exceptions",
    "FileResultStore": "_stores",
    "Fate": "_calls",
    "JSONLimits": "_strictjson",
    "LoopResult": "_turns",
    "Model": "_turns",
    "ModelRequest": "_turns",
    "ResultStore": "_stores",
    "Reducer": "_state",
    "NotFound": "exceptions",
    "SqliteResultStore": "_sqlitestore",
    "Retry": "_meta",
    "Status": "_calls",
    "StopReason": "_turns",
    "ToolCall": "_calls",
    "ToolClient": "_client",
    "ToolContext": "_context",
    "ToolError": "exceptions",
    "ToolLoop": "_loop",
    "ToolMeta": "_meta",
    "ToolRequest": "_calls",
    "ToolResult": "_calls",
    "ToolSpec": "_decl",
    "ToolTable": "_table",
    "Turn": "_turns",
    "current_context": "_context",
    "meta_of": "_decl",
    "prefixed": "_decl",
    "tool": "_decl",
    "tools_in": "_decl",
}


_MODULES = frozenset(
    {"engines", "exceptions", "export", "filters", "report", "telemetry", "testing"}
)


def __getattr__(name: str) -> Any:
    """
    Read a public name from its home, a public module, and the version from the installed package.
    """
    if name == "__version__":
        return import_module("importlib.metadata").version("tooldecl")
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value

    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
