"""
How many processor instructions one call takes, beside its floor; `nox -s stress` counts.

It needs valgrind, and says so where there is none; tests/test_call_budget.py, which
counts calls and needs nothing, is always run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from source import ROOT


SCRIPT = ROOT / "bench" / "instructions.py"
SUBJECT = "sync call, JSON text"
# Times the floor: the strict reader, the validator and the body.
BUDGET = 2.7


@pytest.mark.slow
@pytest.mark.stress
def test_one_call_stays_within_its_instructions():
    """
    What creeps into the way of a call below the level of functions is seen here.
    """
    if shutil.which("valgrind") is None:
        pytest.skip("NOT COUNTED: valgrind is not installed.")
    # Debugging of the interpreter would be counted too.
    dropped = ("PYTHONMALLOC", "PYTHONASYNCIODEBUG")
    done = subprocess.run(
        [sys.executable, SCRIPT, "--only", SUBJECT],
        capture_output=True,
        check=True,
        env={key: value for key, value in os.environ.items() if key not in dropped},
        text=True,
        timeout=170,
    )
    ratio = float(done.stdout.split()[-1].rstrip("x"))

    assert ratio <= BUDGET, done.stdout
