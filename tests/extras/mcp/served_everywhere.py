"""
The twelve tools of `everywhere`, for a server in another process.
"""

from __future__ import annotations

from everywhere import make_client


client = make_client()
