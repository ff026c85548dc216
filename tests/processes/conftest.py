"""
What the tests of worker processes share: clients that are closed, and no child left.
"""

from __future__ import annotations

import pytest

from given import GIVEN
from processes.watching import Lifeline, await_children, children
from tooldecl import ToolClient


@pytest.fixture(autouse=True)
def no_child_left():
    """
    End every test by a look at the children of this process.
    """
    before = children()
    yield
    if not GIVEN:  # their workers may have been replaced: the end of the session looks
        assert before >= await_children(before)


@pytest.fixture
def make_client(listener):
    """
    Make clients that are closed when the test ends.
    """
    made = []

    def make(*tools, **options):
        client = ToolClient(tools, hooks=[listener], **options)
        made.append(client)

        return client

    yield make
    for client in made:
        client.close()


@pytest.fixture
def lifeline(tmp_path):
    """
    Know of everything that a tool has started and that still lives.
    """
    line = Lifeline(tmp_path)
    yield line
    line.close()
