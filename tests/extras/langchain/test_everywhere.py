"""
The same calls give the same answers in LangGraph and LangChain as without them.
"""

from __future__ import annotations

import pytest

from driving_langchain import drive, drive_agent, drive_sync
from everywhere import PARSED, compare


@pytest.mark.parametrize("turn", PARSED.values(), ids=[*PARSED])
@pytest.mark.parametrize("way", [drive, drive_sync, drive_agent])
async def test_the_answers_are_those_of_the_bare_client(way, turn):
    """
    Whoever moves tools into the framework moves their gate, limits and texts with them.
    """
    await compare(way, turn)
