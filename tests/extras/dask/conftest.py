"""
What the tests of Dask share with those of all executors.
"""

from __future__ import annotations

import pytest

from extras.dask.engine import leave_nothing
from processes.conftest import lifeline, make_client


__all__ = ["lifeline", "make_client"]


@pytest.fixture(scope="session", autouse=True)
def _nothing_of_dask():
    yield
    leave_nothing()
