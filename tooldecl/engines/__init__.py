"""
When the calls of a batch run.
"""

from __future__ import annotations

from .._isolation import AbandonedCall, abandoned_calls
from ._asyncio import AsyncioEngine
from ._base import Engine
from ._executor import ExecutorEngine
from ._processes import ProcessEngine
from ._ray import RayEngine
from ._sequential import SequentialEngine
from ._threads import ThreadEngine


__all__ = [
    "AbandonedCall",
    "AsyncioEngine",
    "Engine",
    "ExecutorEngine",
    "ProcessEngine",
    "RayEngine",
    "SequentialEngine",
    "ThreadEngine",
    "abandoned_calls",
]
