"""
When the calls of a batch run.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .._isolation import AbandonedCall, abandoned_calls
from ._asyncio import AsyncioEngine
from ._base import Engine
from ._executor import ExecutorEngine
from ._processes import ProcessEngine
from ._sequential import SequentialEngine
from ._threads import ThreadEngine


if TYPE_CHECKING:
    from ._ray import RayEngine


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


def __getattr__(name: str) -> object:
    """
    Read the engine of clusters when it is asked for: most have none.
    """
    if name != "RayEngine":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    engine: object = import_module("._ray", __name__).RayEngine
    globals()[name] = engine

    return engine
