"""
The calls of a window that have not begun; pure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import final

from .._runtime import Incoming


# What a window waits for its calls when it is stopped. Async bodies have 0.1 s to end
# when they are cancelled, and their loop may be busy.
END_SECONDS = 0.25


@final
class Queue:
    """
    The calls that have not begun.
    """

    def __init__(self, calls: Sequence[Incoming]) -> None:
        self._waiting = deque(calls)
        self._groups: set[object] = set()

    def claim(self) -> Incoming | None:
        """
        Return the next call to begin, or None where none can be begun now.

        What cannot is of a group with a call that runs: who runs it comes back for it.
        """
        for place, call in enumerate(self._waiting):
            if call.group is None or call.group not in self._groups:
                del self._waiting[place]
                if call.group is not None:
                    self._groups.add(call.group)
                return call

        return None

    def ended(self, call: Incoming) -> None:
        """
        Say that a call has ended.
        """
        self._groups.discard(call.group)
