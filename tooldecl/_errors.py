"""
What an exception of a tool means: its class, and whether it may be contained.

The matching page is docs/reference/errors.md.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import sys

from collections.abc import Iterator
from typing import Any

from .exceptions import (
    ERROR_CLASSES,
    EngineBusyError,
    ErrorClass,
    NotFound,
    RemoteError,
    ToolError,
    WorkerDiedError,
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
_TRANSIENT_SQLITE = frozenset({5, 6})  # BUSY, LOCKED
_ENVIRONMENT_SQLITE = frozenset(
    {3, 8, 13, 14, 23}
)  # PERM, READONLY, FULL, CANTOPEN, AUTH

# Of the standard library too, but not worth an import: by module and name.
_BY_NAME: dict[str, ErrorClass] = {
    "asyncio.exceptions.IncompleteReadError": "transient",
    "ftplib.error_temp": "transient",
    "http.client.IncompleteRead": "transient",
    "smtplib.SMTPAuthenticationError": "environment",
    "smtplib.SMTPServerDisconnected": "transient",
    "ssl.SSLEOFError": "transient",
    "ssl.SSLZeroReturnError": "transient",
    "subprocess.TimeoutExpired": "transient",
}

_MAX_CHAIN = 32

# Typed so that checkers do not narrow to groups of unknown things.
_GROUP: Any = BaseExceptionGroup


def is_fatal(
    error: BaseException, stop_on: tuple[type[BaseException], ...] = ()
) -> bool:
    """
    Whether *error* must leave the client as it is and never become a result.

    KeyboardInterrupt, MemoryError, what the host named, and every other exception
    outside of Exception; SystemExit and a cancellation born in the tool are contained.
    """
    if stop_on and isinstance(error, stop_on):
        return True
    if isinstance(error, _GROUP):
        return any(is_fatal(leaf, stop_on) for leaf in leaves(error))
    if isinstance(error, MemoryError):
        return True

    return not isinstance(error, (Exception, SystemExit, asyncio.CancelledError))


def leaves(error: BaseException) -> Iterator[BaseException]:
    """
    Yield the exceptions inside a group, at any depth, each once, in order; one that is
    no group is its own leaf.
    """
    seen: set[int] = set()
    pending = [error]
    while pending:
        current = pending.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        group: Any = current
        if isinstance(group, _GROUP):
            pending.extend(reversed(group.exceptions))
        else:
            yield current


def is_finding(error: BaseException) -> bool:
    """
    Whether a body that raised *error* ran well and found nothing.
    """
    return all(isinstance(leaf, NotFound) for leaf in leaves(error))


def causes(error: BaseException) -> Iterator[BaseException]:
    """
    Yield *error* and what it was raised from, the nearest first.
    """
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen and len(seen) < _MAX_CHAIN:
        seen.add(id(current))
        yield current
        current = current.__cause__ or _reason(current)


def _reason(error: BaseException) -> BaseException | None:
    """
    Return what urllib's URLError wraps.
    """
    if not isinstance(error, _known("urllib.error", "URLError")):
        return None
    reason: object = getattr(error, "reason", None)

    return reason if isinstance(reason, BaseException) else None


def _known(module: str, name: str) -> Any:
    """
    Return a type of a module that somebody has imported, else no types.
    """
    return getattr(sys.modules.get(module), name, ())


def classify(error: BaseException) -> ErrorClass:
    """
    Return what kind of failure *error* is.

    A class given by the author wins, anywhere along ``__cause__``; then the table of
    standard exceptions; else it is semantic. A group is transient only where all its
    leaves are, and environment where one is.
    """
    try:
        return _classify(error, set())
    except Exception:  # what is read of an exception may be code of its author
        return "semantic"


def _classify(error: BaseException, opened: set[int]) -> ErrorClass:
    chain = list(causes(error))
    for cause in chain:
        if isinstance(cause, ToolError) and cause.error_class in ERROR_CLASSES:
            return cause.error_class
    for cause in chain:
        if isinstance(cause, _GROUP):
            if id(cause) not in opened:
                opened.add(id(cause))
                return _of_group(cause, opened)
        elif found := _standard(cause):
            return found

    return "semantic"


def _of_group(group: BaseException, opened: set[int]) -> ErrorClass:
    classes = {_classify(leaf, opened) for leaf in leaves(group)}
    if "environment" in classes:
        return "environment"

    return "transient" if classes == {"transient"} else "semantic"


def _standard(error: BaseException) -> ErrorClass | None:
    """
    Look one exception of the standard library up.
    """
    if isinstance(error, RemoteError):
        return error.error_class
    if isinstance(error, (EngineBusyError, WorkerDiedError)):
        return "transient"
    if isinstance(error, (PermissionError, ImportError)):
        return "environment"
    if isinstance(
        error, (ConnectionError, TimeoutError, socket.gaierror, socket.herror)
    ):
        return "transient"
    for kind in type(error).__mro__:
        if found := _BY_NAME.get(f"{kind.__module__}.{kind.__qualname__}"):
            return found
    if (status := _http_status(error)) is not None:
        return _looked_up(status, _TRANSIENT_HTTP, _ENVIRONMENT_HTTP)
    if (code := _sqlite_code(error)) is not None:
        return _looked_up(code, _TRANSIENT_SQLITE, _ENVIRONMENT_SQLITE)
    if isinstance(error, OSError) and isinstance(error.errno, int):
        return _looked_up(error.errno, _TRANSIENT_ERRNOS, _ENVIRONMENT_ERRNOS)

    return None


def _looked_up(
    code: int, transient: frozenset[int], environment: frozenset[int]
) -> ErrorClass | None:
    if code in transient:
        return "transient"

    return "environment" if code in environment else None


def _http_status(error: BaseException) -> int | None:
    """
    Return the status of urllib's HTTPError.
    """
    if not isinstance(error, _known("urllib.error", "HTTPError")):
        return None
    code: object = getattr(error, "code", None)

    return code if isinstance(code, int) else None


def _sqlite_code(error: BaseException) -> int | None:
    """
    Return SQLite's own code for an error, without what it says in detail.
    """
    if not isinstance(error, _known("sqlite3", "Error")):
        return None
    code: object = getattr(error, "sqlite_errorcode", None)

    return code & 0xFF if isinstance(code, int) else None


def retry_after(error: BaseException) -> float | None:
    """
    Return the seconds that a server asked to be left alone for, or None.
    """
    answers = _known("urllib.error", "HTTPError")
    asked: list[float] = []
    for leaf in leaves(error):
        for cause in causes(leaf):
            if isinstance(cause, RemoteError) and cause.retry_after is not None:
                asked.append(cause.retry_after)
            if isinstance(cause, answers):
                headers: Any = getattr(cause, "headers", None) or {}
                value = headers.get("Retry-After")
                if isinstance(value, str) and value.isascii() and value.isdigit():
                    asked.append(float(value[:9]))

    return max(asked, default=None)
