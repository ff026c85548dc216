"""
Bodies in processes of their own, which can be ended with all that they started.

The matching page is docs/explanation/timeouts-and-isolation.md.
"""

from __future__ import annotations

from ._loading import Cargo, cargo_of
from ._pool import Pool
from ._remote import RemoteRun
from ._system import is_supported


__all__ = ["Cargo", "Pool", "RemoteRun", "cargo_of", "is_supported"]
