"""
What goes wrong elsewhere does not go wrong for a host of a server.
"""

from __future__ import annotations

import pytest

from driving_mcp import drive
from faults import FAULTS, driven, ends_after_a_hung_tool, ids_are_those_of_the_model
from tooldecl import ToolContext, tool


# A host keeps the ids of its model to itself: the protocol does not send them.
SENT = [fault for fault in FAULTS if fault is not ids_are_those_of_the_model]


@pytest.mark.parametrize("fault", SENT, ids=lambda fault: fault.__name__)
async def test_the_fault_is_absent(fault):
    """
    A server's own tools have these faults; those of a client keep their promises.
    """
    await fault(drive)


@tool
def who(context: ToolContext) -> str:
    """
    Say which call this is.
    """
    return context.call_id


async def test_each_request_is_a_call_of_its_own():
    """
    Without the ids of a model, events are still told apart by ids.
    """
    found = await driven(drive, [who], "who", "who")

    assert 2 == len({answer.content for answer in found} - {""})


@pytest.mark.slow
def test_the_program_ends_after_a_hung_tool():
    """
    A thread that nobody can stop must not keep the interpreter.
    """
    said = ends_after_a_hung_tool("driving_mcp", "drive")

    assert "did not finish within 0.5 s" in said
