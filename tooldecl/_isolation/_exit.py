"""
Let the interpreter end while bodies still run on daemon threads.

Invariants:

1. Nothing here waits for a body, nor for a lock that a body may hold.
2. No body is run by the end itself: what was abandoned is not collected any more.
3. Where no body runs, nothing is changed.
4. Little is done that lets go of the interpreter's lock: a body that prints in a loop
   takes its time to give it back. So nothing is imported here.
"""

from __future__ import annotations

import atexit
import gc
import io
import logging
import select
import sys

from collections.abc import Iterable
from typing import Any, TextIO

from . import _abandoned, _hosts, _loops, _threads


# Seconds to wait for a log handler that a body is using, but does not hold for good.
HANDLER_SECONDS = 0.1


def _let_go() -> None:
    """
    Leave running bodies behind, last thing before the interpreter takes itself apart.
    """
    tasks = _abandoned.forgotten_tasks()
    if tasks:
        _keep_for_good(tasks)
    if any(where.has_bodies() for where in (_threads, _loops, _hosts, _abandoned)):
        _shut_logging_down()
        _leave_streams_alone()


def _keep_for_good(objects: Iterable[object]) -> None:
    """
    Put *objects* out of everybody's reach: into a cycle that no collector looks at.
    """
    kept = list(objects)
    kept.append(kept)
    gc.freeze()


def _shut_logging_down() -> None:
    """
    Do what logging does at its end, except for handlers that a body may hold for good.
    """
    atexit.unregister(logging.shutdown)
    references: list[Any] = getattr(logging, "_handlerList", [])
    for reference in reversed(references):
        handler = reference()
        if handler is not None and _taken(handler):
            logging.shutdown([reference])


def _taken(handler: logging.Handler) -> bool:
    """
    Take a handler from the bodies, so that none of them can block in it from now on.
    """
    lock = handler.lock
    if lock is not None and not lock.acquire(timeout=HANDLER_SECONDS):
        return False

    return _takes_text(getattr(handler, "stream", None))


def _leave_streams_alone() -> None:
    """
    Keep a body that prints from aborting the interpreter's exit.

    A daemon thread that is stopped inside ``print`` holds the lock of the stream's
    buffer for good; the interpreter then aborts when it flushes that stream at its
    end. So flush now, while threads still run, and leave the interpreter a stream without
    a buffer, for whoever prints at the exit. A stream whose reader does not read is not
    flushed and not replaced: that would wait for ever.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        _keep_for_good([stream, getattr(sys, f"__{name}__")])
        setattr(sys, name, None)
        setattr(sys, f"__{name}__", None)
        if stream is not None and _takes_text(stream):
            try:
                stream.flush()
            except (OSError, ValueError):
                pass
            setattr(sys, name, _without_buffer(stream))


def _without_buffer(stream: Any) -> TextIO | None:
    """
    Return a stream to the same file that holds no lock while it writes.
    """
    try:
        raw = io.FileIO(stream.fileno(), "w", closefd=False)
        encoding, errors = stream.encoding, stream.errors
    except (AttributeError, OSError, ValueError):
        return None

    binary: Any = raw  # the wrapper takes a raw stream, its stub a buffered one only

    return io.TextIOWrapper(
        binary, encoding=encoding, errors=errors, write_through=True
    )


def _takes_text(stream: Any) -> bool:
    """
    Whether writing to *stream* blocks nobody; what is no file never does.
    """
    try:
        return bool(select.select([], [stream.fileno()], [], 0)[1])
    except (AttributeError, OSError, ValueError):
        return True


atexit.register(_let_go)
