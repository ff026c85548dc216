"""
What comes back from a tool decides whether it is awaited, and where.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import threading

from concurrent.futures import Future

import pytest

from fronts import call
from ordering import HANGS_AFTER
from tooldecl import ToolClient, meta_of, tool


TIMEOUT = 0.2
AMPLE = 60

LIMITS = pytest.mark.parametrize("timeout", [None, AMPLE], ids=["free", "timed"])


async def where(x: int = 0) -> list[object]:
    """
    Say on which loop it runs.
    """
    await asyncio.sleep(0)
    return [x, id(asyncio.get_running_loop())]


class Awaitable:
    """
    Something of a library's own that can be awaited.
    """

    def __init__(self, delay: float, value: str) -> None:
        self._delay = delay
        self._value = value

    def __await__(self):
        yield from asyncio.sleep(self._delay).__await__()
        return self._value


class Worker:
    """
    An object that is called, and works on a loop.
    """

    async def __call__(self, x: int) -> list[object]:
        """
        Say where.
        """
        return await where(x)


class TestOnWhichLoop:
    """
    An async tool runs on the caller's loop, or on the client's one.
    """

    @LIMITS
    async def test_awaited_it_is_the_callers(self, timeout):
        """
        R151: what the host has open on its loop can be used by its tools.
        """
        here = [3, id(asyncio.get_running_loop())]
        plain = tool(timeout=timeout)(where)
        handles = [
            functools.partial(plain, 3),
            functools.partial(functools.partial(plain), 3),
            tool(timeout=timeout)(functools.partial(where, 3)),
        ]
        results = [await ToolClient([h]).ainvoke("where") for h in handles]
        apart = tool(name="where", isolation="thread", timeout=timeout)(where)
        elsewhere = await ToolClient([apart]).ainvoke("where", {"x": 3})

        assert [here] * 3 == [result.value for result in results]
        assert here != elsewhere.value

    @LIMITS
    async def test_an_object_with_an_async_call_is_awaited(self, timeout):
        """
        R150: not taken for sync, with the text of a coroutine for a result.
        """
        declared = tool(name="worker", description="Work.", timeout=timeout)(Worker())
        result = await ToolClient([declared]).ainvoke("worker", {"x": 3})

        assert meta_of(declared).is_async
        assert [3, id(asyncio.get_running_loop())] == result.value

    @LIMITS
    def test_from_a_script_it_is_the_same_for_the_clients_life(self, timeout):
        """
        R152: a client that a tool caches on its first use works on the second.
        """
        cache = {}

        @tool(timeout=timeout)
        async def work() -> list:
            """
            Use what is bound to the loop of the first call.
            """
            loop = asyncio.get_running_loop()
            lock = cache.setdefault("lock", asyncio.Lock())
            waiter = cache.setdefault("waiter", loop.create_future())
            async with lock:
                loop.call_soon(waiter.cancel)
                await asyncio.wait({waiter})
            return [id(loop), threading.current_thread() is threading.main_thread()]

        client = ToolClient([work])
        values = [client.invoke("work").unwrap() for _ in range(3)]

        assert [[values[0][0], False]] * 3 == values

    async def test_a_sync_tools_coroutine_runs_on_the_callers_loop(self):
        """
        R154: its first half runs in a thread, the second where it was made to run.
        """

        @tool
        def work() -> list:
            """
            Return a coroutine.
            """
            return where(3)

        result = await ToolClient([work]).ainvoke("work")

        assert [3, id(asyncio.get_running_loop())] == result.value


class TestWhatComesBack:
    """
    R154: coroutines, tasks and whatever else has ``__await__``.
    """

    @LIMITS
    @pytest.mark.parametrize("kind", ["coroutine", "awaitable"])
    def test_it_is_awaited(self, front, timeout, kind):
        """
        R154: the function itself does not show it.
        """
        make = {
            "coroutine": lambda: asyncio.sleep(0, "done"),
            "awaitable": lambda: Awaitable(0, "done"),
        }[kind]

        @tool(timeout=timeout)
        def work() -> str:
            """
            Return something.
            """
            return make()

        assert "done" == call(front, ToolClient([work]), "work").value

    @pytest.mark.parametrize("kind", ["coroutine", "awaitable"])
    def test_it_is_awaited_under_the_same_deadline(self, front, kind):
        """
        R154: a limit does not end where the first half ends.
        """
        make = {
            "coroutine": lambda: asyncio.sleep(HANGS_AFTER, "late"),
            "awaitable": lambda: Awaitable(HANGS_AFTER, "late"),
        }[kind]

        @tool(timeout=TIMEOUT)
        def work() -> str:
            """
            Return something.
            """
            return make()

        result = call(front, ToolClient([work]), "work")

        assert ("timeout", "stopped") == (result.status, result.fate)

    @pytest.mark.parametrize(
        ("options", "outcome"),
        [
            ({}, ("ok", "completed", "done")),
            ({"timeout": AMPLE}, ("ok", "completed", "done")),
            ({"timeout": TIMEOUT}, ("timeout", "stopped", None)),
        ],
        ids=["free", "timed", "late"],
    )
    @pytest.mark.parametrize("front", ["async", "sync, on another thread"])
    async def test_a_task_is_awaited_on_its_own_loop(self, front, options, outcome):
        """
        R154: a task belongs to the loop that made it, whoever asks for its result.
        """
        release = asyncio.Event()
        if outcome[0] == "ok":
            release.set()

        async def answer():
            await release.wait()
            return "done"

        task = asyncio.ensure_future(answer())

        @tool(**options)
        def work() -> str:
            """
            Return a task of the test's loop.
            """
            return task

        client = ToolClient([work])
        if front == "async":
            result = await client.ainvoke("work")
        else:
            result = await asyncio.to_thread(client.invoke, "work")
        await asyncio.wait({task})

        assert outcome == (result.status, result.fate, result.value)
        assert (result.status == "timeout") is task.cancelled()

    async def test_a_task_of_the_loop_that_waits_is_an_error_not_a_deadlock(self):
        """
        R149: the sync front holds this loop, so nothing on it can end meanwhile.
        """
        task = asyncio.ensure_future(asyncio.sleep(0, "done"))

        @tool
        def work() -> str:
            """
            Return a task of the loop that is held.
            """
            return task

        client = ToolClient([work])
        held = client.invoke("work")
        await task
        done = client.invoke("work")
        text = "The tool returned a future of the loop that waits for this call."

        assert ("tool_error", text) == (held.status, str(held.error.__cause__))
        assert "done" == done.value

    def test_a_future_of_a_loop_that_does_not_run_is_an_error(self, front):
        """
        R154: nobody will ever set it.
        """
        loop = asyncio.new_event_loop()
        future = loop.create_future()

        @tool
        def work() -> str:
            """
            Return it.
            """
            return future

        result = call(front, ToolClient([work]), "work")
        loop.close()
        text = "The tool returned a future of a loop that is not running."

        assert ("tool_error", text) == (result.status, str(result.error.__cause__))

    def test_a_future_of_threads_is_a_value(self, front):
        """
        R154: it cannot be awaited, and it has no JSON form; both are said.
        """

        @tool
        def work() -> str:
            """
            Return it.
            """
            return Future()

        result = call(front, ToolClient([work]), "work")

        assert ("unencodable", "Future") == (result.status, result.error.type_name)

    def test_nothing_is_left_unawaited(self, front):
        """
        R149: no warning of a coroutine that nobody awaited, whatever the outcome.
        """
        made = []

        @tool(timeout=TIMEOUT)
        def work() -> str:
            """
            Return a coroutine in time, to be cut.
            """
            made.append(asyncio.sleep(HANGS_AFTER))
            return made[-1]

        call(front, ToolClient([work]), "work")
        gc.collect()

        assert [None] == [coroutine.cr_frame for coroutine in made]
