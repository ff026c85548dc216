"""
Callers that give up, clients that are closed, and calls that wait for a worker.
"""

from __future__ import annotations

import asyncio
import threading

import pytest

from hanging import cancelled
from ordering import HANGS_AFTER
from processes.hanging_tools import nap, spin, start_and_wait
from processes.process_tools import add, nested, pid, wait_for
from processes.slow_module import work as slow_work
from processes.watching import run_script
from tooldecl import ToolCall
from tooldecl._processes._system import is_alive
from tooldecl.engines import ProcessEngine
from tooldecl.exceptions import EngineClosedError
from tooldecl.telemetry import CallStarted, Progress


pytestmark = pytest.mark.slow


async def told(listener, count=1):
    """
    Wait on a loop for what bodies say of their processes.
    """
    events = await asyncio.to_thread(listener.wait_for, Progress, count)

    return [int(event.done) for event in events]


async def test_a_cancelled_caller_leaves_nothing(make_client, listener, lifeline):
    """
    R13, trap 6: the body is dead, with what it has started, before the caller goes on.
    """
    client = make_client(start_and_wait, pid)
    arguments = {"how": "session", **lifeline.arguments}
    task = asyncio.create_task(client.ainvoke("start_and_wait", arguments))
    [number] = await told(listener)
    lifeline.pid()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert not is_alive(number)
    assert not lifeline.is_held()
    assert () == client.abandoned
    assert "ok" == (await client.ainvoke("pid")).status
    await client.aclose()


async def test_a_caller_that_is_cancelled_twice(make_client, listener, lifeline):
    """
    An impatient caller gets its way, and the body ends all the same.
    """
    client = make_client(wait_for)
    task = asyncio.create_task(client.ainvoke("wait_for", {"go": lifeline.go}))
    [number] = await told(listener)
    task.cancel()
    asyncio.get_running_loop().call_soon(task.cancel)
    with pytest.raises(asyncio.CancelledError):
        await task
    await client.aclose()

    assert not is_alive(number)


