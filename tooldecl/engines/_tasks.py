"""
Run calls at once as tasks of the running loop, a number of them at a time.

The invariants are those of `_window`.
"""

from __future__ import annotations

import asyncio

from collections.abc import Awaitable, Callable, Sequence

from .._calls import ToolResult
from .._runtime import Incoming
from ._queue import END_SECONDS, Queue


async def arun_window(
    calls: Sequence[Incoming],
    run: Callable[[Incoming], Awaitable[ToolResult]],
    width: int,
) -> list[ToolResult]:
    """
    Run *calls* as tasks of the running loop; as `run_window`.
    """
    for call in calls:
        call.apart = True
    if width == 1 or len(calls) == 1:
        return [await run(call) for call in calls]
    queue = Queue(calls)
    results: dict[int, ToolResult] = {}
    running: dict[asyncio.Task[ToolResult | BaseException], Incoming] = {}
    # Not asyncio.wait(), which looks at all of them whenever one has ended.
    over: asyncio.Queue[asyncio.Task[ToolResult | BaseException]] = asyncio.Queue()
    try:
        while True:
            while len(running) < width:
                claimed = queue.claim()
                if claimed is None:
                    break
                task = asyncio.create_task(_contained(run, claimed))
                task.add_done_callback(over.put_nowait)
                running[task] = claimed
            if not running:
                break
            task = await over.get()
            queue.ended(call := running.pop(task))
            results[id(call)] = _result_of(task)
    except BaseException as error:
        for task in running:
            task.cancel()
        # What is thrown away itself may not wait any more.
        if running and not isinstance(error, GeneratorExit):
            await asyncio.wait(running, timeout=END_SECONDS)
        raise

    return [results[id(call)] for call in calls]


def _result_of(task: asyncio.Task[ToolResult | BaseException]) -> ToolResult:
    outcome = task.result()
    if isinstance(outcome, BaseException):
        raise outcome

    return outcome


async def _contained(
    run: Callable[[Incoming], Awaitable[ToolResult]], call: Incoming
) -> ToolResult | BaseException:
    """
    Return what means stop: asyncio lets some of it out of the loop, past its caller.
    """
    try:
        return await run(call)
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return error
