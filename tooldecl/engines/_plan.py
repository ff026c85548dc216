"""
Which calls of a batch may overlap, as steps; pure.

The matching page is docs/how-to/run-a-batch.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from .._meta import ToolMeta


OverLimit: TypeAlias = Literal["queue", "sequential", "reject"]


def plan(
    metas: Sequence[ToolMeta | None],
    *,
    limit: int | None = None,
    over_limit: OverLimit = "queue",
) -> list[list[int]]:
    """
    Return the steps of a batch: lists of indices, each step after the one before.

    A call that is declared ``serial=True`` is a step of its own; so is every call of a
    batch that is larger than *limit*, with ``over_limit="sequential"``.

    Args:
        metas: What was declared about each call's tool; None for an unknown one.
        limit: How many calls the engine runs at once, or None.
        over_limit: What it does with more.
    """
    one_by_one = over_limit == "sequential" and limit is not None and len(metas) > limit
    steps: list[list[int]] = []
    alone = True  # nothing may join the latest step
    for index, meta in enumerate(metas):
        is_serial = meta is not None and meta.serial is True
        if alone or is_serial:
            steps.append([])
        steps[-1].append(index)
        alone = one_by_one or is_serial

    return steps
