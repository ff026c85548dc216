"""
Calls at once, each on a thread.
"""

from __future__ import annotations

from typing import final

from .._meta import Isolation
from ._window import WindowEngine


__all__ = ["ThreadEngine"]


@final
class ThreadEngine(WindowEngine):
    """
    Runs up to ``max_concurrency`` calls at once, 8 unless told otherwise.

    The bodies of sync tools run on daemon threads of this library. Those of async tools
    are tasks of the caller's loop, or of the client's own loop from sync code.
    """

    default_isolation: Isolation | None = "thread"
