"""
tenacity and stamina: decorators that retry, and nothing else; no text is read.
"""

from __future__ import annotations

import json

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import stamina
import tenacity

from peers import TEXT, Ways, aread, as_way, read


PACKAGES = ["tenacity", "stamina"]
IMPORT = "import tenacity"


@asynccontextmanager
async def ways() -> AsyncIterator[Ways]:
    """
    Prepare the calls.
    """
    stop = {"stop": tenacity.stop_after_attempt(3), "reraise": True}
    tenacious, atenacious = tenacity.retry(**stop)(read), tenacity.retry(**stop)(aread)
    staminal = stamina.retry(on=ConnectionError)(read)
    astaminal = stamina.retry(on=ConnectionError)(aread)

    yield {
        "tenacity, sync": as_way(lambda: tenacious(**json.loads(TEXT))),
        "tenacity, async": lambda: atenacious(**json.loads(TEXT)),
        "stamina, sync": as_way(lambda: staminal(**json.loads(TEXT))),
        "stamina, async": lambda: astaminal(**json.loads(TEXT)),
    }
