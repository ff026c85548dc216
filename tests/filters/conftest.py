"""
What the tests of filter objects share: each of them is made in both colours.
"""

from __future__ import annotations

import pytest

from waiting import COLOURS


@pytest.fixture(params=COLOURS)
def colour(request):
    """
    Make the filters of the test sync, and async.
    """
    return request.param
