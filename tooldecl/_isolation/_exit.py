"""
Let the interpreter end while bodies still run on daemon threads.

Invariants:

1. Nothing here waits for a body, nor for a lock that a body may hold.
2. Where no body runs any more, nothing is changed.
"""

from __future__ import annotations

import atexit
import select
import sys

from typing import TextIO

from . import _abandoned, _loops, _threads


def _leave_streams_alone() -> None:
    """
    Keep a body that prints from aborting the interpreter's exit.

    A daemon thread that is stopped inside ``print`` holds the lock of the stream's
    buffer for good; the interpreter then aborts when it flushes that stream at its
    end. So flush now, while threads still run, and leave the interpreter nothing to
    flush. A stream whose reader does not read is not flushed: that would wait for ever.
    """
    if not (
        _threads.has_bodies() or _loops.has_bodies() or _abandoned.has_bodies()
    ):
        return

    import ctypes

    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name)
        for attribute in (name, f"__{name}__"):
            kept = getattr(sys, attribute)
            if kept is not None:
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
        if stream is not None and _takes_text(stream):
            try:
                stream.flush()
            except (OSError, ValueError):
                pass
        setattr(sys, name, None)
        setattr(sys, f"__{name}__", None)


def _takes_text(stream: TextIO) -> bool:
    try:
        return bool(select.select([], [stream.fileno()], [], 0)[1])
    except (OSError, ValueError):
        return True


atexit.register(_leave_streams_alone)
