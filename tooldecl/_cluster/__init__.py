"""
The near side of a Ray cluster: the connection to it, and how attempts get there.

The matching page is docs/how-to/use-a-cluster.md.
"""

from __future__ import annotations

from ._link import LOCAL
from ._transport import RayTransport


__all__ = ["LOCAL", "RayTransport"]
