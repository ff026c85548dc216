"""
The schema of a tool and what holds arguments to it; the door to pydantic.
"""

from __future__ import annotations

from ._shape import Shape, check_returned


__all__ = ["Shape", "check_returned"]
