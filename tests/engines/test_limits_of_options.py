"""
No option of an engine is taken that says nothing: E-03, and VAL-03, VAL-05 beyond numbers.
"""

from __future__ import annotations

import pytest

from tooldecl import ToolClient, tool
from tooldecl.engines import (
    AsyncioEngine,
    Engine,
    ProcessEngine,
    SequentialEngine,
    ThreadEngine,
)
from tooldecl.exceptions import DeclarationError


@tool(timeout=5)
def add(a: int, b: int) -> int:
    """
    Add.
    """
    return a + b


class Placing(Engine):
    """
    An engine of a host's own, which says where bodies run.
    """

    default_isolation = "inline"

    def run_batch(self, calls, run):
        return [run(call) for call in calls]

    async def arun_batch(self, calls, run):
        return [await run(call) for call in calls]


@pytest.mark.parametrize("over_limit", ["reject", "sequential"])
@pytest.mark.parametrize("kind", [SequentialEngine, ThreadEngine, AsyncioEngine])
def test_what_happens_over_the_limit_needs_one(kind, over_limit):
    """
    Over no limit nothing ever happens; unless told otherwise there are eight places.
    """
    with pytest.raises(DeclarationError) as caught:
        kind(max_concurrency=None, over_limit=over_limit)

    assert (
        f"{kind.__name__}(over_limit=...) takes {over_limit!r} only beside a "
        "max_concurrency: nothing is ever over no limit." == str(caught.value)
    )
    assert 8 == kind(over_limit=over_limit).max_concurrency
    assert kind(max_concurrency=None).max_concurrency is None


def test_there_are_always_so_many_workers_at_most():
    """
    A number that was taken and not kept would be a dead option.
    """
    with pytest.raises(DeclarationError) as caught:
        ProcessEngine(max_concurrency=None)

    assert str(caught.value).startswith(
        "ProcessEngine(max_concurrency=...) takes a whole"
    )


def test_an_engine_that_puts_bodies_inline_cannot_promise_a_limit():
    """
    R05: refused at build, as if the tool had declared it, and never ignored.
    """
    with pytest.raises(DeclarationError) as caught:
        ToolClient([add], engine=Placing())

    assert "runs inline, where its timeout of 5 s cannot be enforced" in str(
        caught.value
    )


def test_an_engine_puts_bodies_where_there_is_something():
    """
    A place that nothing knows would be taken for the caller's thread.
    """
    engine = Placing()
    engine.default_isolation = "fork"
    with pytest.raises(DeclarationError) as caught:
        ToolClient([], engine=engine)

    assert (
        "Placing(default_isolation=...) takes 'inline', 'thread', 'process' or None, got "
        "'fork'." == str(caught.value)
    )
