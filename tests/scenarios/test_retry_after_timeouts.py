"""
Retries and timeouts together: each attempt has its own limit, and no effect is doubled.
"""

from __future__ import annotations

import asyncio
import threading

import pytest

from fronts import call
from tooldecl import Retry, ToolClient, ToolContext, ToolError, tool
from tooldecl.engines import SequentialEngine
from tooldecl.exceptions import ToolTimeoutError
from tooldecl.testing import FakeClock


SHORT = 0.2  # long enough for a body to begin on a busy machine


def run(front, declared, **options):
    """
    Run the one tool of a client.
    """
    client = ToolClient([declared], clock=FakeClock(), **options)

    return call(front, client, next(iter(client.table)))


def test_an_attempt_that_was_stopped_is_repeated(front):
    """
    RTY-05, R32: the limit is per attempt; the second one has all of it again.
    """
    runs = []

    @tool(timeout=SHORT, retry=2)
    async def slow_once(ctx: ToolContext) -> str:
        """Hang the first time."""
        runs.append(ctx.remaining() > SHORT / 2)
        if ctx.attempt == 1:
            await asyncio.Event().wait()
        return "done"

    result = run(front, slow_once)

    assert ("ok", 2, [True, True], "completed") == (
        result.status,
        result.attempts,
        runs,
        result.fate,
    )


def test_a_body_that_may_still_run_is_not_repeated(front, gate):
    """
    R18, R28: three attempts were declared, and one is made: the first may still take
    effect.
    """
    runs = []

    @tool(timeout=SHORT, retry=3)
    def pay() -> None:
        """Hang."""
        runs.append(1)
        gate.pass_through()

    result = run(front, pay)

    assert ("timeout", "abandoned", 1, [1]) == (
        result.status,
        result.fate,
        result.attempts,
        runs,
    )


def test_a_tool_that_is_safe_to_repeat_is_repeated(front, gate):
    """
    R28: the explicit declaration is honoured, and the text says how many there were.
    """
    runs = []

    @tool(timeout=SHORT, retry=3, idempotent=True)
    def look() -> None:
        """Hang."""
        runs.append(1)
        gate.pass_through()

    result = run(front, look)

    assert ("timeout", "abandoned", 3, 3, "3 attempts were made.") == (
        result.status,
        result.fate,
        result.attempts,
        len(runs),
        result.content[-21:],
    )


@pytest.mark.parametrize(("idempotent", "attempts"), [(False, 1), (True, 2)])
def test_a_body_that_ended_late_is_repeated_only_where_that_is_safe(
    idempotent, attempts
):
    """
    R28: it ran to its end, so its effect is there, though nobody saw its value. An async
    body that blocks its own loop past the deadline is such a one.
    """
    runs = []

    @tool(timeout=SHORT, retry=2, idempotent=idempotent)
    async def late() -> str:
        """Block the loop past the deadline."""
        runs.append(1)
        threading.Event().wait(SHORT * 2)
        return "late"

    result = run("async", late)

    assert ("timeout", "completed", attempts, attempts) == (
        result.status,
        result.fate,
        result.attempts,
        len(runs),
    )


@pytest.mark.parametrize("retry", [Retry(on=lambda _: True), Retry(on=(TimeoutError,))])
def test_no_predicate_makes_it_safe(front, gate, retry):
    """
    R28: what to repeat and whether it is safe to repeat are two declarations.
    """
    runs = []

    @tool(timeout=SHORT, retry=retry)
    def pay() -> None:
        """Hang."""
        runs.append(1)
        gate.pass_through()

    run(front, pay)

    assert [1] == runs


def test_types_decide_about_timeouts_too(front):
    """
    A tool that repeats only a busy shop does not repeat its own slowness.
    """
    runs = []

    @tool(timeout=SHORT, retry=Retry(on=(ConnectionError,)))
    async def slow() -> None:
        """Hang."""
        runs.append(1)
        await asyncio.Event().wait()

    result = run(front, slow)

    assert ("timeout", "stopped", [1]) == (result.status, result.fate, runs)


def test_the_engines_limit_is_per_attempt_as_well(front):
    """
    R32: whoever sets a limit, it means the same.
    """
    runs = []

    @tool(retry=Retry(attempts=3))
    async def slow() -> None:
        """Hang."""
        runs.append(1)
        await asyncio.Event().wait()

    result = run(front, slow, engine=SequentialEngine(timeout=SHORT))

    assert (
        "Tool 'slow' did not finish within 0.2 s, the engine's limit. It was stopped. 3 "
        "attempts were made." == result.content
    )


def test_a_failure_and_then_a_timeout_end_as_a_timeout(front, gate):
    """
    The last attempt gives the answer, and all of them are counted.
    """

    @tool(timeout=SHORT, retry=3)
    def fickle(ctx: ToolContext) -> None:
        """Fail, then hang."""
        if ctx.attempt == 1:
            raise ConnectionError
        gate.pass_through()

    result = run(front, fickle)

    assert ("timeout", "abandoned", 2, 2) == (
        result.status,
        result.fate,
        result.attempts,
        result.error.attempts,
    )


def test_a_tools_own_timeout_error_is_not_our_deadline(front):
    """
    FAT: it is transient and may be repeated, but its words and ours are not mixed up.
    """
    runs = []

    @tool(timeout=60, retry=2)
    def impatient() -> None:
        """Give up on something."""
        runs.append(1)
        raise TimeoutError("the shop took 3 s")

    result = run(front, impatient)

    assert ("tool_error", "transient", 2, "completed") == (
        result.status,
        result.error_class,
        len(runs),
        result.fate,
    )
    assert (
        "Tool 'impatient' failed: TimeoutError. 2 attempts were made; each may have taken "
        "effect." == result.content
    )


@pytest.mark.parametrize(
    ("fate", "attempts"),
    [("stopped", 2), ("not_started", 2), ("abandoned", 1), ("completed", 1)],
)
def test_a_timeout_of_another_client_inside_of_a_body_keeps_its_meaning(
    front, fate, attempts
):
    """
    A tool may use a client of its own. Where that one's body may still take effect, the
    outer tool is no safer to repeat than the inner one.
    """
    runs = []

    @tool(retry=2)
    def outer() -> None:
        """Let an inner timeout out."""
        runs.append(1)
        raise ToolTimeoutError(tool="inner", timeout=1, source="declared", fate=fate)

    result = run(front, outer)

    assert ("tool_error", attempts, attempts) == (
        result.status,
        result.attempts,
        len(runs),
    )


def test_nested_clients_have_their_own_answers(front, gate):
    """
    E-07: an inner client's timeout is the inner call's; the outer tool words its own
    failure, and no limit is inherited.
    """

    @tool
    def inner() -> None:
        """Hang."""
        gate.pass_through()

    client = ToolClient([inner], engine=SequentialEngine(timeout=SHORT))

    @tool
    def outer() -> str:
        """Ask the inner client."""
        result = client.invoke("inner")
        if not result.ok:
            raise ToolError(f"The inner tool gave no answer: {result.status}.")
        return "done"

    result = run(front, outer)

    assert ("tool_error", "The inner tool gave no answer: timeout.") == (
        result.status,
        result.content,
    )
