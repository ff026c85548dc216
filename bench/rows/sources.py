"""
Functions of which there are many: three typed parameters and a docstring each.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any


SOURCE = '''
def entry_{number}(path: str, limit: int = 10, tags: list[str] | None = None) -> int:
    """
    Look at one entry.

    Args:
        path: Where it is.
        limit: How many at most.
        tags: What it has to have.
    """
    return limit
'''

_NUMBERS = count()


def functions(how_many: int) -> list[Callable[..., Any]]:
    """
    Make functions that nobody has seen before.
    """
    made: dict[str, Any] = {"__name__": __name__}
    # One by one: what compiling a thousand at once takes would stay with the process.
    for _ in range(how_many):
        source = SOURCE.format(number=next(_NUMBERS))
        # Annotations are objects there, not text as in this module.
        exec(compile(source, __file__, "exec", dont_inherit=True), made)  # noqa: S102

    return [value for name, value in made.items() if name.startswith("entry_")]
