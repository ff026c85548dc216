"""
What a function promises: its parameters, what it returns and how it is called.
"""

from __future__ import annotations

from ._callables import (
    MISSING,
    POSITIONAL,
    answers_at_once,
    innermost,
    is_method,
    is_wrapper,
    layers,
    name_of,
    runs_async,
)
from ._hints import result_of
from ._promise import VARIADIC, Promise, ToolParameter, promise_of, spelled


__all__ = [
    "MISSING",
    "POSITIONAL",
    "VARIADIC",
    "Promise",
    "ToolParameter",
    "answers_at_once",
    "innermost",
    "is_method",
    "is_wrapper",
    "layers",
    "name_of",
    "promise_of",
    "result_of",
    "runs_async",
    "spelled",
]
