"""
Count the calls that a piece of work makes inside, which no busy machine can change.
"""

from __future__ import annotations

import sys

from collections import Counter


class Counting:
    """
    Counts the calls that this thread makes inside.
    """

    def __init__(self):
        self.events = Counter()
        self.functions = Counter()

    def __enter__(self):
        sys.setprofile(self._see)
        return self

    def __exit__(self, *exc_info):
        sys.setprofile(None)

    def _see(self, frame, event, _argument):
        self.events[event] += 1
        if event == "call":
            self.functions[frame.f_code.co_qualname] += 1

    @property
    def calls(self):
        """
        How many there were, without those of the counting itself.
        """
        return self.events["call"] + self.events["c_call"] - 2
