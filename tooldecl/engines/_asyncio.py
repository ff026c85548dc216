"""
Calls at once, each as a task.
"""

from __future__ import annotations

from typing import final

from .._meta import Isolation
from ._window import WindowEngine


__all__ = ["AsyncioEngine"]


@final
class AsyncioEngine(WindowEngine):
    """
    Runs up to ``max_concurrency`` calls at once as tasks of the caller's loop, or 8.

    Sync tools run on daemon threads, so that the loop goes on. From sync code it does
    what `ThreadEngine` does.
    """

    default_isolation: Isolation | None = "thread"
