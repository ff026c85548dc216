"""
Calls that failed through their environment, and a loop that pauses for them.

The matching page is docs/how-to/run-a-loop.md.
"""

from __future__ import annotations

import json

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ._batch import Run
from ._calls import ToolCall, ToolResult
from ._ids import new_id
from ._suspension import PendingCall, Suspension
from ._transcript import plain_arguments


# Typed so that checkers do not narrow to a dict of unknown things.
_DICT: Any = dict


def paused(
    calls: Sequence[ToolCall],
    results: Sequence[ToolResult],
    *,
    settled: Collection[str],
    run: Run,
    rounds: Mapping[str, int],
    snapshot: Mapping[str, Any],
    state: Mapping[str, Any],
) -> Suspension | None:
    """
    Return what waits until the environment is mended, or None where nothing does.

    Args:
        calls: The calls of a turn.
        results: What came of them.
        settled: Those that are to be left as they are.
        run: Where they stand in their run.
        rounds: How often each was held before.
        snapshot: The state that they see.
        state: The client's state now.
    """
    waiting = [
        _waiting(call, index, run, rounds)
        for index, (call, result) in enumerate(zip(calls, results, strict=True))
        if result.error_class == "environment" and call.id not in settled
    ]
    if not waiting:
        return None

    return Suspension(
        id=new_id("suspension"),
        calls=tuple(waiting),
        results=tuple(results),
        snapshot=snapshot,
        state=state,
    )


def _waiting(
    call: ToolCall, index: int, run: Run, rounds: Mapping[str, int]
) -> PendingCall:
    call_id = call.id or ""
    given = plain_arguments(call.arguments)
    text = given if isinstance(given, str) else json.dumps(given)
    arguments = json.loads(text or "{}") if isinstance(given, str) else given
    shown: Any = arguments if isinstance(arguments, _DICT) else {}

    return PendingCall(
        call_id=call_id,
        name=call.name,
        kind="environment",
        arguments=shown,
        expires_at=None,
        limit=None,
        given=text,
        asked=shown,
        place=0,
        run_id=run.run_id,
        position=run.position + index,
        index=index,
        round=rounds.get(call_id, -1) + 1,
    )
