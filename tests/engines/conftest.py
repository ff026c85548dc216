"""
What the tests of engines share.
"""

from __future__ import annotations

import pytest

from engine_stage import ENGINES, OVERLAPPING, Stage


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
