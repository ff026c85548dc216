"""
A model and tools in turns, until it is done, or out of it and back.
"""

from __future__ import annotations

from ._toolloop import ToolLoop


__all__ = ["ToolLoop"]
