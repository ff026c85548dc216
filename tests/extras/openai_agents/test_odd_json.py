"""
What is said of this framework and odd arguments is what it does.
"""

from __future__ import annotations

import pytest

from odd_columns import seen, written


@pytest.mark.parametrize("heading", ["tooldecl", "openai-agents"])
def test_the_table_of_odd_arguments_is_what_is_seen(heading):
    """
    What is said of another package has to be true of its newest release.
    """
    assert written(heading) == seen(heading)
