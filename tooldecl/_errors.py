"""
What an exception of a tool means: its class, whether it may be contained, its texts.

The matching page is docs/reference/errors.md.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import sys

from collections.abc import Iterator

from .exceptions import (
    ERROR_CLASSES,
    CallError,
    EngineBusyError,
    ErrorClass,
    ToolError,
    ToolFailedError,
    ToolTimeoutError,
)


_TRANSIENT_ERRNOS = frozenset(
    {
        errno.EAGAIN,
        errno.ECONNABORTED,
        errno.ECONNREFUSED,
        errno.ECONNRESET,
        errno.EHOSTDOWN,
        errno.EHOSTUNREACH,
        errno.EINTR,
        errno.ENETDOWN,
        errno.ENETRESET,
        errno.ENETUNREACH,
        errno.EPIPE,
        errno.ETIMEDOUT,
    }
)
_ENVIRONMENT_ERRNOS = frozenset(
    {errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EROFS}
)
_TRANSIENT_HTTP = frozenset({408, 425, 429, 500, 502, 503, 504})
_ENVIRONMENT_HTTP = frozenset({401, 403, 407})
_TRANSIENT_SQLITE = frozenset({5, 6})  # SQLITE_BUSY, SQLITE_LOCKED

_MAX_CHAIN = 32


def is_fatal(
    error: BaseException, stop_on: tuple[type[BaseException], ...] = ()
) -> bool:
    """
    Whether *error* must leave the client as it is and never become a result.

    KeyboardInterrupt, MemoryError, what the host named, and every other exception
    outside of Exception; SystemExit and a cancellation born in the tool are contained.
    """
    if isinstance(error, BaseExceptionGroup):
        return any(is_fatal(leaf, stop_on) for leaf in leaves(error))
    if isinstance(error, MemoryError) or (stop_on and isinstance(error, stop_on)):
        return True

    return not isinstance(error, (Exception, SystemExit, asyncio.CancelledError))


def leaves(error: BaseException) -> Iterator[BaseException]:
    """
    Yield the exceptions inside a group, at any depth; one that is no group is its own leaf.
    """
    if isinstance(error, BaseExceptionGroup):
        group: BaseExceptionGroup[BaseException] = error
        for inner in group.exceptions:
            yield from leaves(inner)
    else:
        yield error


def classify(error: BaseException) -> ErrorClass:
    """
    Return what kind of failure *error* is.

    A class given by the author wins, anywhere along ``__cause__``; then the table of
    standard exceptions; else it is semantic. A group is transient only where all its
    leaves are, and environment where one is.
    """
    explicit = _explicit(error)
    if explicit is not None:
        return explicit
    classes = {_explicit(leaf) or _by_table(leaf) for leaf in leaves(error)}
    if "environment" in classes:
        return "environment"

    return "transient" if classes == {"transient"} else "semantic"


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen and len(seen) < _MAX_CHAIN:
        seen.add(id(current))
        yield current
        current = current.__cause__


def _explicit(error: BaseException) -> ErrorClass | None:
    for cause in _causes(error):
        if isinstance(cause, ToolError) and cause.error_class in ERROR_CLASSES:
            return cause.error_class

    return None


def _by_table(error: BaseException) -> ErrorClass:
    for cause in _causes(error):
        found = _standard(cause)
        if found is not None:
            return found

    return "semantic"


def _standard(error: BaseException) -> ErrorClass | None:
    """
    Look one exception of the standard library up.
    """
    if isinstance(error, EngineBusyError):
        return "transient"
    if isinstance(error, (PermissionError, ImportError)):
        return "environment"
    if isinstance(error, (ConnectionError, TimeoutError, socket.gaierror, socket.herror)):
        return "transient"
    status = _http_status(error)
    if status is not None:
        if status in _TRANSIENT_HTTP:
            return "transient"
        return "environment" if status in _ENVIRONMENT_HTTP else None
    if getattr(error, "sqlite_errorcode", None) in _TRANSIENT_SQLITE:
        return "transient"
    if isinstance(error, OSError):
        reason = getattr(error, "reason", None)  # urllib.error.URLError wraps one
        if isinstance(reason, BaseException) and reason is not error:
            return _standard(reason)
        if error.errno in _TRANSIENT_ERRNOS:
            return "transient"
        if error.errno in _ENVIRONMENT_ERRNOS:
            return "environment"

    return None


def _http_status(error: BaseException) -> int | None:
    """
    Return the status of urllib's HTTPError, without importing urllib for it.
    """
    module = sys.modules.get("urllib.error")
    if module is not None and isinstance(error, module.HTTPError):
        code: object = getattr(error, "code", None)
        return code if isinstance(code, int) else None

    return None


def failed(tool: str, error: BaseException, attempts: int) -> ToolFailedError:
    """
    Wrap what a body raised: a text for the model, the exception itself for the host.
    """
    wrapped = ToolFailedError(
        tool=tool,
        type_names=tuple(dict.fromkeys(type(leaf).__name__ for leaf in leaves(error))),
        text=_text_for_model(tool, error),
        attempts=attempts,
    )
    wrapped.__cause__ = error

    return wrapped


def _text_for_model(tool: str, error: BaseException) -> str | None:
    """
    Return the author's own words for the model, if there are any that may be shown.
    """
    if isinstance(error, SystemExit):
        code = 0 if error.code is None else error.code
        shown = code if isinstance(code, int) else "a message"
        return f"Tool {tool!r} tried to end the program, with exit code {shown}."
    if isinstance(error, asyncio.CancelledError):
        return f"Tool {tool!r} failed: something it waited for was cancelled."
    texts = [str(e) for e in leaves(error) if isinstance(e, ToolError) and str(e)]

    return " ".join(texts) or None


def error_class_of(error: CallError) -> ErrorClass | None:
    """
    Return the class of a call that ended with *error*.
    """
    if isinstance(error, ToolTimeoutError):
        return "transient"
    if isinstance(error, ToolFailedError) and error.__cause__ is not None:
        return classify(error.__cause__)
    if isinstance(error, EngineBusyError):
        return "transient"

    return "semantic"
