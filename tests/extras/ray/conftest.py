"""
What the tests of a cluster share: one Ray of one node for all that need no more.
"""

from __future__ import annotations

import os
import threading

from pathlib import Path

import pytest

import driving_ray

from engine_stage import Stage
from processes.conftest import lifeline, make_client
from tooldecl.engines import RayEngine


__all__ = ["lifeline", "make_client"]


@pytest.fixture(scope="session", autouse=True)
def engines_end():
    """
    End Ray before the session looks at what is left, and look at what it has left.
    """
    yield
    folders = list(driving_ray.FOLDERS)
    driving_ray.end()
    waiting = threading.Event()
    for _ in range(300):
        left = [x for folder in folders for x in at_home_in(folder)]
        if not left:
            break
        waiting.wait(0.1)

    assert [] == left


def at_home_in(folder):
    """
    List the processes that were told of a folder, whosever children they are.
    """
    found = []
    for at in Path("/proc").glob("[0-9]*"):
        try:
            told = folder.encode() in (at / "environ").read_bytes()
            if told and int(at.name) != os.getpid():
                found.append((at / "cmdline").read_bytes()[:200])
        except OSError:  # it has just ended
            continue

    return found


@pytest.fixture
def make_engine():
    """
    Make engines over the session's Ray, and close them when the test ends.
    """
    made = []
    address = driving_ray.address()  # before the clock of an async test begins

    def make(**options):
        made.append(RayEngine(address, **options))

        return made[-1]

    yield make
    for engine in made:
        engine.close()


@pytest.fixture
def stage(tmp_path):
    """
    Meet bodies anywhere, and leave none of them held.
    """
    folder = tmp_path / "stage"
    folder.mkdir()
    stage = Stage(folder)
    yield stage
    stage.close()
