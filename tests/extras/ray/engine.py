"""
What a session of all engines' tests needs to run them over Ray.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from driving_ray import address, end, engine


@contextmanager
def running() -> Iterator[str]:
    """
    Have a Ray, for the whole session.
    """
    try:
        yield address()
    finally:
        end()


make = engine
