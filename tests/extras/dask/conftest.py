"""
What the tests of Dask share with those of all executors.
"""

from __future__ import annotations

from processes.conftest import lifeline, make_client


__all__ = ["lifeline", "make_client"]
