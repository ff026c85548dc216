"""
The demo's heavy tools: a computation that does not end, in a thread and in a process, and
a library that crashes.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import threading

from pathlib import Path

from .. import tool
from ._demo_checks import Growth


PATIENCE = 0.5  # seconds that a round gets
_STRIDE = 20_000
_LONGEST = 1_000  # looks for one more note of a body that shares its interpreter


@tool(timeout=PATIENCE, isolation="thread")
def plan_round(stops: int, notes: str) -> int:
    """
    Find the shortest round through all stops by trying every order, on a thread.

    Args:
        stops: How many stops there are.
        notes: File that it notes in how far it is.
    """
    return _shortest(stops, Path(notes))


@tool(timeout=PATIENCE, isolation="process")
def plan_apart(stops: int, notes: str) -> int:
    """
    Find the shortest round through all stops by trying every order, in a process.

    Args:
        stops: How many stops there are.
        notes: File that it notes in how far it is.
    """
    return _shortest(stops, Path(notes))


def _shortest(stops: int, notes: Path) -> int:
    """
    Try every order; what is noted on the way is the effect that a reader can look for.
    """
    places = [(7 * n % 31, 11 * n % 29) for n in range(stops)]
    best = 10**9
    for tried, order in enumerate(itertools.permutations(places)):
        legs = itertools.pairwise(order)
        best = min(best, sum(abs(a - c) + abs(b - d) for (a, b), (c, d) in legs))
        if tried % _STRIDE == 0:
            # Never made anew: once the demo has cleaned up, this ends the body.
            with notes.open("r+", encoding="ascii") as file:
                file.seek(0, os.SEEK_END)
                file.write(f"{tried}\n")

    return best


def growth_of(abandoned: Path, killed: Path) -> tuple[Growth, Growth]:
    """
    Wait until the body on a thread has noted something more; return what both have.
    """
    thread, process = _notes(abandoned), _notes(killed)
    pause = threading.Event()
    for _ in range(_LONGEST):
        if _notes(abandoned) != thread:
            break
        pause.wait(0.01)

    return (
        Growth(at_answer=thread, later=_notes(abandoned)),
        Growth(at_answer=process, later=_notes(killed)),
    )


def _notes(file: Path) -> int:
    return len(file.read_text(encoding="ascii").splitlines())


@tool(isolation="process")
def scan_label(order: int) -> str:
    """
    Read the label of an order with a library that reads where there is nothing.

    Args:
        order: Number of the order.
    """
    label = ctypes.string_at(order)

    return label.decode()
