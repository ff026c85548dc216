"""
Start the threads and run the loops that bodies run on, whatever comes in between.
"""

from __future__ import annotations

import asyncio
import sys
import threading


class NoThreadError(Exception):
    """
    The system gives no further thread, or no loop to run on it; nothing was run.
    """


def start_thread(thread: threading.Thread) -> None:
    """
    Start *thread*.

    Raises:
        NoThreadError: The system gives no further thread.
    """
    handled = sys.exception()
    try:
        thread.start()
    except RuntimeError as error:
        # Interrupted while it waits for the thread, it fails at its own clean-up, and
        # the KeyboardInterrupt is only the context of that.
        cause = error.__context__
        if cause is not None and cause is not handled:
            raise cause from None
        raise NoThreadError(str(error)) from error


def run_loop(loop: asyncio.AbstractEventLoop) -> None:
    """
    Run *loop* until it is stopped, or until a task that a tool has made asks for the end.

    Asyncio lets SystemExit and KeyboardInterrupt of any task out of the loop; whoever
    awaits that task gets them as well, once the loop runs on.
    """
    try:
        loop.run_forever()
    except (SystemExit, KeyboardInterrupt):
        pass
