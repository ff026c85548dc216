"""
What a body sees of its retries: its number, fresh arguments, its own writes.
"""

from __future__ import annotations

import asyncio
import functools

from typing import Annotated

import pytest

from pydantic import AfterValidator

from fronts import call, call_batch
from scenarios.flaky_tools import failing, run
from tooldecl import (
    Retry,
    ToolCall,
    ToolClient,
    ToolContext,
    tool,
)
from tooldecl.telemetry import AttemptFailed
from tooldecl.testing import FakeClock


def test_each_attempt_knows_its_number_and_the_failure_before(front):
    """
    RTY-11: a body may try another way the second time.
    """
    seen = []

    @tool(retry=3)
    def flaky(ctx: ToolContext) -> str:
        """Fail twice."""
        seen.append((ctx.attempt, ctx.previous_error, ctx.idempotency_key))
        if ctx.attempt < 3:
            raise ConnectionError(f"number {ctx.attempt}")
        return "done"

    run(front, flaky)

    assert [1, 2, 3] == [number for number, *_ in seen]
    assert ["None", "number 1", "number 2"] == [str(error) for _, error, _ in seen]
    assert 1 == len({key for *_, key in seen})


def test_a_body_that_changes_its_arguments_gets_fresh_ones(front):
    """
    Otherwise the second attempt would order twice what the first has half worked off.
    """
    seen = []

    @tool(retry=3)
    def ship(items: list[dict[str, int]]) -> str:
        """Ship items."""
        seen.append([dict(item) for item in items])
        items.pop()["count"] = 0
        if len(seen) < 3:
            raise ConnectionError
        return "shipped"

    client = ToolClient([ship], clock=FakeClock())
    call(front, client, "ship", {"items": [{"count": 1}, {"count": 2}]})

    assert [[{"count": 1}, {"count": 2}]] * 3 == seen


def test_arguments_that_fit_no_longer_end_the_attempts(front):
    """
    A check of the author's own may change its mind; what then counts is what the body
    did, which has run.
    """
    checked, runs = [], []

    def only_once(value):
        checked.append(value)
        if len(checked) > 1:
            raise ValueError("too late")
        return value

    @tool(retry=3)
    def order(item: Annotated[str, AfterValidator(only_once)]) -> None:
        """Order."""
        runs.append(item)
        raise ConnectionError

    client = ToolClient([order], clock=FakeClock())
    result = call(front, client, "order", {"item": "tea"})

    assert ("tool_error", "Tool 'order' failed: ConnectionError.", 1, ["tea"]) == (
        result.status,
        result.content,
        result.attempts,
        runs,
    )


def test_writes_of_a_failed_attempt_are_dropped(front):
    """
    Only what the attempt wrote that gave the answer is part of it.
    """

    @tool(retry=2)
    def flaky(ctx: ToolContext) -> None:
        """Write and fail once."""
        ctx.write(f"attempt {ctx.attempt}", True)
        if ctx.attempt == 1:
            raise ConnectionError

    client = ToolClient([flaky], clock=FakeClock())
    call(front, client, "flaky")

    assert {"attempt 2": True} == client.state


def test_a_sibling_is_not_run_again(front):
    """
    RTY-09, R30: a retry is one call's own affair.
    """
    flaky, runs = failing(1, ConnectionError(), retry=2)
    others = []

    @tool
    def steady() -> str:
        """Count."""
        others.append(1)
        return "ok"

    client = ToolClient([flaky, steady], clock=FakeClock())
    calls = [ToolCall("steady"), ToolCall("flaky"), ToolCall("steady")]
    results = call_batch(front, client, calls)

    assert (["ok"] * 3, [1, 2, 1], [1, 2], [1, 1]) == (
        [r.status for r in results],
        [r.attempts for r in results],
        runs,
        others,
    )


def with_retries(times):
    """
    Make a generic retry decorator, as third parties have them.
    """

    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            for _ in range(times - 1):
                try:
                    return function(*args, **kwargs)
                except ConnectionError:
                    pass
            return function(*args, **kwargs)

        return wrapper

    return decorate


def test_a_retry_decorator_under_the_tool_works_inside_of_one_attempt(front):
    """
    R35: it is part of the body, and one attempt for us.
    """
    runs = []

    @tool
    @with_retries(3)
    def flaky(key: str) -> str:
        """Fail twice."""
        runs.append(key)
        if len(runs) < 3:
            raise ConnectionError
        return "done"

    result = call(front, ToolClient([flaky]), "flaky", {"key": "a"})

    assert ("done", 1, ["a"] * 3) == (result.value, result.attempts, runs)


async def test_a_cancelled_caller_ends_the_wait_between_attempts():
    """
    E-12, R31: nobody waits an hour for a program that is being stopped.
    """
    failed = asyncio.Event()

    def waiting(event):
        if type(event) is AttemptFailed:
            failed.set()

    flaky, runs = failing(9, ConnectionError(), retry=Retry(delay=3600, max_delay=3600))
    task = asyncio.create_task(ToolClient([flaky], hooks=[waiting]).ainvoke("flaky"))
    await failed.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert [1] == runs


async def test_a_cancelled_body_is_not_repeated():
    """
    R31: "everything but ValueError" includes no cancellation, and the caller ends
    cancelled after one attempt.
    """
    runs, started = [], asyncio.Event()

    @tool(retry=Retry(attempts=5, delay=0, on=lambda e: not isinstance(e, ValueError)))
    async def hang() -> None:
        """Wait for ever."""
        runs.append(1)
        started.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(ToolClient([hang]).ainvoke("hang"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert [1] == runs
