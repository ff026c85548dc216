"""
What an import costs a fresh interpreter.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys

from collections.abc import Iterator
from contextlib import contextmanager

from measuring import Probe, Row, Sample, Sampler


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


def children() -> float:
    """
    Return the seconds that processors worked for processes of this one that have ended.
    """
    used = resource.getrusage(resource.RUSAGE_CHILDREN)

    return used.ru_utime + used.ru_stime


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
        taken: Sample = {}
        for name, statement in STATEMENTS.items():
            before = children()
            start(statement)
            taken[name] = children() - before

        return taken

    yield sample


PROBE = Probe(
    name="import",
    ready=ready,
    rows=(
        Row(title="a fresh interpreter, no import", value="nothing", unit="ms cpu"),
        Row(
            title="import tooldecl",
            value="package",
            unit="ms cpu",
            floor="floor",
            what=WHAT,
            most=1.3,
        ),
        Row(
            title="from tooldecl import tool",
            value="declare",
            unit="ms cpu",
            floor="floor",
            what=WHAT,
            most=1.3,
        ),
        Row(
            title="from tooldecl import tool, ToolClient",
            value="client",
            unit="ms cpu",
            floor="floor",
            what=WHAT,
            most=1.3,
        ),
        Row(
            title="the same, pydantic used",
            value="client",
            unit="ms cpu",
            floor="used",
            what="import pydantic, asyncio; pydantic.TypeAdapter (pydantic is lazy)",
        ),
    ),
)
