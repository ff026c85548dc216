"""
The options of a client: each odd value is named, all of them at once, and all are copied.
"""

from __future__ import annotations

import asyncio
import functools

import pytest

from tooldecl import Budget, FileResultStore, JSONLimits, Reducer, ToolClient
from tooldecl._settings import as_one
from tooldecl.engines import Engine, SequentialEngine
from tooldecl.exceptions import DeclarationError
from tooldecl.testing import FakeClock


def passing(request):
    """
    Let every call through.
    """
    return (yield request)


async def waiting(event):
    """
    Watch, but only when somebody awaits it.
    """


class WaitingHook:
    """
    A hook whose call is a coroutine function.
    """

    async def __call__(self, event):
        """
        Watch, but only when somebody awaits it.
        """

    def __repr__(self):
        return "<WaitingHook>"


class AsyncStore:
    """
    A store that would have to be awaited.
    """

    async def put(self, call_id, text):
        """
        Keep a text, but only when somebody awaits it.
        """

    async def get(self, reference):
        """
        Return a text, but only when somebody awaits it.
        """

    def __repr__(self):
        return "<AsyncStore>"


class HomeMadeEngine(Engine):
    """
    An engine of a host's own, which has no reason to call __init__.
    """

    def __init__(self):
        pass

    def run_batch(self, calls, run):
        """
        Run one after the other.
        """
        return [run(call) for call in calls]

    async def arun_batch(self, calls, run):
        """
        Run one after the other.
        """
        return [await run(call) for call in calls]


def fault_of(**options):
    """
    Return the one complaint about a client's options.
    """
    with pytest.raises(DeclarationError) as caught:
        ToolClient([], **options)

    return str(caught.value)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"engine": 5}, "ToolClient(engine=...) takes an engine, got 5."),
        (
            {"engine": SequentialEngine},
            "ToolClient(engine=...) takes an engine, got "
            "<class 'tooldecl.engines._sequential.SequentialEngine'>.",
        ),
        ({"json_limits": 5}, "ToolClient(json_limits=...) takes a JSONLimits, got 5."),
        *(
            (
                {"result_limit": value},
                f"ToolClient(result_limit=...) takes characters from 1, or None, got "
                f"{value!r}.",
            )
            for value in (0, -1, True, 2.0, "5")
        ),
        (
            {"on_overflow": "cut"},
            "ToolClient(on_overflow=...) takes 'fail', 'truncate' or 'offload', got 'cut'.",
        ),
        (
            {"on_overflow": None},
            "ToolClient(on_overflow=...) takes 'fail', 'truncate' or 'offload', got None.",
        ),
        (
            {"on_overflow": "offload"},
            "ToolClient(on_overflow=...) takes 'offload' only in a client with a "
            "store=..., which has none.",
        ),
        *(
            (
                {"external_limit": value},
                "ToolClient(external_limit=...) takes characters from 1, or None, got "
                f"{value!r}.",
            )
            for value in (0, -1, True, 2.0, "5")
        ),
        *(
            (
                {"store": value},
                "ToolClient(store=...) takes an object with put() and get(), got "
                f"{value!r}.",
            )
            for value in (5, "out", FileResultStore, AsyncStore())
        ),
        ({"budget": 5}, "ToolClient(budget=...) takes a Budget, got 5."),
        (
            {"budget": Budget(per_tool={"b": 1, "a": 2})},
            "ToolClient(budget=...) limits 'a', 'b' in per_tool, and the client has no "
            "tool of that name.",
        ),
        (
            {"reducers": [Reducer(0, max)]},
            "ToolClient(reducers=...) takes a mapping with text keys, got <class 'list'>.",
        ),
        (
            {"reducers": {1: Reducer(0, max)}},
            "ToolClient(reducers=...) takes a mapping with text keys, got 1.",
        ),
        (
            {"reducers": {"n": max}},
            f"ToolClient(reducers=...) takes a Reducer for each slot, got {max!r}.",
        ),
        (
            {"state": ["secret"]},
            "ToolClient(state=...) takes a mapping with text keys, got <class 'list'>.",
        ),
        (
            {"state": {1: "secret"}},
            "ToolClient(state=...) takes a mapping with text keys, got 1.",
        ),
        ({"filters": len}, f"ToolClient(filters=...) takes a list, got {len!r}."),
        ({"filters": "ab"}, "ToolClient(filters=...) takes a list, got 'ab'."),
        (
            {"filters": [len]},
            "A filter is a generator function that takes the request, or an object with "
            f"around(request, call_next) or aaround(...), got {len!r}.",
        ),
        ({"hooks": print}, f"ToolClient(hooks=...) takes a list, got {print!r}."),
        (
            {"hooks": [5]},
            "A hook is a callable of one event that waits for nothing, got 5.",
        ),
        (
            {"hooks": [WaitingHook()]},
            "A hook is a callable of one event that waits for nothing, got "
            "<WaitingHook>.",
        ),
        (
            {"stop_on": ValueError},
            "ToolClient(stop_on=...) takes a list, got <class 'ValueError'>.",
        ),
        (
            {"stop_on": [int]},
            "ToolClient(stop_on=...) takes exception types, and no StopIteration, got <class 'int'>.",
        ),
        (
            {"clock": 5},
            "ToolClient(clock=...) takes an object with monotonic(), sleep() and "
            "asleep(), got 5.",
        ),
        (
            {"rng": 0.5},
            "ToolClient(rng=...) takes a callable that gives numbers, got 0.5.",
        ),
    ],
)
def test_an_odd_value_is_refused_with_the_option_and_its_rule(options, text):
    """
    VAL-07: a mistake in the set-up shows when the program starts, not at the first call.
    """
    assert text == fault_of(**options)


