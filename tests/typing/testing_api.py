"""
What type checkers say of the testing kit: checked, never run.
"""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

from tooldecl import ToolClient, ToolResult, tool
from tooldecl.filters import Approval, Approved, Denied
from tooldecl.telemetry import Carrier, LoggingHook
from tooldecl.testing import (
    Chaos,
    FakeClock,
    FakeEngine,
    Gate,
    RecordedCall,
    Recording,
    RecordingHook,
    Replay,
    ScriptedApprover,
    assert_called,
    assert_no_abandoned,
    assert_not_called,
)


@tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


clock, hook, recording = FakeClock(), RecordingHook(), Recording(sensitive=True)
engine = FakeEngine(order="reversed", lost=[1], delays={0: 1.5}, clock=clock)
approver = ScriptedApprover([Approved(), Denied("no"), ConnectionError()])
replay = Replay(Path("run.json"), order="any")
client = ToolClient(
    [add],
    engine=engine,
    filters=[
        recording,
        replay,
        Chaos(1, failures=0.5, clock=clock),
        Approval(approver),
    ],
    hooks=[hook, LoggingHook()],
    clock=clock,
)

assert_type(assert_called(hook, "add", a=1), list[ToolResult])
assert_not_called(hook, "add", a=2)
assert_no_abandoned()
assert_no_abandoned(client)
assert_type(recording.calls, tuple[RecordedCall, ...])
assert_type(Recording.load("run.json"), Recording)
assert_type(engine.ran, list[str])
assert_type(Gate(hangs_after=5).open(), None)


class Carrying:
    """
    A hook that takes something along.
    """

    def __call__(self, event: object) -> None: ...

    def carry(self) -> dict[str, str]:
        """
        Take nothing.
        """
        return {}

    @staticmethod
    def restore(values: object, /) -> None: ...


carrier: Carrier = Carrying()
ToolClient([add], hooks=[Carrying()])
