"""
The end of a server that is told to end, as by Ctrl-C: in order, and within bounds.
"""

from __future__ import annotations

import asyncio

from collections.abc import Callable
from typing import TYPE_CHECKING

from ._forms import Work


if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


# More than `CANCEL_SECONDS`, which a call has for its end.
END_SECONDS = 6.0


async def run_until_told(work: Work[None], end: Callable[[], object]) -> None:
    """
    Run *work*; where the task is cancelled, let it end by itself, and see its end.

    Cancelled in the midst of it, a server of the SDK fails on its own streams, and one
    of uvicorn logs that it was cancelled.

    Args:
        work: What serves.
        end: Lets it end.
    """
    task = asyncio.create_task(work)
    task.add_done_callback(_read)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        end()
        await asyncio.wait({task}, timeout=END_SECONDS)
        task.cancel()  # a client that takes no answers would keep it
        await asyncio.wait({task}, timeout=END_SECONDS)
        raise


def _read(task: asyncio.Task[None]) -> None:
    """
    Read the exception of a task, or asyncio would log that nobody has.
    """
    if not task.cancelled():
        task.exception()


def quiet_at_the_end(app: ASGIApp, is_told: Callable[[], bool]) -> ASGIApp:
    """
    Return an application whose requests that are cut off at the end raise nothing.

    It is no error that a request is cancelled then; uvicorn would log its traceback.

    Args:
        app: The application.
        is_told: Whether the server is told to end.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await app(scope, receive, send)
        except asyncio.CancelledError:
            if not is_told():
                raise

    return answer
