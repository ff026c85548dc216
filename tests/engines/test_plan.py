"""
The steps of a batch: pure, so that every mix can be tried.
"""

from __future__ import annotations

import itertools
import random

import pytest

from tooldecl import ToolMeta
from tooldecl.engines._plan import plan


FREE = ToolMeta(name="free", description="Free.")
ALONE = ToolMeta(name="alone", description="Alone.", serial=True)
GROUP = ToolMeta(name="group", description="Of a group.", serial="g")


@pytest.mark.parametrize(
    ("metas", "steps"),
    [
        ([], []),
        ([FREE], [[0]]),
        ([ALONE], [[0]]),
        ([None], [[0]]),
        ([FREE, FREE, None], [[0, 1, 2]]),
        ([FREE, ALONE, FREE], [[0], [1], [2]]),
        ([ALONE, ALONE], [[0], [1]]),
        ([FREE, FREE, ALONE, FREE, FREE], [[0, 1], [2], [3, 4]]),
        ([GROUP, FREE, GROUP], [[0, 1, 2]]),
        ([ALONE, GROUP, None, ALONE], [[0], [1, 2], [3]]),
    ],
)
def test_a_serial_call_is_a_step_of_its_own(metas, steps):
    """
    R64, ENG-03: what comes before it ends first, what comes after begins later.
    """
    assert steps == plan(metas)


@pytest.mark.parametrize("seed", range(200))
def test_any_mix_keeps_its_order_and_its_barriers(seed):
    """
    R64: every call is in one step, in order; serial ones stand alone and no step could be
    joined with the next.
    """
    rng = random.Random(seed)  # noqa: S311
    metas = rng.choices([FREE, ALONE, GROUP, None], k=rng.randrange(30))
    steps = plan(metas)

    assert list(range(len(metas))) == [place for step in steps for place in step]
    for step in steps:
        assert 1 == len(step) or all(metas[place] is not ALONE for place in step)
    for step, following in itertools.pairwise(steps):
        assert ALONE in (metas[step[0]], metas[following[0]])


@pytest.mark.parametrize(
    ("size", "limit", "over_limit", "steps"),
    [
        (3, 2, "sequential", 3),
        (2, 2, "sequential", 1),
        (3, None, "sequential", 1),
        (3, 2, "queue", 1),
        (3, 2, "reject", 1),
    ],
)
def test_a_batch_over_the_limit_is_split_only_where_asked_for(
    size, limit, over_limit, steps
):
    """
    E-28: the documents of others said one by one, and their code ran a window.
    """
    found = plan([FREE] * size, limit=limit, over_limit=over_limit)

    assert (steps, list(range(size))) == (
        len(found),
        [n for step in found for n in step],
    )
