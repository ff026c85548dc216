"""
Adapters to other packages, each with an extra of its own; import them one by one.
"""

from __future__ import annotations


__all__: list[str] = []
