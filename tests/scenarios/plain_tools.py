"""
Tools to build clients of; two of them have one name.
"""

from __future__ import annotations

from tooldecl import tool


@tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@tool
def echo(text: str) -> str:
    """Say it again."""
    return text


@tool(sensitive=True)
def transfer(amount: int) -> str:
    """Transfer an amount."""
    return f"{amount} transferred"


@tool(isolation="inline")
def near(a: int) -> int:
    """Run on the caller's thread."""
    return a


@tool(name="add")
def other_add(a: float) -> float:
    """Add something else."""
    return a
