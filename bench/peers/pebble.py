"""
pebble: a warm pool of processes; no text is read.
"""

from __future__ import annotations

import json
import multiprocessing

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pebble import ProcessPool

from peers import TEXT, Ways, as_way, read


PACKAGES = ["pebble"]
IMPORT = "import pebble"


@asynccontextmanager
async def ways() -> AsyncIterator[Ways]:
    """
    Prepare the calls.
    """
    with ProcessPool(1, context=multiprocessing.get_context("forkserver")) as pool:

        def call(timeout: float | None) -> object:
            given = json.loads(TEXT)
            return pool.schedule(read, kwargs=given, timeout=timeout).result()

        yield {
            "process": as_way(lambda: call(None)),
            "process limited": as_way(lambda: call(60)),
        }
