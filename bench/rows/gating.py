"""
The strict reader alone, beside the reader of the standard library that it is built on.
"""

from __future__ import annotations

import json

from collections.abc import Iterator
from contextlib import contextmanager

from measuring import Probe, Row, Sampler, in_turn

from tooldecl import JSONLimits
from tooldecl._strictjson import loads_strict


WHAT = "json.loads of the same text"

# About 100 bytes; and about 4 KB of what an edit of a file sends.
SMALL = {
    "path": "src/package/module.py",
    "pattern": "def main",
    "limit": 30,
    "tags": ["alpha", "beta", "gamma"],
}
MIDDLE = {
    "path": "src/package/module.py",
    "edits": [
        {
            "line": 10 * n,
            "old": f"    value = compute(first[{n}], second)",
            "new": f"    value = compute(first[{n}], second, exact=True)",
            "flags": {"regex": False, "count": 1, "weight": 0.5},
        }
        for n in range(22)
    ],
}


@contextmanager
def ready(_quick: bool) -> Iterator[Sampler]:
    """
    Prepare the texts.
    """
    limits, decode = JSONLimits(), json.loads
    small, middle = json.dumps(SMALL), json.dumps(MIDDLE)
    runs = {
        "json 100": lambda: decode(small),
        "strict 100": lambda: loads_strict(small, limits),
        "json 4k": lambda: decode(middle),
        "strict 4k": lambda: loads_strict(middle, limits),
    }
    yield lambda: in_turn(runs, calls=40)


PROBE = Probe(
    name="gate",
    ready=ready,
    rows=(
        Row(
            title="strict reader, 100 B",
            value="strict 100",
            unit="us",
            floor="json 100",
            what=WHAT,
            most=1.8,
        ),
        Row(
            title="strict reader, 4 KB",
            value="strict 4k",
            unit="us",
            floor="json 4k",
            what=WHAT,
            most=1.8,
        ),
    ),
)
