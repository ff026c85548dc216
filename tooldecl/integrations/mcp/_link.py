"""
The connection to a server, on a loop and a daemon thread of its own.

Invariants:

1. A connection is entered and left by one task, its keeper, as the SDK wants it.
2. One that was lost is not used again: the next call opens another, and calls that come
   meanwhile wait for that one.
3. A call that was cancelled before it was sent was never sent.
4. Whatever waits for the link when it is closed is told so, and what is being connected
   then is given up: nothing of a server that was started is left behind.
"""

from __future__ import annotations

import asyncio
import math
import threading

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, TypeAlias, TypeVar, final

from ... import ToolError
from ._calling import Caller, LinkLostError, Sending, closed_link, look_at_end
from ._forms import Work


if TYPE_CHECKING:
    from mcp.types import CallToolResult, Tool


T = TypeVar("T")
Connect: TypeAlias = Callable[[], AbstractAsyncContextManager[Caller]]

# How a connection can end that was not told to.
_ENDS = (Exception, asyncio.CancelledError, BaseExceptionGroup)


@final
class _Session:
    """
    One connection and the task that keeps it.
    """

    def __init__(self, connect: Connect, within: float) -> None:
        import anyio

        self._connect = connect
        self._within = within
        self._end = asyncio.Event()
        # A scope of the SDK's own kind: it keeps its hands off a server that is being
        # ended, where `Task.cancel` would leave the process behind.
        self._scope = anyio.CancelScope(deadline=anyio.current_time() + within)
        self.caller: asyncio.Future[Caller] = asyncio.get_running_loop().create_future()
        self.is_lost = False
        self.keeper = asyncio.create_task(self._keep())

    async def _keep(self) -> None:
        try:
            with self._scope:
                await self._stay()
            if not self.caller.done():
                self._tell(_no_connection(TimeoutError(), self._within))
        except _ENDS as error:
            self._tell(_no_connection(error, self._within))
        finally:
            self.is_lost = True

    async def _stay(self) -> None:
        async with self._connect() as caller:
            self._scope.deadline = math.inf
            if not self.caller.done():
                self.caller.set_result(caller)
            await self._end.wait()

    def _tell(self, error: ToolError) -> None:
        """
        Say to whoever waits for the connection that there is none.
        """
        if not self.caller.done():
            self.caller.set_exception(error)
            self.caller.exception()  # also where nobody waits for it any more

    def leave(self) -> None:
        """
        Use it no more, and have its keeper close it, also while it connects.
        """
        if not self.caller.done():
            self._scope.cancel()
            self._tell(closed_link())
        self.is_lost = True
        self._end.set()


def _no_connection(error: BaseException, within: float) -> ToolError:
    if isinstance(error, TimeoutError):
        why = f"it did not answer within {within:.4g} s"
    else:
        why = type(_leaf(error)).__name__
    lost = LinkLostError(
        f"The server of this tool cannot be reached ({why}). The call was not sent.",
        error_class="transient",
    )
    lost.__cause__ = error

    return lost


def _leaf(error: BaseException) -> BaseException:
    inner: tuple[BaseException, ...] = (error,)
    while inner:
        error = inner[0]
        inner = getattr(error, "exceptions", ())

    return error


@final
class OwnLink:
    """
    A connection that is made here, and made again once it is lost.

    Args:
        connect: Makes a connection; entered and left by one task.
        within: Seconds to connect, and to list the tools.
    """

    def __init__(self, connect: Connect, within: float) -> None:
        self._connect = connect
        self._within = within
        self._loop: asyncio.AbstractEventLoop | None = None
        self._session: _Session | None = None
        self._closed = False
        self._calls: set[asyncio.Task[CallToolResult]] = set()
        self._keepers: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(
            target=self._run, name="tooldecl-mcp", daemon=True
        )
        self._begun: Future[None] = Future()
        self._closing: asyncio.Event

    def start(self) -> Future[list[Tool]]:
        """
        Connect, and list the tools.
        """
        self._thread.start()
        self._begun.result()

        return self._on_loop(self._tools())

    def close(self) -> None:
        """
        Close the connection and end its thread; may be called twice.
        """
        self._closed = True
        if self._loop is not None:
            try:
                self._loop.call_soon_threadsafe(self._closing.set)
            except RuntimeError:  # it has ended
                pass
            self._thread.join()

    def submit(self, sending: Sending) -> Future[CallToolResult]:
        """
        Begin a call; cancelling the future cancels it at the server.

        Raises:
            LinkClosedError: The link is closed.
        """
        return self._on_loop(self._call(sending))

    def _on_loop(self, work: Work[T]) -> Future[T]:
        if self._loop is not None and not self._closed:
            try:
                return asyncio.run_coroutine_threadsafe(work, self._loop)
            except RuntimeError:  # it ended a moment ago
                pass
        work.close()
        raise closed_link()

    def _run(self) -> None:
        with asyncio.Runner() as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        self._closing = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._begun.set_result(None)
        await self._closing.wait()
        session = self._session
        if session is not None:
            # Its calls are told at once, and not when the server has been waited for.
            for task in self._calls:
                task.cancel()
            session.leave()
        if self._keepers:
            await asyncio.wait({*self._keepers})

    async def _tools(self) -> list[Tool]:
        session = self._current()
        caller = await asyncio.shield(session.caller)
        try:
            async with asyncio.timeout(self._within):
                return await caller.tools()
        except TimeoutError as error:
            raise _no_connection(error, self._within) from error

    async def _call(self, sending: Sending) -> CallToolResult:
        if (task := asyncio.current_task()) is not None:
            self._calls.add(task)
            task.add_done_callback(self._calls.discard)
            task.add_done_callback(look_at_end)
        session = self._current()
        try:
            caller = await asyncio.shield(session.caller)
            sending.sent()
            return await caller.call(
                sending.name, sending.arguments, sending.on_progress
            )
        except LinkLostError:
            session.leave()
            raise
        except asyncio.CancelledError:
            if self._closed:
                raise closed_link() from None
            raise

    def _current(self) -> _Session:
        if self._session is None or self._session.is_lost:
            self._session = _Session(self._connect, self._within)
            keeper = self._session.keeper
            self._keepers.add(keeper)
            keeper.add_done_callback(self._keepers.discard)

        return self._session