async def test_a_cancelled_batch_kills_all_of_its_bodies(
    make_client, listener, lifeline
):
    """
    CAN-02: every body that runs is ended, and none begins.
    """
    client = make_client(wait_for, engine=ProcessEngine(max_concurrency=2))
    calls = [ToolCall("wait_for", {"go": lifeline.go})] * 4
    task = asyncio.create_task(client.ainvoke_batch(calls))
    numbers = await told(listener, 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await client.aclose()

    assert [False, False] == [is_alive(number) for number in numbers]
    assert 2 == len(listener.of(Progress))


async def test_a_timeout_around_a_call_kills_its_body(make_client, listener, lifeline):
    """
    R13: whoever bounds the wait bounds the body.
    """
    client = make_client(wait_for, pid)
    await client.ainvoke("pid")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await client.ainvoke("wait_for", {"go": lifeline.go})
    [number] = await told(listener)

    assert not is_alive(number)
    await client.aclose()


def test_an_interrupted_caller_leaves_nothing(lifeline):
    """
    Ctrl-C while a sync call waits: KeyboardInterrupt at once, and no body behind it.
    """
    code, out, err = run_script(
        """
        from tooldecl._processes._system import is_alive
        tools = [process_tools.wait_for, process_tools.pid]
        client = ToolClient(tools, hooks=[lambda event: seen(event)])
        numbers = []

        def seen(event):
            if type(event).__name__ == "Progress":
                numbers.append(int(event.done))
                os.kill(os.getpid(), signal.SIGINT)

        try:
            client.invoke("wait_for", {"go": "GO"})
        except KeyboardInterrupt:
            print("interrupted", is_alive(numbers[0]))
        print(client.invoke("pid").ok)
        """.replace("GO", lifeline.go)
    )

    assert (0, "interrupted False\nTrue\n", "") == (code, out, err)


def test_within_bounds_a_batch(make_client, listener, lifeline):
    """
    BAT-07: what runs is killed, and says so; what had no place was never begun.
    """
    client = make_client(wait_for, add, engine=ProcessEngine(max_concurrency=2))
    client.invoke_batch([ToolCall("add", {"a": 1, "b": 2})] * 2)
    calls = [ToolCall("wait_for", {"go": lifeline.go})] * 4
    results = client.invoke_batch(calls, within=1)
    numbers = [int(event.done) for event in listener.of(Progress)]

    assert [("timeout", "killed")] * 2 + [("not_run", "not_started")] * 2 == [
        (result.status, result.fate) for result in results
    ]
    assert [False, False] == [is_alive(number) for number in numbers]


def test_within_bounds_the_start_of_a_worker(make_client, lifeline):
    """
    A module that takes its time to be imported does not stretch the batch's.
    """
    client = make_client(slow_work)
    [result] = client.invoke_batch([ToolCall("work", {})], within=0.2)

    assert ("not_run", "not_started") == (result.status, result.fate)


def in_thread(function, *args):
    """
    Run something beside the test.
    """
    kept = []
    thread = threading.Thread(target=lambda: kept.append(function(*args)))
    thread.start()

    def result():
        thread.join(HANGS_AFTER)

        return kept[0]

    return result


def test_an_engine_that_is_closed_cancels_its_calls(make_client, listener, lifeline):
    """
    A call that runs is killed, one that waits does not begin, and both say so.
    """
    engine = ProcessEngine(max_concurrency=2)
    client = make_client(wait_for, engine=engine)
    calls = [ToolCall("wait_for", {"go": lifeline.go})] * 3
    result = in_thread(client.invoke_batch, calls)
    numbers = [int(event.done) for event in listener.wait_for(Progress, 2)]
    engine.close()
    results = result()

    assert [("cancelled", "killed")] * 2 == [(r.status, r.fate) for r in results[:2]]
    assert ("cancelled", "not_started") == (results[2].status, results[2].fate)
    assert [False, False] == [is_alive(number) for number in numbers]
    with pytest.raises(EngineClosedError):
        client.invoke("wait_for", {"go": lifeline.go})


def test_a_client_that_is_closed_cancels_its_calls(make_client, listener, lifeline):
    """
    The last client of the workers takes them with it.
    """
    client = make_client(wait_for)
    result = in_thread(client.invoke, "wait_for", {"go": lifeline.go})
    [event] = listener.wait_for(Progress)
    client.close()

    assert ("cancelled", "killed") == (result().status, result().fate)
    assert not is_alive(int(event.done))


def test_clients_of_one_engine_share_its_workers(make_client):
    """
    One that is closed leaves them to the other.
    """
    engine = ProcessEngine()
    one, other = make_client(pid, engine=engine), make_client(pid, add, engine=engine)
    first = one.invoke("pid").value
    one.close()

    assert first == other.invoke("pid").value


def test_waiting_for_a_worker_is_outside_of_the_clock(make_client, listener, lifeline):
    """
    A call that declares 0.2 s waits longer for its turn, and is in time.
    """
    client = make_client(wait_for, nap, add, engine=ProcessEngine(max_concurrency=1))
    first = in_thread(client.invoke, "wait_for", {"go": lifeline.go})
    listener.wait_for(Progress)
    second = in_thread(client.invoke, "nap")
    listener.wait_for(CallStarted, 2)
    threading.Event().wait(0.5)
    lifeline.let_go()

    assert "ok" == first().status
    assert ("timeout", "killed") == (second().status, second().fate)
    assert 0.4 < second().queue_wait
    assert 0.15 < second().elapsed


def test_starting_a_worker_is_outside_of_the_clock(make_client):
    """
    Trap 37: the first call pays for the start, and is not late for it.
    """
    client = make_client(spin)
    result = client.invoke("spin")

    assert ("timeout", "killed") == (result.status, result.fate)
    assert 0.02 < result.queue_wait


def test_a_call_inside_of_a_worker_is_no_call_of_the_host(make_client):
    """
    A tool that has a client of its own calls with that, in its own process.
    """
    client = make_client(nested)
    result = client.invoke("nested")

    assert ("ok", [3, "worker_died"]) == (result.status, result.value)


async def test_a_caller_that_is_cancelled_while_a_worker_starts(make_client):
    """
    Nothing has begun, so nothing is waited for and nothing is said to be left.
    """
    client = make_client(slow_work)
    task = asyncio.create_task(client.ainvoke("work"))
    await asyncio.sleep(0.2)
    task.cancel()
    before = asyncio.get_running_loop().time()
    with pytest.raises(asyncio.CancelledError):
        await task
    waited = asyncio.get_running_loop().time() - before
    left = client.abandoned
    await client.aclose()

    assert (True, ()) == (waited < 1, left)


async def test_a_cancellation_that_comes_with_the_answer_costs_no_other(make_client):
    """
    R42: the worker that is told to end may have answered, and have its next call already.
    """
    client = make_client(add, pid, engine=ProcessEngine(max_concurrency=1))
    await client.ainvoke("pid")
    ends = set()
    for number in range(100):
        task = asyncio.create_task(client.ainvoke("pid"))
        await asyncio.sleep(number % 20 * 0.00005)
        task.cancel()
        ends.add(await cancelled(task))
        result = await client.ainvoke("add", {"a": number, "b": 1})

        assert ("ok", number + 1) == (result.status, result.value)
    left = client.abandoned
    await client.aclose()

    assert () == left
    assert True in ends
