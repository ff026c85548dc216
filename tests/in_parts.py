"""
Run the suite in parts that go on side by side: ``in_parts.py [PYTEST ARGUMENT ...]``.

Most tests wait for something, so some of them at once take little more time than one. Each
part prints when it has ended; the exit code is the first that is not 0.
"""

from __future__ import annotations

import subprocess
import sys

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile


TESTS = Path(__file__).parent

# About the same time each; what is in no part is in the last.
PARTS = [
    ["tests/engines", "tests/processes"],
    ["tests/scenarios"],
    ["tests"],
]


def command(part: list[str], arguments: list[str]) -> list[str]:
    """
    Return how one part is run: what another part has is left out.
    """
    others = [folder for other in PARTS if other is not part for folder in other]
    left_out = [f"--ignore={folder}" for folder in others if folder not in part]
    if "tests" not in part:
        left_out = []

    return [sys.executable, "-m", "pytest", *part, *left_out, *arguments]


def main(arguments: list[str]) -> int:
    """
    Run all parts; return their exit code.
    """
    with ExitStack() as stack:
        outputs = [stack.enter_context(TemporaryFile()) for _ in PARTS]
        started = [
            subprocess.Popen(
                command(part, arguments),
                cwd=TESTS.parent,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            for part, output in zip(PARTS, outputs, strict=True)
        ]
        for part, process, output in zip(PARTS, started, outputs, strict=True):
            process.wait()
            sys.stdout.write(f"\n--- {' '.join(part)}\n")
            sys.stdout.flush()
            output.seek(0)
            sys.stdout.buffer.write(output.read())
            sys.stdout.flush()

    return next((each.returncode for each in started if each.returncode), 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
