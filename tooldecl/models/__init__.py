"""
Models for a `ToolLoop`, each behind the one protocol `tooldecl.Model`.
"""

from __future__ import annotations

from .local import LocalModel


__all__ = ["LocalModel"]
