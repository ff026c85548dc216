"""
Tools that note their word or fail, and batches of calls of them.
"""

from __future__ import annotations

import asyncio

from typing import Any

from tooldecl import ToolCall, ToolClient, tool


RUNS: list[str] = []


@tool
def note(word: str) -> str:
    """Note a word."""
    RUNS.append(word)

    return word.upper()


@tool
async def anote(word: str) -> str:
    """Note a word, later."""
    await asyncio.sleep(0)
    RUNS.append(word)

    return word.upper()


@tool
def boom(word: str) -> str:
    """Fail."""
    RUNS.append(word)
    raise ValueError(word)


@tool
def recurse(word: str) -> str:
    """Exhaust the stack."""
    return recurse(word)


@tool
def fatal(kind: str) -> str:
    """Raise what means stop."""
    RUNS.append(kind)
    raise {"memory": MemoryError, "keyboard": KeyboardInterrupt}[kind]("out")


def words(*given: str, name: str = "note") -> list[ToolCall]:
    """
    Make calls, one per word, with the words as their ids.
    """
    return [ToolCall(name, {"word": word}, word) for word in given]


def client_with(**options: Any) -> ToolClient:
    """
    Build a client of these tools.
    """
    return ToolClient([note, anote, boom, recurse, fatal], **options)
