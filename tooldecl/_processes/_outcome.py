"""
What became of a body, on its way from the worker to the host: words, never live objects.

`described` is what the worker says of an exception, `restored` what the host makes of it.
The host never unpickles and never runs anything that a tool has made.
"""

from __future__ import annotations

import math
import traceback

from typing import Any

from .._errors import classify, is_fatal, leaves, retry_after
from .._retry import is_retryable
from .._texts import text_of, type_names, whole_characters, words_for_model
from ..exceptions import NotFound, NotRunError, RemoteError, ToolFailedError
from ._loading import Loaded
from ._wire import MAX_FRAME


# Characters of a foreign text or traceback that cross.
LONGEST = 20_000

# Those that must leave the client as they are; whatever else does comes as the last.
_FATAL: tuple[type[BaseException], ...] = (
    KeyboardInterrupt,
    MemoryError,
    GeneratorExit,
    BaseException,
)


def described(tool: Loaded, error: BaseException) -> dict[str, Any]:
    """
    Say in plain data what *error*, which a body raised, means to its host.
    """
    found = list(leaves(error))
    said: dict[str, Any] = {
        "types": type_names(error),
        "text": text_of(error)[:LONGEST],
        "trace": _trace(error),
        "class": classify(error),
        "words": words_for_model(tool.meta.name, error),
        "after": retry_after(error),
        "retry": False,
    }
    if all(isinstance(leaf, NotFound) for leaf in found):
        texts = (text_of(leaf).strip() for leaf in found)
        said["not_found"] = " ".join(filter(None, texts))
    said["spent"] = any(isinstance(leaf, MemoryError) for leaf in found)
    if is_fatal(error, tool.stop_on):
        said["fatal"] = _fatal(error, found, tool.stop_on)
        if isinstance(error, SystemExit) and isinstance(error.code, int):
            said["code"] = error.code
    elif tool.meta.retry is not None:
        _decide(said, tool, error)

    return said


def _trace(error: BaseException) -> str:
    try:
        text = "".join(traceback.format_exception(error))
    except Exception:  # the author's own __str__ may raise anything
        return ""

    return text[-LONGEST:].encode(errors="replace").decode()


def _decide(said: dict[str, Any], tool: Loaded, error: BaseException) -> None:
    """
    Ask the author's own predicate, which knows the exception and not its description.
    """
    if tool.meta.retry is None:
        raise AssertionError("unreachable")
    try:
        said["retry"] = is_retryable(tool.meta.retry, error)
    except BaseException as failure:  # an author's predicate may raise anything
        if is_fatal(failure, tool.stop_on):
            said.update(described(tool, failure))
        else:
            said["undecided"] = ", ".join(type_names(failure))


def _fatal(
    error: BaseException,
    found: list[BaseException],
    stop_on: tuple[type[BaseException], ...],
) -> tuple[str, int]:
    """
    Name what leaves the client: a type of the host's own, or one of Python's.
    """
    for place, kind in enumerate(stop_on):
        if any(isinstance(one, kind) for one in (error, *found)):
            return "stop_on", place
    for place, kind in enumerate(_FATAL):
        if any(isinstance(leaf, kind) for leaf in found if is_fatal(leaf)):
            return "python", place

    raise AssertionError("unreachable")


def restored(
    said: dict[str, Any], stop_on: tuple[type[BaseException], ...]
) -> BaseException:
    """
    Return an exception of the host's own for what a worker said.
    """
    remote = RemoteError(
        type_names=said["types"],
        text=said["text"],
        traceback=said["trace"],
        error_class=said["class"],
        words=said["words"],
        retry_after=said["after"],
        retryable=said["retry"],
        undecided=said.get("undecided"),
    )
    error: BaseException = remote
    if "fatal" in said:
        whose, place = said["fatal"]
        kinds = stop_on if whose == "stop_on" else _FATAL
        error = _made(kinds[int(place)], said["text"], remote)
        if isinstance(error, SystemExit):
            error.code = said.get("code", said["text"])
    elif "not_found" in said:
        error = NotFound(said["not_found"])
    if error is not remote:
        error.__cause__ = remote

    return error


def _made(kind: type[BaseException], text: str, remote: RemoteError) -> BaseException:
    """
    Make an exception without calling what its author made of its constructor.
    """
    python: Any = next(base for base in kind.__mro__ if base.__module__ == "builtins")
    is_group = python in (BaseExceptionGroup, ExceptionGroup)
    given = (text, [remote]) if is_group else (text,)
    error: BaseException = python.__new__(kind, *given)
    error.args = given

    return error


def previous_of(error: BaseException | None) -> list[object] | None:
    """
    Say what ended the attempt before.
    """
    if error is None:
        return None
    text = error.text if isinstance(error, RemoteError) else text_of(error)

    return [type_names(error), text[:LONGEST], classify(error)]


def retold(said: list[Any]) -> RemoteError:
    """
    Return what a body may know of the attempt before.
    """
    names, text, error_class = said

    return RemoteError(type_names=names, text=text, error_class=error_class)


def shown(value: object) -> object:
    """
    Return what people can be shown of a progress that has no JSON form.
    """
    if value is None or (isinstance(value, (int, float)) and math.isfinite(value)):
        return value

    return whole_characters(str(value))[:LONGEST]


def not_loaded(tool: str, kind: str, text: str) -> ToolFailedError:
    """
    Return the error of a call whose tool no worker can run.
    """
    error = ToolFailedError(
        tool=tool,
        type_names=[kind],
        text=f"Tool {tool!r} was not run: it cannot be loaded in a worker process "
        f"({kind}).",
    )
    error.__cause__ = RemoteError(
        type_names=[kind], text=text, error_class="environment"
    )

    return error


def out_of_memory(tool: str, limit: int, error: MemoryError) -> ToolFailedError:
    """
    Return the error of a body that needed more memory than its engine gives.
    """
    failed = ToolFailedError(
        tool=tool,
        type_names=["MemoryError"],
        text=f"Tool {tool!r} needed more memory than the limit of {limit} bytes.",
    )
    failed.__cause__ = error.__cause__

    return failed


def too_much(tool: str) -> NotRunError:
    """
    Return the error of a call that is too large to be sent.
    """
    reason = (
        "its arguments and the client's state are larger than the "
        f"{MAX_FRAME} bytes that are sent to a worker process"
    )

    return NotRunError(tool=tool, reason=reason)


def batch_over(tool: str) -> NotRunError:
    """
    Return the error of a call whose batch ended while it waited for a worker.
    """
    reason = "the batch's time was over before its body began"

    return NotRunError(tool=tool, reason=reason)
