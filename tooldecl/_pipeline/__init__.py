"""
One call, through its stages in their fixed order.

The matching page is docs/explanation/the-life-of-a-call.md.
"""

from __future__ import annotations

from ._admission import group_of
from ._running import arun_call, run_call


__all__ = ["arun_call", "group_of", "run_call"]
