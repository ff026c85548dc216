"""
The rows of the table, one subject a module.
"""

from __future__ import annotations

from measuring import Probe

from . import (
    awaiting,
    batches,
    building,
    crowd,
    deadlines,
    declaring,
    gating,
    importing,
    kills,
    limits,
    memory,
    payloads,
    plain,
    workers,
)


PROBES: tuple[Probe, ...] = (
    plain.PROBE,
    gating.PROBE,
    limits.PROBE,
    awaiting.PROBE,
    batches.SYNC,
    batches.ASYNC,
    batches.ONE_BY_ONE,
    crowd.PROBE,
    workers.PROBE,
    deadlines.ALONE,
    deadlines.CROWD,
    kills.PROBE,
    declaring.PROBE,
    building.PROBE,
    importing.PROBE,
    memory.PROBE,
    payloads.PROBE,
)
