"""
The ways on which an attempt leaves this process.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import NamedTuple, Protocol, TypeAlias, final

from ._errand import SHOP, run_errand


# By their places: importing the classes would bring all of multiprocessing with them.
_HONEST = ("concurrent.futures.thread", "concurrent.futures.process")

# By one an executor says that it is shut down or broken, and has taken nothing.
_REFUSAL = RuntimeError

# Told how far a body is, on any thread.
Tell: TypeAlias = Callable[[float, float | None, str | None], None]


class NotTakenError(Exception):
    """
    An attempt was not run, and never will be.
    """


class Dispatched(NamedTuple):
    """
    An attempt that is on its way.

    Attributes:
        answer: Its envelope.
        end: Asks for its end, without waiting for it; may be called twice.
        is_honest: Whether an answer that is cancelled says that it never begins.
    """

    answer: Future[bytes]
    end: Callable[[], None]
    is_honest: bool = True


class Transport(Protocol):
    """
    What brings attempts to where they run, and envelopes back.
    """

    @property
    def name(self) -> str:
        """
        What it is called in the reason of a refusal.
        """
        ...

    @property
    def end_seconds(self) -> float:
        """
        Seconds in which a call that was asked to end is heard of; 0 makes no promise.
        """
        ...

    @property
    def closed(self) -> bool:
        """
        Whether it was closed, and has ended what it had.
        """
        ...

    def join(self, user: object) -> None:
        """
        Note that a client uses it.
        """
        ...

    def leave(self, user: object) -> None:
        """
        Note that a client sends nothing more; may be called twice.
        """
        ...

    async def aleave(self, user: object) -> None:
        """
        The same from async code, without holding the loop.
        """
        ...

    def prepare(self, within: float | None) -> None:
        """
        Wait until it can send.

        Raises:
            NotTakenError: It cannot.
        """
        ...

    async def aprepare(self, within: float | None) -> None:
        """
        The same from async code, without holding the loop.
        """
        ...

    def send(
        self, parcel: bytes, token: str, tool: str, tell: Tell | None, /
    ) -> Dispatched:
        """
        Send an attempt.

        Args:
            parcel: The attempt, for `run_errand` or what is like it.
            token: Its name.
            tool: The name of its tool.
            tell: Told how far the body is; None where nobody listens.

        Raises:
            NotTakenError: Nobody takes it.
        """
        ...


@final
class ExecutorTransport:
    """
    A foreign executor, which only places calls.

    Args:
        executor: Takes them; it is not closed here.
    """

    __slots__ = ("executor",)

    name = "executor"
    end_seconds = 0.0
    closed = False

    def __init__(self, executor: Executor) -> None:
        self.executor = executor

    def join(self, user: object) -> None:
        """
        Keep the workers of this process, which errands on its threads may use.
        """
        SHOP.join_here(user)

    def leave(self, user: object) -> None:
        """
        Let go of them.
        """
        SHOP.pool.leave(user)

    async def aleave(self, user: object) -> None:
        """
        The same from async code.
        """
        await SHOP.pool.aleave(user)

    def prepare(self, within: float | None) -> None:
        """
        Wait for nothing.
        """

    async def aprepare(self, within: float | None) -> None:
        """
        Wait for nothing.
        """

    def send(
        self, parcel: bytes, token: str, _tool: str, _tell: Tell | None, /
    ) -> Dispatched:
        """
        Hand an attempt to the executor.
        """
        honest = type(self.executor).__module__ in _HONEST
        SHOP.expect(token)
        try:
            future = self.executor.submit(run_errand, parcel)
            future.add_done_callback(lambda _: SHOP.end(token))
        except Exception as error:  # an executor of anybody's
            if SHOP.forget(token) or not (honest or isinstance(error, _REFUSAL)):
                SHOP.stop(token)  # where it runs here, nobody wants it any more
                SHOP.end(token)
                return Dispatched(_failed(error), _nothing)
            kind = type(error).__name__
            raise NotTakenError(f"its executor takes no more calls ({kind})") from error
        finally:
            SHOP.forget(token)

        def end() -> None:
            SHOP.stop(token)
            if honest:
                future.cancel()

        return Dispatched(future, end, is_honest=honest)


def _failed(error: Exception) -> Future[bytes]:
    """
    Return the answer of an executor that may have taken a call before it failed.
    """
    future: Future[bytes] = Future()
    future.set_exception(error)

    return future


def _nothing() -> None:
    """
    Ask nobody.
    """
