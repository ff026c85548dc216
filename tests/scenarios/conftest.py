"""
What the scenarios share: both ways on from a suspension, and commands that are typed.
"""

from __future__ import annotations

import pytest

from command_line import HELLO, Here, forgotten
from suspending import ROUTES


@pytest.fixture(params=ROUTES)
def route(request):
    """
    Go on with the suspension itself, and with what is read from its JSON.
    """
    return ROUTES[request.param]


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
