"""
Every filter works under both fronts, so every test of one runs under both.
"""

from __future__ import annotations

import pytest

from fronts import FRONTS


@pytest.fixture(params=FRONTS)
def front(request):
    """
    Run the test from a script without a loop, and from a loop.
    """
    return request.param
