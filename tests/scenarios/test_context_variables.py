"""
Context variables: the caller's are seen on every path, and no change leaks out of a body.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

from fronts import call, call_batch
from ordering import HANGS_AFTER
from tooldecl import Retry, ToolCall, ToolClient, tool
from tooldecl.engines import SequentialEngine
from tooldecl.telemetry import LateFinish


TIMEOUT = 0.2
AMPLE = 60

WHO = contextvars.ContextVar("who", default="nobody")

PATHS = {
    "free": {},
    "timed": {"timeout": AMPLE},
    "thread": {"isolation": "thread"},
    "thread, timed": {"isolation": "thread", "timeout": AMPLE},
    "inline": {"isolation": "inline"},
}


def look_and_change() -> list:
    """
    See what the caller has set, and set something else.
    """
    seen = WHO.get()
    WHO.set("body")

    return [seen, WHO.get()]


async def look_and_change_async() -> list:
    """
    The same, on a loop, across a wait.
    """
    seen = look_and_change()
    await asyncio.sleep(0)

    return [seen[0], WHO.get()]


def look_and_change_later() -> list:
    """
    The same, in two halves.
    """
    seen = WHO.get()
    WHO.set("first half")

    async def second_half() -> list:
        return [seen, WHO.get()]

    return second_half()


def look_and_change_piece_by_piece() -> list:
    """
    The same, as a generator.
    """
    yield WHO.get()
    WHO.set("body")
    yield WHO.get()


KINDS = {
    "sync": look_and_change,
    "async": look_and_change_async,
    "second half": look_and_change_later,
    "generator": look_and_change_piece_by_piece,
}

EXPECTED = {
    "sync": ["caller", "body"],
    "async": ["caller", "body"],
    "second half": ["caller", "first half"],
    "generator": "callerbody",
}


@pytest.fixture(autouse=True)
def who():
    """
    Set the caller's variable, and put it back.
    """
    token = WHO.set("caller")
    yield
    WHO.reset(token)


def through(request):
    """
    Let a call pass through a filter.
    """
    return (yield request)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("filters", [[], [through]], ids=["bare", "filtered"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_seen_on_every_path_and_never_leaking(front, path, kind, filters, count):
    """
    ENG-10, R108, TMO-04, trap 20: the same for one call and for many, with and without
    a limit; neither the caller nor a sibling nor a thread's next call sees a change.
    """
    declared = tool(name="look", **PATHS[path])(KINDS[kind])
    client = ToolClient([declared], filters=filters)
    results = call_batch(front, client, [ToolCall("look")] * count)

    assert [EXPECTED[kind]] * count == [result.value for result in results]
    assert "caller" == WHO.get()
    client.close()


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_seen_in_every_attempt(front, kind):
    """
    R108: an attempt begins where the call began, not where the last attempt ended.
    """
    seen = []

    def work() -> str:
        """
        Fail after a change.
        """
        seen.append(look_and_change())
        raise ConnectionError

    async def awork() -> str:
        """
        Fail after a change.
        """
        return work()

    function = work if kind == "sync" else awork
    declared = tool(name="work", retry=Retry(attempts=3, delay=0))(function)
    call(front, ToolClient([declared]), "work")

    assert [["caller", "body"]] * 3 == seen


def test_seen_under_an_engines_limit(front):
    """
    ENG-10: which limit applies changes where a body runs, not what it sees.
    """
    client = ToolClient(
        [tool(name="look")(look_and_change)], engine=SequentialEngine(timeout=AMPLE)
    )

    assert ["caller", "body"] == call(front, client, "look").value


def test_seen_by_a_body_that_was_given_up(front, gate, listener):
    """
    TMO-04: and what it sets then reaches nobody.
    """

    @tool(timeout=TIMEOUT)
    def work() -> list:
        """
        Look, too late.
        """
        gate.pass_through()
        return look_and_change()

    client = ToolClient([work], hooks=[listener])
    call(front, client, "work")
    gate.open()
    [late] = listener.wait_for(LateFinish)

    assert (["caller", "body"], "caller") == (late.value, WHO.get())


async def test_two_calls_at_once_see_their_own():
    """
    R108: both are inside together, each with what its caller had set.
    """
    both = asyncio.Barrier(2)

    @tool(timeout=AMPLE)
    async def work() -> list:
        """
        Look before and after the other one changes it.
        """
        before = WHO.get()
        await both.wait()
        WHO.set(f"body of {before}")
        await both.wait()
        return [before, WHO.get()]

    client = ToolClient([work])

    async def caller(name):
        WHO.set(name)
        return (await client.ainvoke("work")).value

    values = await asyncio.gather(caller("a"), caller("b"))

    assert [["a", "body of a"], ["b", "body of b"]] == values
    assert "caller" == WHO.get()


def test_two_threads_at_once_see_their_own():
    """
    R108: the same for callers on threads.
    """
    both = threading.Barrier(2)

    @tool(timeout=AMPLE)
    def work() -> list:
        """
        Look before and after the other one changes it.
        """
        before = WHO.get()
        both.wait(HANGS_AFTER)
        WHO.set(f"body of {before}")
        both.wait(HANGS_AFTER)
        return [before, WHO.get()]

    client = ToolClient([work])
    values = {}

    def caller(name):
        WHO.set(name)
        values[name] = client.invoke("work").value

    threads = [threading.Thread(target=caller, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANGS_AFTER)

    assert {"a": ["a", "body of a"], "b": ["b", "body of b"]} == values


class TestFilters:
    """
    A filter may set what the body is to see, and only the body sees it.
    """

    @staticmethod
    def setting(request):
        """
        Set the variable around the call, and forget to put it back.
        """
        WHO.set("filter")
        return (yield request)

    @pytest.mark.parametrize("path", PATHS)
    @pytest.mark.parametrize("kind", ["sync", "async"])
    def test_what_a_filter_sets_is_seen_by_the_body_alone(self, front, path, kind):
        """
        R108: a request-scoped value reaches the body on every path, and neither the next
        call nor the caller.
        """
        declared = tool(name="look", **PATHS[path])(KINDS[kind])
        seen = []

        def watching(request):
            seen.append(WHO.get())
            return (yield request)

        client = ToolClient([declared], filters=[watching, self.setting])

        async def main():
            calls = [ToolCall("look"), ToolCall("look")]
            if front == "sync":
                results = client.invoke_batch(calls)
            else:
                results = await client.ainvoke_batch(calls)
            return [result.value for result in results], WHO.get()

        values, after = asyncio.run(main())

        assert [["filter", "body"]] * 2 == values
        assert (["caller", "caller"], "caller") == (seen, after)

    def test_a_filter_can_put_back_what_it_set(self, front):
        """
        Its two halves run in one context, also where the call waits between them.
        """
        put_back = []

        def around(request):
            token = WHO.set("filter")
            try:
                return (yield request)
            finally:
                WHO.reset(token)
                put_back.append(WHO.get())

        client = ToolClient(
            [tool(name="look")(look_and_change_async)], filters=[around]
        )

        assert ["filter", "body"] == call(front, client, "look").value
        assert ["caller"] == put_back
