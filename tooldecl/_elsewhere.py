"""
Results of calls that somebody else has run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._answers import Answers
from ._calls import ToolResult
from ._encode import encode
from ._jsonforms import JSON
from ._runtime import Runtime
from ._schema import check_returned
from ._signature import Promise
from ._suspension import PendingCall
from ._texts import failed
from .exceptions import NotFound, ResultTooLargeError, ToolError


def result_maker(
    runtime: Runtime, call: PendingCall, given: Any
) -> Callable[[Answers], ToolResult]:
    """
    Check a result from elsewhere; return what makes the call's result of it.
    """
    name, limit = call.name, runtime.external_limit
    meta = runtime.table.get(name)
    if meta is not None and not meta.external:
        raise ValueError(
            "this client runs it itself, and takes no result from elsewhere"
        )
    if isinstance(given, (ToolError, NotFound)):
        return lambda answers: _failure(answers, name, given, limit)
    if isinstance(given, BaseException):
        raise ValueError(
            "an error from elsewhere is given as a ToolError or a NotFound, got "
            f"{type(given).__name__}"
        )
    content = encode(given, tool=name)
    if name in runtime.table:
        entry = runtime.table.entry(name)
        if isinstance(entry.declared.promise, Promise):
            whole = JSON.encode(content) if isinstance(given, str) else content
            check_returned(entry.declared.promise, whole)
        overflow = entry.meta.on_overflow
    else:
        overflow = "fail"
    if overflow not in ("truncate", "offload"):
        overflow = runtime.on_overflow
    if overflow == "fail" and limit is not None and len(content) > limit:
        raise ResultTooLargeError(tool=name, limit=limit, size=len(content))

    def make(answers: Answers) -> ToolResult:
        answers.limit = limit
        return answers.from_elsewhere(given, content, None)

    return make


def _failure(
    answers: Answers, name: str, error: ToolError | NotFound, limit: int | None
) -> ToolResult:
    answers.limit = limit
    if isinstance(error, NotFound):
        return answers.nothing_elsewhere(error)

    return answers.from_elsewhere(None, "", failed(name, error, 1))
