"""
What an import costs a fresh interpreter.
"""

from __future__ import annotations

import os
import subprocess
import sys

from collections.abc import Iterator
from contextlib import contextmanager

from measuring import Probe, Row, Sample, Sampler, timed


# Bytecode is cached, as it is wherever a package is installed.
ENVIRONMENT = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}

STATEMENTS = {
    "nothing": "pass",
    "floor": "import pydantic, asyncio",
    "used": "import pydantic, asyncio; pydantic.TypeAdapter",
    "package": "import tooldecl",
    "declare": "from tooldecl import tool",
    "client": "from tooldecl import tool, ToolClient",
}
WHAT = "a fresh interpreter that does import pydantic, asyncio"


@contextmanager
def ready(_quick: bool) -> Iterator[Sampler]:
    """
    Write the bytecode.
    """

    def start(statement: str) -> None:
        command = [sys.executable, "-c", statement]
        subprocess.run(command, check=True, env=ENVIRONMENT)

    for statement in STATEMENTS.values():
        start(statement)

    def sample() -> Sample:
        return {
            name: timed(lambda statement=statement: start(statement))
            for name, statement in STATEMENTS.items()
        }

    yield sample


PROBE = Probe(
    name="import",
    ready=ready,
    rows=(
        Row(title="a fresh interpreter, no import", value="nothing", unit="ms"),
        Row(
            title="import tooldecl",
            value="package",
            unit="ms",
            floor="floor",
            what=WHAT,
            most=1.3,
        ),
        Row(
            title="from tooldecl import tool",
            value="declare",
            unit="ms",
            floor="floor",
            what=WHAT,
            most=1.3,
        ),
        Row(
            title="from tooldecl import tool, ToolClient",
            value="client",
            unit="ms",
            floor="floor",
            what=WHAT,
            most=1.3,
        ),
        Row(
            title="the same, pydantic used",
            value="client",
            unit="ms",
            floor="used",
            what="import pydantic, asyncio; pydantic.TypeAdapter (pydantic is lazy)",
        ),
    ),
)
