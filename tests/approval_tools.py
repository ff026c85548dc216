"""
Sensitive tools that any engine can run, in this process or in another.
"""

from __future__ import annotations

from engine_tools import note, passed
from tooldecl import tool


@tool(sensitive=True)
def spend(where: str, word: str) -> str:
    """Spend."""
    note(where, f"in {word}")

    return word.upper()


@tool(sensitive=True)
async def aspend(where: str, word: str) -> str:
    """Spend."""
    note(where, f"in {word}")

    return word.upper()


@tool(sensitive=True)
def spend_held(where: str, word: str) -> str:
    """Spend, and be held."""
    return passed(where, word)


@tool
def peek(where: str, word: str) -> str:
    """Peek."""
    note(where, f"in {word}")

    return word.upper()


TOOLS = [spend, aspend, spend_held, peek]
