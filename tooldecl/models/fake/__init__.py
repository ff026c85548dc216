"""
A provider that answers from a script, on a real port of this machine.

Users import it from `tooldecl.testing`.
"""

from __future__ import annotations

from ._script import FakeReply, FakeRequest
from ._server import FakeLLM


__all__ = ["FakeLLM", "FakeReply", "FakeRequest"]
