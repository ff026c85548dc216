"""
Serve over the standard streams of this process.

A line is read and written by a daemon thread: the end of the process waits for no client
that sends nothing or takes nothing.
"""

from __future__ import annotations

import asyncio
import os
import queue
import select
import sys
import threading

from collections.abc import AsyncGenerator, Callable
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeAlias, final

from ... import ToolClient
from ._descriptors import kept
from ._ends import run_until_told
from ._forms import Work
from ._needed import check_installed
from ._server import NAME, server


if TYPE_CHECKING:
    from anyio.streams.memory import (
        MemoryObjectReceiveStream,
        MemoryObjectSendStream,
    )
    from mcp.shared.message import SessionMessage

    from ._forms import Served

    Read: TypeAlias = SessionMessage | Exception


def serve_stdio(
    client: ToolClient | Callable[[], ToolClient],
    *,
    name: str = NAME,
    version: str = "",
    instructions: str | None = None,
    deps: object = None,
) -> None:
    """
    Serve a client over standard input and output, until the input ends.

    Meanwhile whatever is printed, also by C code and by programs that tools start, goes
    to standard error, and whatever reads standard input finds its end. A request that
    is still running when the input ends is cancelled. It is such an end as well that
    nobody reads the output any more. Ctrl-C is one too, and is raised then as anywhere
    else.

    Args:
        client: Whose tools are served, or a function that makes it: what that prints
            goes to standard error as well. It stays open.
        name: What the server calls itself.
        version: Its version; where neither is given, that of tooldecl.
        instructions: What a model should know about the server as a whole.
        deps: The host's own object for ``ToolContext.deps``, the same in every call.

    Raises:
        ModuleNotFoundError: The SDK is not installed.
        TypeError: It is no client, or none was made, or what should be a text is none.
        ValueError: A tool of the client is external.
    """
    check_installed()
    with kept() as (reads, writes):
        given = client if isinstance(client, ToolClient) else _made(client)
        served = server(
            given, name=name, version=version, instructions=instructions, deps=deps
        )
        asyncio.run(_serve(served, reads, writes))


def _made(make: Callable[[], ToolClient]) -> ToolClient:
    if not callable(make):
        kind = type(make).__name__
        raise TypeError(f"A ToolClient is served, got {kind}.")

    return make()


async def _serve(served: Served, reads: int, writes: int) -> None:
    async with _streams(reads, writes) as (reading, writing, end):
        options = served.create_initialization_options()
        await run_until_told(served.run(reading, writing, options), end)


@asynccontextmanager
async def _streams(
    reads: int, writes: int
) -> AsyncGenerator[
    tuple[
        MemoryObjectReceiveStream[Read],
        MemoryObjectSendStream[SessionMessage],
        Callable[[], None],
    ],
    None,
]:
    """
    Make streams of messages from two descriptors, and what ends the input early.
    """
    import anyio

    from mcp.shared.message import SessionMessage

    sending, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writing, taking = anyio.create_memory_object_stream[SessionMessage](0)
    loop = asyncio.get_running_loop()
    reader = threading.Thread(
        target=_read, args=(reads, sending, loop), name="tooldecl-mcp-in", daemon=True
    )
    writer = asyncio.create_task(_write(_Writer(writes), taking, sending.close))
    reader.start()
    _tell_when_unread(writes, loop, sending.close)
    try:
        yield reading, writing, sending.close
        writing.close()
        await writer  # what was accepted is written
    finally:
        writer.cancel()
        reading.close()
        writing.close()
        taking.close()
        sending.close()


def _read(
    descriptor: int,
    sending: MemoryObjectSendStream[Read],
    loop: asyncio.AbstractEventLoop,
) -> None:
    """
    Read lines until there are no more; each is taken before the next is read.
    """
    from mcp.shared.message import SessionMessage
    from mcp.types import jsonrpc_message_adapter

    with os.fdopen(descriptor, "rb", closefd=False) as lines:
        for line in lines:
            read: Read
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                read = SessionMessage(message)
            except ValueError as error:
                read = error
            if not _told(loop, sending.send(read)):
                return
    _told(loop, sending.aclose())


def _tell_when_unread(
    descriptor: int, loop: asyncio.AbstractEventLoop, end: Callable[[], None]
) -> None:
    """
    Call *end* once the other end of a pipe is closed, also where nothing is written.

    Where the system cannot tell (on Windows), the next answer finds it.
    """
    if sys.platform == "win32":
        return
    waiting = select.poll()
    waiting.register(descriptor, 0)  # an error and a hang-up are told all the same

    def wait() -> None:
        waiting.poll()
        try:
            loop.call_soon_threadsafe(end)
        except RuntimeError:  # it is closed
            pass

    threading.Thread(target=wait, name="tooldecl-mcp-unread", daemon=True).start()


def _told(loop: asyncio.AbstractEventLoop, work: Work[None]) -> bool:
    """
    Run something on the loop and wait for it; False when nobody is there any more.
    """
    from anyio import BrokenResourceError, ClosedResourceError

    gone = (RuntimeError, CancelledError, BrokenResourceError, ClosedResourceError)
    try:
        asyncio.run_coroutine_threadsafe(work, loop).result()
    except gone:  # the server has ended, and perhaps its loop with it
        work.close()
        return False

    return True


async def _write(
    writer: _Writer,
    taking: MemoryObjectReceiveStream[SessionMessage],
    end: Callable[[], None],
) -> None:
    """
    Write messages as they come; once nobody reads them, take them all the same, and end
    the input: whoever has gone wants no more answers.
    """
    gone = False
    async for message in taking:
        text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
        try:
            if not gone:
                await writer.write(f"{text}\n".encode())
        except OSError:
            gone = True
            end()


@final
class _Writer:
    """
    Writes to a descriptor from a thread of its own: a client that reads nothing holds
    that thread, and not the loop.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._jobs: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = (
            queue.SimpleQueue()
        )
        threading.Thread(target=self._run, name="tooldecl-mcp-out", daemon=True).start()

    async def write(self, data: bytes) -> None:
        """
        Write all of *data*.

        Raises:
            OSError: Nobody reads it.
        """
        done: asyncio.Future[None] = self._loop.create_future()
        self._jobs.put((data, done))
        await done

    def _run(self) -> None:
        while True:
            data, done = self._jobs.get()
            error = self._write_all(data)
            try:
                self._loop.call_soon_threadsafe(_settle, done, error)
            except RuntimeError:  # its loop is closed
                return

    def _write_all(self, data: bytes) -> OSError | None:
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError as error:
            return error

        return None


def _settle(done: asyncio.Future[None], error: OSError | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)