@pytest.mark.parametrize("hook", [waiting, functools.partial(waiting)])
def test_a_hook_that_nobody_would_await_is_refused(hook):
    """
    Such a hook would never run, and Python would warn about it at every event.
    """
    assert fault_of(hooks=[hook]).startswith("A hook is a callable of one event that")


def test_a_long_value_is_not_shown_whole():
    """
    A list of ten thousand things in the wrong place is named, not printed.
    """
    text = fault_of(hooks=["x" * 10_000])

    assert len(text) < 200


class ShyHook:
    """
    A hook that cannot be shown.
    """

    def __call__(self, event):
        """
        Watch.
        """

    def __repr__(self):
        raise RuntimeError


def test_what_is_in_order_is_not_shown_at_all():
    """
    Showing a hook may be expensive, or fail; that is no reason not to build a client.
    """
    assert 0 == len(ToolClient([], hooks=[ShyHook()]).table)


@pytest.mark.parametrize("option", ["timeout", "on_overflw"])
def test_an_unknown_option_is_pythons_own_error(option):
    """
    E-01: a misspelt option, or one of a later version, must not be swallowed.
    """
    with pytest.raises(TypeError) as caught:
        ToolClient([], **{option: None})

    assert option in str(caught.value)


@pytest.mark.parametrize("timeout", ["5s", -1, 0, True, float("nan"), float("inf")])
def test_an_engine_refuses_a_timeout_that_is_none(timeout):
    """
    VAL-02: the error names the engine, so that it is looked for in the right place.
    """
    with pytest.raises(DeclarationError) as caught:
        SequentialEngine(timeout=timeout)

    assert f"SequentialEngine(timeout=...) takes seconds above 0, got {timeout!r}." == (
        str(caught.value)
    )


@pytest.mark.parametrize("count", [0, -1, True, 1.5, "3"])
def test_an_engine_refuses_a_cap_that_is_none(count):
    """
    VAL-05: a cap of zero would answer every call with busy.
    """
    with pytest.raises(DeclarationError) as caught:
        SequentialEngine(max_abandoned=count)

    assert (
        "SequentialEngine(max_abandoned=...) takes a whole number from 1, or None, got "
        f"{count!r}." == str(caught.value)
    )


def test_an_engine_of_a_hosts_own_need_not_have_the_fields():
    """
    VAL-02: no timeout of its own is what an engine has that says nothing about one.
    """
    engine = HomeMadeEngine()

    assert (None, None, 0) == (engine.timeout, engine.max_abandoned, len(engine.ledger))
    assert len(ToolClient([], engine=engine).table) == 0


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("timeout", "HomeMadeEngine(timeout=...) takes seconds above 0, got '5s'."),
        (
            "max_abandoned",
            "HomeMadeEngine(max_abandoned=...) takes a whole number from 1, or None, got "
            "'5s'.",
        ),
    ],
)
def test_the_fields_of_an_engine_of_a_hosts_own_are_checked(field, text):
    """
    VAL-02: a class that sets them itself has not been through the constructor's checks.
    """
    engine = HomeMadeEngine()
    setattr(engine, field, "5s")

    assert text == fault_of(engine=engine)


def test_options_are_taken_once_and_copied():
    """
    R148: the caller may go on using its lists and dicts, and iterators are read once.
    """
    seen = []
    hooks, state = [seen.append], {"x": [1]}
    client = ToolClient([], hooks=hooks, state=state, filters=iter([passing]))
    hooks.clear()
    state["x"].append(2)
    state.clear()
    client.invoke_batch([])

    assert ({"x": [1]}, 2) == (client.state, len(seen))


def test_given_parts_are_used_and_not_only_true_ones():
    """
    An engine, a clock or limits that are false in a condition are still the ones given.
    """

    class EmptyClock:
        def __init__(self):
            self.clock = FakeClock()
            self.monotonic = self.clock.monotonic
            self.sleep = self.clock.sleep
            self.asleep = self.clock.asleep

        def __bool__(self):
            return False

    clock = EmptyClock()
    seen = []
    client = ToolClient(
        [], clock=clock, hooks=[seen.append], json_limits=JSONLimits(max_chars=7)
    )
    clock.clock.advance(42)
    asyncio.run(client.ainvoke_batch([]))

    assert [42.0, 42.0] == [event.at for event in seen]


def test_one_fault_is_raised_as_itself_and_several_together():
    """
    A list of one would have to be opened by everybody, for nothing.
    """
    faults = [DeclarationError("a"), DeclarationError("b")]
    both = as_one(faults)

    assert faults[0] is as_one(faults[:1])
    assert (ExceptionGroup, tuple(faults)) == (type(both), both.exceptions)
    assert "The client cannot be built: 2 faults. (2 sub-exceptions)" == str(both)
