"""
Filter objects that misuse the call_next that they are given.
"""

from __future__ import annotations

import asyncio
import threading

import pytest

from engine_stage import begin, outcome
from engine_tools import VAIN
from filters.paying import RUNS, run
from ordering import Gate
from tooldecl import tool
from waiting import layer, only


NAMES = ["pay", "apay"]


@pytest.mark.parametrize("given", [None, "go on", {"amount": 1}])
def test_going_on_with_what_is_no_request_is_the_filters_error(front, colour, given):
    """
    The filter gets a TypeError where it made the mistake, and may still do better.
    """
    errors = []

    def steps(request):
        try:
            yield given
        except TypeError as error:
            errors.append(str(error))
        return (yield request)

    result = run(front, layer(colour, steps))

    assert ("ok", [5]) == (result.status, RUNS)
    assert [f"call_next takes a ToolRequest, got {type(given).__name__}."] == errors


def keeping(kept):
    """
    Make filters that give away their call_next.
    """

    class Sync:
        def around(self, request, call_next):
            kept.append((request, call_next))
            return call_next(request)

    class Async:
        async def aaround(self, request, call_next):
            kept.append((request, call_next))
            return await call_next(request)

    return {"around": Sync(), "aaround": Async()}


@pytest.mark.parametrize("name", NAMES)
def test_a_call_next_that_was_kept_runs_nothing(front, colour, name):
    """
    R134: once the call has its answer, nothing can run for it any more.
    """
    kept = []
    run(front, keeping(kept)[colour], name=name)
    [(request, call_next)] = kept

    async def later():
        await call_next(request)

    with pytest.raises(RuntimeError) as caught:
        asyncio.run(later()) if colour == "aaround" else call_next(request)

    assert ([5], "The filter has ended: its call has an answer.") == (
        RUNS,
        str(caught.value),
    )


def held_tools(gate):
    """
    Make tools that are inside until the gate is opened.
    """

    @tool
    def hold(amount: int) -> str:
        """Be held."""
        gate.pass_through()
        return "held"

    @tool
    async def ahold(amount: int) -> str:
        """Be held."""
        await asyncio.to_thread(gate.pass_through)
        return "held"

    return hold, ahold


class TwiceAtOnce:
    """
    Go on while what is inside has not come back.
    """

    def __init__(self, gate):
        self.gate, self.error = gate, None

    def try_again(self, call_next, request):
        """
        Go on once more, from wherever this is called.
        """
        try:
            return call_next(request)
        except RuntimeError as error:
            self.error = str(error)

    def around(self, request, call_next):
        """
        Go on from a thread of its own, and from here.
        """
        first = begin(call_next, request)
        self.gate.wait_for_arrivals()
        self.try_again(call_next, request)
        self.gate.open()
        return outcome(first)

    async def aaround(self, request, call_next):
        """
        Go on from a task of its own, and from here.
        """
        first = asyncio.create_task(call_next(request))
        await asyncio.to_thread(self.gate.wait_for_arrivals)
        try:
            await call_next(request)
        except RuntimeError as error:
            self.error = str(error)
        self.gate.open()
        return await first


@pytest.mark.parametrize("name", ["hold", "ahold"])
def test_going_on_twice_at_once_is_refused(front, colour, name):
    """
    Two runs at once would share one answer; the first one is inside when the second one
    is tried.
    """
    gate = Gate()
    twice = TwiceAtOnce(gate)
    result = run(front, only(colour, twice), name=name, tools=held_tools(gate))

    assert ("ok", 1, "call_next is running: one run after the other.") == (
        result.status,
        result.attempts,
        twice.error,
    )


class Hasty(TwiceAtOnce):
    """
    Return while what is inside has not come back.
    """

    def around(self, request, call_next):
        """
        Leave a thread behind.
        """
        self.left = begin(call_next, request)
        self.gate.wait_for_arrivals()
        threading.Timer(VAIN / 5, self.gate.open).start()
        return "done"

    async def aaround(self, request, call_next):
        """
        Leave a task behind.
        """
        self.left = asyncio.create_task(call_next(request))
        await asyncio.to_thread(self.gate.wait_for_arrivals)
        threading.Timer(VAIN / 5, self.gate.open).start()
        return "done"


@pytest.mark.parametrize("name", ["hold", "ahold"])
def test_a_filter_that_returns_before_its_inside_does_has_failed(front, colour, name):
    """
    "done" would be an answer about a body that is still running.
    """
    gate = Gate()
    hasty = Hasty(gate)
    result = run(front, only(colour, hasty), name=name, tools=held_tools(gate))

    assert ("guard_failed", True) == (result.status, result.error.ran)
    assert "The filter returned before its call_next did." == str(
        result.error.__cause__
    )


def test_nothing_inside_begins_once_an_outer_filter_has_ended():
    """
    R134: an inner filter that is still at work comes to its body too late, and the body
    does not run for a call that was answered.
    """
    gate, left = Gate(), []

    class Leaves:
        def around(self, request, call_next):
            left.append(begin(call_next, request))
            gate.wait_for_arrivals()
            return "done"

    class Slow:
        def around(self, request, call_next):
            gate.pass_through()
            return call_next(request)

    result = run("sync", Leaves(), Slow())
    gate.open()
    with pytest.raises(BaseException) as caught:
        outcome(left[0])

    assert ("guard_failed", False, "Stopped", []) == (
        result.status,
        result.error.ran,
        type(caught.value).__name__,
        RUNS,
    )
