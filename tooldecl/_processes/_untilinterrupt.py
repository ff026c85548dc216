"""
An errand on the main thread of a foreign worker, which is interrupted to end it.
"""

from __future__ import annotations

import _thread
import threading

from collections import deque
from collections.abc import Callable
from typing import TypeAlias, final

from .._context import ToolContext
from ._errand import SHOP, run_errand
from ._parcel import token_of


# An interrupt that is only noted, as Ray's is, ends no wait: this one is in slices.
SLICE = 0.05

# How far a body is: what is done, of how much, and a word about it.
Step: TypeAlias = tuple[float, float | None, str | None]
# How many of them wait at most to be told.
STEPS = 1000


def run_until_interrupted(
    parcel: bytes, tell: Callable[[list[Step]], None] | None = None
) -> bytes:
    """
    Run one attempt and return its envelope; a KeyboardInterrupt ends the body.

    The errand has a thread of its own, so that no interrupt comes into what it does.

    Args:
        tell: Told on this thread, now and then, how far the body is, in order; of a body
            that says it faster than `STEPS` in a slice, the latest ones.
    """
    token = token_of(parcel)
    errand = _Errand(parcel, tell)
    SHOP.keep_to_environment()
    try:
        while True:
            try:
                return errand.envelope()
            except KeyboardInterrupt:
                SHOP.stop(token)
    finally:
        SHOP.end(token)


@final
class _Errand:
    """
    What runs on that thread.
    """

    __slots__ = (
        "_envelope",
        "_failure",
        "_over",
        "_parcel",
        "_start",
        "_steps",
        "_tell",
    )

    def __init__(
        self, parcel: bytes, tell: Callable[[list[Step]], None] | None
    ) -> None:
        self._tell = tell
        self._steps: deque[Step] = deque(maxlen=STEPS)
        self._parcel = parcel
        self._envelope: bytes | None = None
        self._failure: BaseException | None = None
        self._over = threading.Event()
        self._start = [True]

    def envelope(self) -> bytes:
        """
        Wait for its envelope; who was interrupted waits again.
        """
        if self._start:  # of two threads that come of an interrupt, one finds it
            _thread.start_new_thread(self._run, ())
        while not self._over.wait(SLICE):
            self._tell_steps()
        self._tell_steps()
        if self._envelope is None:
            raise self._failure or AssertionError("unreachable")

        return self._envelope

    def _tell_steps(self) -> None:
        steps: list[Step] = []
        while self._steps:
            steps.append(self._steps.popleft())
        if steps and self._tell is not None:
            self._tell(steps)

    def _on_progress(
        self,
        _context: ToolContext,
        done: float,
        total: float | None,
        message: str | None,
    ) -> None:
        self._steps.append((done, total, message))

    def _run(self) -> None:
        try:
            self._start.pop()
        except IndexError:
            return
        try:
            self._envelope = run_errand(self._parcel, self._on_progress)
        except BaseException as error:  # told to who waits
            self._failure = error
        finally:
            self._over.set()
