"""
Force an order on threads, without sleeping: a body waits where the test holds it.
"""

from __future__ import annotations

import threading

from collections.abc import Iterator
from contextlib import contextmanager


HANGS_AFTER = 30


class Gate:
    """
    A place where bodies wait until the test opens it, and the test for bodies to arrive.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._arrived = 0
        self._open = False

    def arrive(self) -> None:
        """
        Arrive, without waiting.
        """
        with self._changed:
            self._arrived += 1
            self._changed.notify_all()

    def pass_through(self) -> None:
        """
        Arrive, and wait until the gate is open.
        """
        self.arrive()
        with self._changed:
            if not self._changed.wait_for(lambda: self._open, HANGS_AFTER):
                raise AssertionError("The gate was never opened.")

    def wait_for_arrivals(self, count: int = 1) -> None:
        """
        Wait until *count* bodies have arrived in all, so that they are inside together.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._arrived >= count, HANGS_AFTER):
                raise AssertionError(f"{self._arrived} of {count} bodies arrived.")

    def open(self) -> None:
        """
        Let through whoever waits and whoever comes; may be called twice.
        """
        with self._changed:
            self._open = True
            self._changed.notify_all()


class Steps:
    """
    Blocks of several threads, run one after another in the order of their numbers.
    """

    def __init__(self, *, hangs_after: float = HANGS_AFTER) -> None:
        self._changed = threading.Condition()
        self._next = 0
        self._hangs_after = hangs_after

    @contextmanager
    def __call__(self, number: int) -> Iterator[None]:
        with self._changed:
            came = self._changed.wait_for(
                lambda: self._next == number, self._hangs_after
            )
            if not came:
                raise AssertionError(
                    f"Step {number} waited in vain: step {self._next} never came."
                )
        try:
            yield
        finally:
            with self._changed:
                self._next += 1
                self._changed.notify_all()
