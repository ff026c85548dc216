"""
Force an order on threads, without sleeping: a body waits where the test holds it.
"""

from __future__ import annotations

import threading

from collections.abc import Iterator
from contextlib import contextmanager

from tooldecl.testing import Gate


__all__ = ["HANGS_AFTER", "Gate", "Steps"]

HANGS_AFTER = 30


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
