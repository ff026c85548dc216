"""
How many calls one call may make inside: a budget that no busy machine can change.

Counted are Python and C functions, as the interpreter reports them to a profiler, on the
thread that calls. A higher number here needs a reason in the diff; a lower one is free.
Figures in microseconds are on docs/explanation/performance.md.
"""

from __future__ import annotations

import asyncio
import sys

import pytest

from counting import Counting
from tooldecl import Retry, ToolClient, tool


TEXT = '{"path": "some/long/file.txt", "limit": 30, "tags": ["alpha", "beta"]}'
MAPPING = {"path": "some/long/file.txt", "limit": 30, "tags": ["alpha", "beta"]}
WARM = 5

# From 3.12 on a task starts within the call that makes it.
BUDGETS = {
    "text": 90,
    "mapping": 122,
    "limited": 112,
    "awaited": 98,
    "awaited_limited": 114 if sys.version_info >= (3, 12) else 186,
}


def read(path: str, limit: int, tags: list[str]) -> int:
    """
    Count.
    """
    return limit + len(tags)


async def aread(path: str, limit: int, tags: list[str]) -> int:
    """
    Count.
    """
    return limit + len(tags)


def watch(request):
    """
    Look on.
    """
    result = yield request

    return result


def client(*others, filters=()):
    """
    Return a client of all the kinds, and of *others*.
    """
    kinds = [
        tool(name="plain")(read),
        tool(name="limited", timeout=60)(read),
        tool(name="retried", retry=Retry())(read),
        tool(name="awaited")(aread),
        tool(name="awaited_limited", timeout=60)(aread),
    ]

    return ToolClient([*kinds, *others], filters=filters)


def calls_of(made, name, arguments=TEXT):
    """
    Return how many calls one warm sync call makes.
    """
    for _ in range(WARM):
        made.invoke(name, arguments).unwrap()
    with Counting() as counting:
        result = made.invoke(name, arguments)
    assert 32 == result.value

    return counting.calls


def calls_of_async(made, name):
    """
    Return how many calls one warm async call makes, its task's included.
    """

    async def main():
        for _ in range(WARM):
            (await made.ainvoke(name, TEXT)).unwrap()
        with Counting() as counting:
            result = await made.ainvoke(name, TEXT)
        assert 32 == result.value

        return counting.calls

    return asyncio.run(main(), debug=False)


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("text", lambda made: calls_of(made, "plain")),
        ("mapping", lambda made: calls_of(made, "plain", MAPPING)),
        ("limited", lambda made: calls_of(made, "limited")),
        ("awaited", lambda made: calls_of_async(made, "awaited")),
        ("awaited_limited", lambda made: calls_of_async(made, "awaited_limited")),
    ],
    ids=BUDGETS,
)
def test_one_call_stays_within_its_budget(kind, count):
    """
    Work that creeps into the way of every call is seen here first, whatever the machine.
    """
    made = count(client())

    assert made <= BUDGETS[kind], f"{kind}: {made} calls"


def test_the_count_is_the_same_each_time():
    """
    A budget on counts is worth something only if the count depends on nothing else.
    """
    made = client()

    assert calls_of(made, "plain") == calls_of(made, "plain")


def test_a_filter_is_counted():
    """
    The control: work that is really there is seen.
    """
    without, within = client(), client(filters=[watch])

    assert calls_of(without, "plain") < calls_of(within, "plain")


def test_a_retry_that_is_not_used_is_one_look_at_the_clock():
    """
    What is declared and not needed has next to no price.
    """
    made = client()

    assert calls_of(made, "retried") <= calls_of(made, "plain") + 2


def test_many_tools_add_no_call():
    """
    Finding one tool among five hundred takes as many steps as finding one among five.
    """
    others = [tool(name=f"other_{number}")(read) for number in range(500)]

    assert calls_of(client(), "plain") == calls_of(client(*others), "plain")
