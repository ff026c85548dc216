"""
What a tool, and a body that was given up, keep of memory: in fresh interpreters.
"""

from __future__ import annotations

import subprocess
import sys

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from measuring import Probe, Row, Sample, Sampler


SCRIPT = Path(__file__).resolve().parent.parent / "memory_of.py"
SUBJECTS = ("functions", "adapters", "declared", "client", "threads", "given up")


@contextmanager
def ready(_quick: bool) -> Iterator[Sampler]:
    """
    Nothing is prepared.
    """

    def ask(subject: str) -> float:
        command = [sys.executable, str(SCRIPT), subject]
        done = subprocess.run(command, check=True, capture_output=True, text=True)

        return float(done.stdout)

    def sample() -> Sample:
        return {subject: ask(subject) for subject in SUBJECTS}

    yield sample


PROBE = Probe(
    name="memory",
    ready=ready,
    every=5,
    rows=(
        Row(
            title="memory of a declaration, beside the function",
            value="declared",
            unit="KiB",
            floor="functions",
            what="the plain function",
        ),
        Row(
            title="memory of a tool that was offered and called, beside the function",
            value="client",
            unit="KiB",
            floor="adapters",
            what="pydantic's TypeAdapter of the function, used",
        ),
        Row(
            title="memory per sync body that was given up",
            value="given up",
            unit="KiB",
            floor="threads",
            what="a daemon thread that sleeps",
        ),
    ),
)
