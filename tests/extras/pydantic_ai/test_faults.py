"""
What goes wrong elsewhere does not go wrong here, in the framework's own loop.
"""

from __future__ import annotations

import pytest

from driving_pydantic_ai import drive
from faults import FAULTS, ends_after_a_hung_tool


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
async def test_the_fault_is_absent(fault):
    """
    A framework's own tools have these faults; the tools of a client keep their promises.
    """
    await fault(drive)


@pytest.mark.slow
def test_the_program_ends_after_a_hung_tool():
    """
    A thread that nobody can stop must not keep the interpreter.
    """
    said = ends_after_a_hung_tool("driving_pydantic_ai", "drive")

    assert "did not finish within 0.5 s" in said
