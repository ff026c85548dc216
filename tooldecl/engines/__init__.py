"""
When the calls of a batch run.
"""

from __future__ import annotations

from ._base import Engine
from ._sequential import SequentialEngine


__all__ = ["Engine", "SequentialEngine"]
