"""
Start the threads and run the loops that bodies run on, whatever comes in between.
"""

from __future__ import annotations

import asyncio
import os
import selectors
import sys
import threading

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar, final

from ._abandoned import forget_task


# Seconds that tasks which a tool left on a loop have to end with it.
CLOSE_SECONDS = 1.0

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
        future.set_running_or_notify_cancel()

        def run() -> None:
            _HELPING.add(future)
            try:
                value = fn(*args, **kwargs)
            except BaseException as error:  # it is told to whoever waits for it
                future.set_exception(error)
            else:
                future.set_result(value)
            finally:
                _HELPING.discard(future)

        start_thread(threading.Thread(target=run, name="tooldecl-helper", daemon=True))

        return future


_HELPING: set[object] = set()
os.register_at_fork(after_in_child=_HELPING.clear)


def has_bodies() -> bool:
    """
    Whether a function that a body has handed on runs, whatever became of the body.
    """
    return bool(_HELPING)


def new_loop() -> asyncio.AbstractEventLoop:
    """
    Make an event loop that never keeps the interpreter from ending.
    """
    loop = _made()
    loop.set_default_executor(DaemonExecutor())

    return loop


def _made() -> asyncio.AbstractEventLoop:
    """
    Make a loop; one that there are no descriptors for is closed, whole or in part.
    """
    if sys.platform == "win32":
        return asyncio.new_event_loop()
    selector = selectors.DefaultSelector()
    try:
        return asyncio.SelectorEventLoop(selector)
    except OSError:
        selector.close()
        raise


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


def wind_up(loop: asyncio.AbstractEventLoop) -> None:
    """
    Cancel what was left on *loop*, and give it a moment to end.

    Unlike `asyncio.Runner` this starts no thread: the interpreter may be ending.
    """
    leftovers = asyncio.all_tasks(loop)
    for task in leftovers:
        task.cancel()
    if leftovers:
        waiting = asyncio.wait(leftovers, timeout=CLOSE_SECONDS)
        _, refusing = loop.run_until_complete(waiting)
        for task in refusing:
            forget_task(task)
    loop.run_until_complete(loop.shutdown_asyncgens())
