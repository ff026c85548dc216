"""
The calls of a window that have not begun; pure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import final

from .._runtime import Incoming


# What a window waits for its calls when it is stopped. Async bodies have 0.1 s to end
# when they are cancelled, and their loop may be busy.
END_SECONDS = 0.5


@final
class Queue:
    """
    The calls that have not begun.
    """

    def __init__(self, calls: Sequence[Incoming]) -> None:
        self._calls = calls
        self._ready: list[int] = []  # a heap of the places of those that can be begun
        self._behind: dict[object, deque[int]] = {}
        for place, call in enumerate(calls):
            if call.group is not None and call.group in self._behind:
                self._behind[call.group].append(place)
                continue
            if call.group is not None:
                self._behind[call.group] = deque()
            self._ready.append(place)

    def claim(self) -> Incoming | None:
        """
        Return the next call to begin, or None where none can be begun now.

        What cannot is of a group with a call that runs: who runs it comes back for it.
        """
        return self._calls[heappop(self._ready)] if self._ready else None

    def ended(self, call: Incoming) -> None:
        """
        Say that a call has ended.
        """
        behind = self._behind.get(call.group)
        if behind:
            heappush(self._ready, behind.popleft())
