"""
Runs as hooks see them, for tests of what is made of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from tooldecl import Fate, Status, ToolMeta, ToolResult
from tooldecl.exceptions import (
    InvalidArgumentsError,
    ToolFailedError,
    ToolTimeoutError,
)
from tooldecl.telemetry import (
    ApprovalAsked,
    ApprovalDecided,
    AttemptFailed,
    BatchFinished,
    BatchStarted,
    CallFinished,
    CallStarted,
    Event,
    LateFinish,
    LoopFinished,
    LoopStarted,
    ModelAsked,
    Progress,
    WriteConflict,
)


HOSTILE = "<script>pwned=1</script><img src=x onerror=pwned=1>\"'&\u202e\x1b[2J\ud800"


def finished(call_id: str, name: str, at: float, **facts: object) -> CallFinished:
    """
    Make the end of a call; it went well unless *facts* say something else.
    """
    times = {key: facts.pop(key, None) for key in ("began", "ended")}
    fields = {
        "status": Status.OK,
        "content": "3",
        "value": 3,
        "fate": Fate.COMPLETED,
        "attempts": 1,
        "elapsed": 0.5,
    }
    result = ToolResult(call_id=call_id, name=name, **fields | facts)

    return CallFinished(at=at, call_id=call_id, name=name, result=result, **times)


def started(
    call_id: str, name: str, at: float, arguments: object = None
) -> CallStarted:
    """
    Make the beginning of a call.
    """
    meta = ToolMeta(name="add", description="Add.")

    return CallStarted(
        at=at, call_id=call_id, name=name, arguments=arguments, meta=meta
    )


def timed_out(
    call_id: str, name: str, began: float, at: float, **facts
) -> Iterator[Event]:
    """
    Let the one attempt of a call run out of time, and its body run on.
    """
    error = ToolTimeoutError(
        tool=name, timeout=at - began, source="declared", fate="abandoned"
    )
    yield AttemptFailed(
        at=at,
        began=began,
        call_id=call_id,
        name=name,
        attempt=1,
        error=error,
        error_class=None,
        retry_in=None,
    )
    yield finished(
        call_id,
        name,
        at,
        began=began,
        ended=at,
        status=Status.TIMEOUT,
        fate=Fate.ABANDONED,
        error=error,
        value=None,
        content=str(error),
        **facts,
    )


def failed(call_id: str, name: str, began: float, at: float, **facts) -> AttemptFailed:
    """
    Let an attempt fail.
    """
    fields = {"attempt": 1, "error_class": "transient", "retry_in": None}
    fields["error"] = ConnectionError("no route")

    return AttemptFailed(
        at=at, began=began, call_id=call_id, name=name, **fields | facts
    )


def every_kind() -> Iterator[Event]:
    """
    Tell of a run of a loop in which everything happens that a report shows.
    """
    ids = ("c1", "c2", "c3", "c4", "c5", "c6", "c7")
    yield LoopStarted(at=99.0, run_id="run-1")
    yield ModelAsked(at=99.0, run_id="run-1", turn=1)
    yield BatchStarted(at=100.0, call_ids=ids)
    yield started("c1", "search", 100.0, {"query": "lamp"})
    yield Progress(
        at=100.2, call_id="c1", name="search", done=1, total=2, message="half"
    )
    yield finished("c1", "search", 100.5, began=100.0, ended=100.5)
    yield started("c2", "flaky", 100.1)
    yield failed("c2", "flaky", 100.1, 100.3, retry_in=0.2)
    yield finished("c2", "flaky", 101.0, began=100.5, ended=101.0, attempts=2)
    yield started("c3", "resize", 100.0)
    yield from timed_out("c3", "resize", 100.0, 101.0)
    yield started("c4", "hang", 100.0)
    yield from timed_out("c4", "hang", 100.0, 101.0)
    yield CallStarted(
        at=100.0,
        call_id="c5",
        name="pay",
        arguments=None,
        meta=ToolMeta(name="pay", description="Pay.", sensitive=True),
    )
    yield ApprovalAsked(at=100.1, call_id="c5", name="pay", expires=None)
    yield ApprovalDecided(at=101.1, call_id="c5", name="pay", decision="approved")
    yield finished("c5", "pay", 101.4, began=101.2, ended=101.4, elapsed=1.4)
    yield started("c6", HOSTILE, 100.6)
    error = InvalidArgumentsError(tool=HOSTILE, problems=[(HOSTILE, HOSTILE)])
    refused = {"status": Status.INVALID, "fate": Fate.NOT_STARTED, "attempts": 0}
    refused |= {"elapsed": 0.0, "value": None, "error": error, "content": HOSTILE}
    yield finished("c6", HOSTILE, 100.6, queue_wait=0.6, **refused)
    yield started("c7", "broken", 100.0)
    yield failed("c7", "broken", 100.0, 100.4, error=ValueError(HOSTILE))
    error = ToolFailedError(tool="broken", type_names=["ValueError"])
    broken = {"status": Status.TOOL_ERROR, "error": error, "value": None}
    yield finished("c7", "broken", 100.4, began=100.0, ended=100.4, **broken)
    yield WriteConflict(at=101.4, slot="cart", call_ids=("c1", "c2"))
    yield BatchFinished(at=101.4, call_ids=ids)
    yield LateFinish(at=101.2, call_id="c3", name="resize", late_by=0.2, value=1)
    yield LoopFinished(at=101.5, run_id="run-1", stop_reason="answer", turns=1)


def many(number: int) -> Iterator[Event]:
    """
    Tell of a batch of many calls, of which some go wrong.
    """
    ids = tuple(f"c{n}" for n in range(number))
    yield BatchStarted(at=0.0, call_ids=ids)
    for n, call_id in enumerate(ids):
        at = n * 0.02
        name = ("search", "add", "fetch_a_page_by_a_name_that_is_rather_long")[n % 3]
        yield started(call_id, name, at, {"query": "x" * n})
        if n % 10 == 5:
            yield from timed_out(call_id, name, at, at + 0.5, queue_wait=at)
        else:
            end = at + 0.1 + n % 7 / 10
            yield finished(call_id, name, end, began=at, ended=end, queue_wait=at)
    yield BatchFinished(at=number * 0.02 + 1, call_ids=ids)
