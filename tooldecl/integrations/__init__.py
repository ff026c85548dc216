"""
Adapters to frameworks and protocols, one module each; their packages come with extras.
"""

from __future__ import annotations


__all__: list[str] = []
