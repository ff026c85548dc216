"""
What all tests of MCP share.
"""

from __future__ import annotations

import sys

from pathlib import Path

import pytest


sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """
    A directory in which tools tell of themselves, in this process or in another.
    """
    monkeypatch.setenv("STAGE", str(tmp_path))

    return tmp_path
