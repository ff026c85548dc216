"""
What the tests of Celery share with those of all executors.
"""

from __future__ import annotations

from processes.conftest import front, lifeline, listener, make_client


__all__ = ["front", "lifeline", "listener", "make_client"]
