"""
What a forked child has to let go of: the threads of its parent hold locks, and are gone.
"""

from __future__ import annotations

import os
import weakref

from typing import Protocol


class Forkable(Protocol):
    """
    Something that a forked child has a copy of.
    """

    def forget_parent(self) -> None:
        """
        Start anew in a forked child.
        """
        ...


_KNOWN: weakref.WeakSet[Forkable] = weakref.WeakSet()


def watch(one: Forkable) -> None:
    """
    Have *one* start anew in every forked child.
    """
    _KNOWN.add(one)


def _forget_parent() -> None:
    for one in list(_KNOWN):
        one.forget_parent()


os.register_at_fork(after_in_child=_forget_parent)
