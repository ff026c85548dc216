"""
A tool that notes its word, and turns that call it.
"""

from __future__ import annotations

from loops import calls
from tooldecl import ToolCall, tool


RUNS: list[str] = []


@tool
def note(word: str) -> str:
    """Note a word."""
    RUNS.append(word)

    return word


def notes(*words: str, name: str = "note") -> list[ToolCall]:
    """
    Make a turn's calls, the words as their ids too.
    """
    return calls(*((word, name, {"word": word}) for word in words))
