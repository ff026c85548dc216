"""
What the tests of engines share.
"""

from __future__ import annotations

import pytest

from engine_stage import ENGINES, OVERLAPPING, Stage
from fronts import FRONTS, Listener
from ordering import Gate


@pytest.fixture(params=FRONTS)
def front(request):
    """
    Run the test from a script without a loop, and from a loop.
    """
    return request.param


@pytest.fixture(params=ENGINES, ids=lambda case: case.name)
def case(request):
    """
    Run the test under every engine.
    """
    return request.param


@pytest.fixture(params=OVERLAPPING, ids=lambda case: case.name)
def overlapping(request):
    """
    Run the test under every engine that runs calls at once.
    """
    return request.param


@pytest.fixture
def stage(tmp_path):
    """
    Meet bodies of any process, and leave none of them held.
    """
    stage = Stage(tmp_path)
    yield stage
    stage.close()


@pytest.fixture
def gate():
    """
    Hold bodies of this process until the test lets them go, at the latest when it ends.
    """
    gate = Gate()
    yield gate
    gate.open()


@pytest.fixture
def listener():
    """
    Hear what a client tells its hooks.
    """
    return Listener()
