"""
What the tests of the models share: both fronts, every wire, whole and streamed.
"""

from __future__ import annotations

import pytest

from fronts import FRONTS
from wires import WIRES


@pytest.fixture(params=FRONTS)
def front(request):
    """
    Run the test from a script without a loop, and from a loop.
    """
    return request.param


@pytest.fixture(params=WIRES)
def wire(request):
    """
    Run the test over every wire.
    """
    return request.param


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def stream(request):
    """
    Run the test with whole and with streamed answers.
    """
    return request.param
