"""
The same calls give the same answers in an agent of openai-agents as without one.
"""

from __future__ import annotations

import pytest

from driving_openai_agents import drive
from everywhere import PARSED, RAW, compare


# The framework reads the text by itself before it calls a tool, and fails there.
BEFORE_US = {"a lone surrogate"}

TURNS = {name: turn for name, turn in (PARSED | RAW).items() if name not in BEFORE_US}


@pytest.mark.parametrize("turn", TURNS.values(), ids=[*TURNS])
async def test_the_answers_are_those_of_the_bare_client(turn):
    """
    Whoever moves tools into the framework moves their gate, limits and texts with them.
    """
    await compare(drive, turn)
