"""
What the scenarios share: both fronts, and a gate that no test leaves closed.
"""

from __future__ import annotations

import pytest

from command_line import HELLO, Here, forgotten
from fronts import FRONTS, Listener
from ordering import Gate


@pytest.fixture(params=FRONTS)
def front(request):
    """
    Run the test from a script without a loop, and from a loop.
    """
    return request.param


@pytest.fixture
def gate():
    """
    Hold bodies until the test lets them go, at the latest when it ends.
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


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """
    Type commands in this process, in a folder with a module called hello.
    """
    monkeypatch.chdir(tmp_path)
    here = Here(tmp_path, capsys)
    here.write("hello.py", HELLO)
    with forgotten(tmp_path):
        yield here
