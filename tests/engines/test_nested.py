"""
Calls from inside of calls never wait for themselves.
"""

from __future__ import annotations

import threading

import pytest

from engine_stage import begin, outcome
from fronts import call, call_batch
from ordering import HANGS_AFTER
from tooldecl import ToolCall, ToolClient, tool
from tooldecl.engines import AsyncioEngine, SequentialEngine, ThreadEngine


@pytest.fixture(params=["queue", "reject"])
def over_limit(request):
    """
    Run the test with waiting for a place, and without.
    """
    return request.param


@pytest.fixture(params=[SequentialEngine, ThreadEngine, AsyncioEngine])
def narrow(request, over_limit):
    """
    Run the test under every engine, with room for one call.
    """
    return request.param(max_concurrency=1, over_limit=over_limit)


def nesting(engine, **options):
    """
    Build a client whose tools call each other in every way there is.
    """

    @tool
    def leaf(number: int) -> int:
        """End here."""
        return number

    @tool
    async def aleaf(number: int) -> int:
        """End here."""
        return number

    @tool
    def one(name: str) -> int:
        """Call another tool."""
        return client.invoke(name, {"number": 1}).unwrap()

    @tool
    async def aone(name: str) -> int:
        """Call another tool."""
        return (await client.ainvoke(name, {"number": 1})).unwrap()

    @tool
    async def blocking(name: str) -> int:
        """Call another tool, and hold the loop meanwhile."""
        return client.invoke(name, {"number": 1}).unwrap()

    @tool
    def several(name: str) -> int:
        """Call several tools at once."""
        calls = [ToolCall(name, {"number": n}) for n in range(5)]
        return sum(r.unwrap() for r in client.invoke_batch(calls))

    @tool
    async def aseveral(name: str) -> int:
        """Call several tools at once."""
        calls = [ToolCall(name, {"number": n}) for n in range(5)]
        return sum(r.unwrap() for r in await client.ainvoke_batch(calls))

    @tool
    def deep(name: str) -> int:
        """Call a tool that calls others."""
        return client.invoke("several", {"name": name}).unwrap()

    tools = [leaf, aleaf, one, aone, blocking, several, aseveral, deep]
    client = ToolClient(tools, engine=engine, **options)

    return client


class TestPlaces:
    """
    A call inside of a call shares its place.
    """

    @pytest.mark.parametrize("inner", ["leaf", "aleaf"])
    def test_with_room_for_one_every_nesting_ends(self, narrow, front, inner):
        """
        E-10: an engine that waits for itself never ends; and no place is lost.
        """
        client = nesting(narrow)
        outer = ["one", "aone", "blocking", "several", "aseveral", "deep"]
        future = begin(nest_all, front, client, outer, inner)

        assert [1, 1, 1, 10, 10, 10] == outcome(future)
        assert 0 == narrow.line.taken

    def test_what_a_filter_calls_is_inside_too(self, narrow, front):
        """
        E-10: a filter is around the body, and its call has been admitted.
        """

        def asking(request):
            if request.name == "one":
                assert client.invoke("leaf", {"number": 1}).ok
            return (yield request)

        client = nesting(narrow, filters=[asking])
        future = begin(call, front, client, "one", {"name": "leaf"})

        assert (1, 0) == (outcome(future).value, narrow.line.taken)

    def test_a_call_from_outside_waits(self, front, gate):
        """
        E-10: the control: without its callers' context a call has no place of theirs.
        """

        @tool
        def outer() -> str:
            """Call from a thread that knows nothing of this call."""
            found = begin(client.invoke, "inner")
            gate.pass_through()
            return "unfinished" if not found.done() else "finished"

        @tool
        def inner() -> None:
            """End here."""

        client = ToolClient([outer, inner], engine=ThreadEngine(max_concurrency=1))
        future = begin(call, front, client, "outer")
        gate.wait_for_arrivals()
        gate.open()

        assert "unfinished" == outcome(future).value


def nest_all(front, client, outer, inner):
    """
    Run each of the outer tools, and return their values.
    """
    return [call(front, client, name, {"name": inner}).unwrap() for name in outer]


def grouped(**waits):
    """
    Build a client whose grouped tools call each other.
    """

    @tool(serial="disk")
    def disk(then: str) -> str:
        """Be of a group, and call another tool."""
        return followed(client, waits, "disk", then)

    @tool(serial="tape")
    def tape(then: str) -> str:
        """Be of another group, and call another tool."""
        return followed(client, waits, "tape", then)

    @tool
    def free(then: str) -> str:
        """Be of no group, and call another tool."""
        return followed(client, waits, "free", then)

    client = ToolClient([disk, tape, free], engine=ThreadEngine())

    return client


def followed(client, waits, name, then):
    """
    Wait where the test says so, and call what is to follow.
    """
    if name in waits:
        waits[name]()
    if not then:
        return "ok"
    first, _, rest = then.partition(" ")
    result = client.invoke(first, {"then": rest})

    return result.value if result.ok else f"{result.status} {result.content}"


class TestGroups:
    """
    A group that is held by a caller is not waited for.
    """

    @pytest.mark.parametrize("then", ["disk", "free disk", "tape free disk"])
    def test_a_call_of_its_callers_group_is_busy(self, front, then):
        """
        SPEC 1: waiting for it would never end, and overlapping it would break a promise.
        """
        future = begin(call, front, grouped(), "disk", {"then": then})

        assert (
            "busy Tool 'disk' was not run: a call of the serial group 'disk' made it and "
            "has not ended." == outcome(future).value
        )

    @pytest.mark.parametrize("then", ["tape", "free tape", "free free"])
    def test_another_group_is_free(self, front, then):
        """
        SPEC 1: the control of the test above.
        """
        assert "ok" == call(front, grouped(), "disk", {"then": then}).value

    def test_two_calls_that_want_each_others_group_both_end(self, front):
        """
        E-10: each holds what the other waits for; the second to ask is told so.
        """
        meeting = threading.Barrier(2)
        inside = set()

        def meet():
            if len(inside) < 2:
                inside.add(threading.get_ident())
                meeting.wait(HANGS_AFTER)

        client = grouped(disk=meet, tape=meet)
        calls = [
            ToolCall("disk", {"then": "tape"}),
            ToolCall("tape", {"then": "disk"}),
        ]
        values = [r.value for r in outcome(begin(call_batch, front, client, calls))]

        assert 1 == values.count("ok")
        assert 1 == sum("waits for it" in value for value in values)

    def test_who_waits_for_a_place_does_not_hold_its_group(self, gate):
        """
        E-10: with room for one, a body wants the group of a call that waits for its place.
        """

        @tool
        def outer() -> int:
            """Call into the group."""
            gate.pass_through()
            return client.invoke("disk").unwrap()

        @tool(serial="disk")
        def disk() -> int:
            """Be of the group."""
            return 1

        engine = ThreadEngine(max_concurrency=1)
        client = ToolClient([outer, disk], engine=engine)
        first = begin(client.invoke, "outer")
        gate.wait_for_arrivals()
        second = begin(client.invoke, "disk")
        waiting = threading.Event()
        while not engine.line.standing:
            waiting.wait(0.001)
        gate.open()

        assert (1, 1) == (outcome(first).value, outcome(second).value)
