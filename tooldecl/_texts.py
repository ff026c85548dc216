"""
What a model is told of an exception: the author's own words, else only the type.

The matching page is docs/reference/errors.md.
"""

from __future__ import annotations

import asyncio

from ._calls import Status, ToolResult
from ._cut import fit
from ._errors import classify, leaves
from .exceptions import (
    CallError,
    EngineBusyError,
    ErrorClass,
    RemoteError,
    ToolError,
    ToolFailedError,
    ToolTimeoutError,
    WorkerDiedError,
)


_AUTHORS = (Status.TOOL_ERROR, Status.NOT_FOUND)  # their texts may be an author's

# What an author says of a failure is cut, never refused: to the result's limit, but to
# no less than the mark of a cut needs. Our own texts are shorter than LONGEST_OWN.
LONGEST_FAILURE = 20_000
SHORTEST_FAILURE = 40
LONGEST_OWN = 1_000


def text_of(error: BaseException) -> str:
    """
    Return the text of an exception, without half characters; empty where it has none.
    """
    try:
        text = str(error)
    except Exception:  # the author's own __str__ may raise anything
        return ""

    return whole_characters(text)


def whole_characters(text: str) -> str:
    """
    Replace lone halves of surrogate pairs, which no wire takes.
    """
    if text.isascii():
        return text

    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def failed(tool: str, error: BaseException, attempts: int) -> ToolFailedError:
    """
    Wrap what a body raised: a text for the model, the exception itself for the host.
    """
    wrapped = ToolFailedError(
        tool=tool,
        type_names=type_names(error),
        text=words_for_model(tool, error),
        attempts=attempts,
    )
    wrapped.__cause__ = error

    return wrapped


def type_names(error: BaseException) -> tuple[str, ...]:
    """
    Return the names of the types of *error*, or of a group's leaves.
    """
    names = [name for leaf in leaves(error) for name in _names_of(leaf)]

    return tuple(dict.fromkeys(names))


def _names_of(leaf: BaseException) -> tuple[str, ...]:
    if isinstance(leaf, RemoteError):
        return leaf.type_names

    return (type(leaf).__name__,)


def words_for_model(tool: str, error: BaseException) -> str | None:
    """
    Return the author's own words for the model, if there are any that may be shown.
    """
    words: list[str] = []
    silent: list[str] = []
    for leaf in leaves(error):
        text = _words_of(tool, leaf)
        if text:
            words.append(text)
        else:
            silent += _names_of(leaf)
    if words and silent:
        rest = ToolFailedError(tool=tool, type_names=tuple(dict.fromkeys(silent)))
        words.append(str(rest))

    return " ".join(words) or None


def _words_of(tool: str, error: BaseException) -> str:
    if isinstance(error, ToolError):
        return text_of(error).strip()
    if isinstance(error, RemoteError):
        return error.words or ""
    if isinstance(error, SystemExit):
        code = 0 if error.code is None else error.code
        what = "a message"  # whatever it says, it was not written for the model
        if isinstance(code, int) and abs(code) < 2**31:
            what = f"exit code {int(code)}"
        return f"Tool {tool!r} tried to end the program, with {what}."
    if isinstance(error, asyncio.CancelledError):
        return f"Tool {tool!r} failed: something it waited for was cancelled."

    return ""


def error_class_of(error: CallError) -> ErrorClass | None:
    """
    Return the class of a call that ended with *error*.
    """
    if isinstance(error, ToolTimeoutError):
        return "transient"
    if isinstance(error, ToolFailedError) and error.__cause__ is not None:
        return classify(error.__cause__)
    if isinstance(error, (EngineBusyError, WorkerDiedError)):
        return "transient"

    return "semantic"


def fitted_failure(result: ToolResult, limit: int | None) -> ToolResult:
    """
    Cut the text of a failure: it is never refused, or nobody would know of it.
    """
    content = whole_characters(result.content).strip()
    if not content:
        content = f"The call of {result.name!r} did not succeed."
    most = LONGEST_OWN
    if result.status in _AUTHORS:
        most = min(limit or LONGEST_FAILURE, LONGEST_FAILURE)
        most = max(most, SHORTEST_FAILURE)
    if content == result.content and len(content) <= most:
        return result
    cut = fit(content, tool=result.name, limit=most, overflow="truncate")

    return result.replace(
        content=cut.content,
        truncated=cut.truncated,
        original_size=cut.original_size,
    )
