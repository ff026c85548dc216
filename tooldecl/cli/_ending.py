"""
A command that is told to end writes what it has, as after Ctrl-C.
"""

from __future__ import annotations

import contextlib
import signal

from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

from ._exits import Exit


# The second is what a terminal says to all that it started when it is closed.
_TOLD = {"SIGTERM": Exit.TERMINATED, "SIGHUP": Exit.HUNG_UP}


@contextmanager
def told_to_end() -> Generator[None, None, None]:
    """
    Let what tells a process to end interrupt what is inside, unless it is ignored.

    Raises:
        click.Abort: It came; with the exit code.
    """
    import click

    told: list[Exit] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        told.append(_TOLD[signal.Signals(number).name])
        handler = signal.getsignal(signal.SIGINT)
        if callable(handler):
            handler(signal.SIGINT, frame)
        else:  # a shell has its jobs in the background ignore it
            raise KeyboardInterrupt

    with contextlib.ExitStack() as stack:
        for name in _TOLD:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, interrupt)
                stack.callback(signal.signal, number, signal.SIG_DFL)
        try:
            yield
        except KeyboardInterrupt:
            if told:
                raise click.Abort(told[0]) from None
            raise
