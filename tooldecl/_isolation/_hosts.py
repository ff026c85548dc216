"""
Start the threads and run the loops that bodies run on, whatever comes in between.
"""

from __future__ import annotations

import asyncio
import sys
import threading

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar, final


T = TypeVar("T")


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


@final
class DaemonExecutor(ThreadPoolExecutor):
    """
    Runs what a body hands to its loop's default executor, as ``asyncio.to_thread`` does.

    Each function gets a daemon thread of its own: the interpreter waits for the threads
    of a pool, also for one whose call was answered long ago.
    """

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                value = fn(*args, **kwargs)
            except BaseException as error:  # it is told to whoever waits for it
                future.set_exception(error)
            else:
                future.set_result(value)

        start_thread(threading.Thread(target=run, name="tooldecl-helper", daemon=True))

        return future


def new_loop() -> asyncio.AbstractEventLoop:
    """
    Make an event loop that never keeps the interpreter from ending.
    """
    loop = asyncio.new_event_loop()
    loop.set_default_executor(DaemonExecutor())

    return loop


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
