"""
Stand-ins for tests of one's own tools, and what a test says of a client.

The matching page is docs/how-to/test-your-tools.md; with pytest, the fixtures there are
installed by themselves.
"""

from __future__ import annotations

from ..models.fake import FakeLLM, FakeReply, FakeRequest
from ._chaos import Chaos
from ._clock import FakeClock
from ._engine import FakeEngine
from ._gate import Gate
from ._hook import (
    RecordingHook,
    assert_called,
    assert_no_abandoned,
    assert_not_called,
)
from ._recording import RecordedCall, Recording
from ._replay import Replay, ReplayMismatchError
from ._scripts import ScriptedApprover, ScriptedModel


__all__ = [
    "Chaos",
    "FakeClock",
    "FakeEngine",
    "FakeLLM",
    "FakeReply",
    "FakeRequest",
    "Gate",
    "RecordedCall",
    "Recording",
    "RecordingHook",
    "Replay",
    "ReplayMismatchError",
    "ScriptedApprover",
    "ScriptedModel",
    "assert_called",
    "assert_no_abandoned",
    "assert_not_called",
]
