"""
The SDK's clients of a model: the caller's own, or made here.

One of an SDK's async clients belongs to the event loop in which it was first used, so
each loop gets its own.
"""

from __future__ import annotations

import asyncio
import threading

from collections.abc import Callable
from typing import Any, Generic, TypeVar, final
from weakref import WeakKeyDictionary


S = TypeVar("S")
A = TypeVar("A")


@final
class Clients(Generic[S, A]):
    """
    The clients that a model speaks through; safe to use from any thread.

    Args:
        make: Makes a client for sync code.
        amake: Makes one for async code.
        given: The caller's client for sync code, or None.
        agiven: The caller's client for async code, or None.
    """

    def __init__(
        self,
        make: Callable[[], S],
        amake: Callable[[], A],
        given: S | None = None,
        agiven: A | None = None,
    ) -> None:
        self._amake = amake
        self._lock = threading.Lock()
        self._given, self._agiven = given, agiven
        self._is_given = given is not None or agiven is not None
        self._make = make
        # Made at once, so that a missing key is known here and not in the first turn.
        self._made = None if self._is_given else make()
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, A] = (
            WeakKeyDictionary()
        )

    def sync(self) -> S:
        """
        Return the client for sync code.

        Raises:
            TypeError: The caller gave one for async code alone.
        """
        if self._given is not None:
            return self._given
        if self._is_given:
            raise TypeError(
                "This model was given an async client alone; give it client=... too, "
                "to ask it from sync code."
            )
        with self._lock:
            if self._made is None:
                self._made = self._make()

            return self._made

    def running(self) -> A:
        """
        Return the client for the running loop.

        Raises:
            TypeError: The caller gave one for sync code alone.
        """
        if self._agiven is not None:
            return self._agiven
        if self._is_given:
            raise TypeError(
                "This model was given a sync client alone; give it async_client=... "
                "too, to ask it from async code."
            )
        loop = asyncio.get_running_loop()
        with self._lock:
            for ended in [one for one in self._by_loop if one.is_closed()]:
                del self._by_loop[ended]
            client = self._by_loop.get(loop)
            if client is None:
                client = self._by_loop[loop] = self._amake()

            return client

    def take_sync(self) -> S | None:
        """
        Take out the client that was made for sync code, to be closed.
        """
        with self._lock:
            made, self._made = self._made, None

        return made

    def take_running(self) -> A | None:
        """
        Take out the client that was made for the running loop, to be closed.
        """
        with self._lock:
            return self._by_loop.pop(asyncio.get_running_loop(), None)


def check_alone(*given: object, base_url: str | None, api_key: str | None) -> None:
    """
    Check that a client that was given is all that was given.

    Raises:
        ValueError: It would be used, and the address or the key beside it would not.
    """
    has_client = any(client is not None for client in given)
    if has_client and (base_url, api_key) != (None, None):
        raise ValueError("A client that is given has its own base_url and api_key.")


def given_as(option: str, client: object, kind: type[Any], other: type[Any]) -> None:
    """
    Check a client that was given.

    Raises:
        TypeError: It is no client of its SDK, or one of the other colour.
    """
    if client is not None and not isinstance(client, kind):
        hint = ""
        if isinstance(client, other):
            hint = "; that one goes to the option of the other colour"
        raise TypeError(
            f"{option} takes a {kind.__name__}, got {type(client).__name__}{hint}."
        )
