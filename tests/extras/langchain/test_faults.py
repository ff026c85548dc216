"""
What goes wrong elsewhere does not go wrong here, in the framework's own loop.
"""

from __future__ import annotations

import asyncio

import pytest

from driving_langchain import drive, drive_agent, drive_sync
from faults import FAULTS, ends_after_a_hung_tool


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
@pytest.mark.parametrize("way", [drive, drive_agent])
async def test_the_fault_is_absent(fault, way):
    """
    A framework's own tools have these faults; the tools of a client keep their promises.
    """
    await fault(way)


# Nobody can cancel a call that is not awaited, and threads start in any order.
AWAITED = {"a_cancelled_run_cancels_its_calls", "a_serial_tool_runs_alone"}


@pytest.mark.parametrize(
    "fault",
    [fault for fault in FAULTS if fault.__name__ not in AWAITED],
    ids=lambda fault: fault.__name__,
)
def test_the_fault_is_absent_without_a_loop(fault):
    """
    The threads in which a tool node makes its calls keep the same promises.
    """
    asyncio.run(fault(drive_sync))


@pytest.mark.slow
@pytest.mark.parametrize("way", ["drive", "drive_sync"])
def test_the_program_ends_after_a_hung_tool(way):
    """
    A thread that nobody can stop must not keep the interpreter.
    """
    said = ends_after_a_hung_tool("driving_langchain", way)

    assert "did not finish within 0.5 s" in said
