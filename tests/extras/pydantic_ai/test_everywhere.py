"""
The same calls give the same answers in an agent of pydantic-ai as without one.
"""

from __future__ import annotations

import pytest

from driving_pydantic_ai import drive
from everywhere import PARSED, RAW, compare


TURNS = PARSED | RAW


@pytest.mark.parametrize("turn", TURNS.values(), ids=[*TURNS])
async def test_the_answers_are_those_of_the_bare_client(turn):
    """
    Whoever moves tools into the framework moves their gate, limits and texts with them.
    """
    await compare(drive, turn)
