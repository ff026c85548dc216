"""
Keep the standard streams for the protocol alone.

Invariants:

1. While they are kept, descriptor 0 is at its end and descriptor 1 is standard error, for
   this process and for every child of it: no print of a tool, of a C library or of a
   program that a tool starts gets onto the wire.
2. Only the two private duplicates lead to the wire, and no child inherits them.
3. What was printed before is sent where it was meant to go before the change, and what
   was printed meanwhile before the change back.
"""

from __future__ import annotations

import os
import sys

from collections.abc import Generator
from contextlib import contextmanager, redirect_stdout


@contextmanager
def kept() -> Generator[tuple[int, int], None, None]:
    """
    Yield descriptors to read from and to write to, which nobody else has.
    """
    flush_prints()
    reads, writes = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # standard error is closed
        os.dup2(nothing, 1)
    os.close(nothing)
    try:
        # At once, and not when the buffer of a stream that is no terminal is full.
        with redirect_stdout(sys.stderr):
            yield reads, writes
    finally:
        flush_prints()
        os.dup2(reads, 0)
        os.dup2(writes, 1)
        # Not closed: a thread may still wait for its turn to read or to write, and
        # whoever opened a file next would get its number.


def flush_prints() -> None:
    """
    Write what was printed and is still held back.
    """
    for stream in (sys.stdout, sys.__stdout__):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):  # it is closed, or nobody reads any more
            pass
