"""
At its deadline a body in a worker is killed, with everything that it has started.
"""

from __future__ import annotations

import os
import signal
import threading

import pytest

from fronts import Listener, call
from processes.hanging_tools import (
    HANGING,
    SHORT,
    nap,
    plain_nap,
    spin,
    spin_again,
    start_and_die,
    start_and_hang,
    start_and_return,
)
from processes.process_tools import add, measure, pid, wait_for
from processes.watching import await_end
from tooldecl import JSONLimits, ToolCall, ToolClient
from tooldecl._processes._system import is_alive
from tooldecl.engines import ProcessEngine
from tooldecl.telemetry import CallFinished, Progress


pytestmark = pytest.mark.slow

HOWS = ["group", "session", "double"]


@pytest.fixture(scope="module")
def hanging():
    """
    Have one client for all bodies that hang: each costs it a worker.
    """
    ears = Listener()
    tools = [*HANGING.values(), start_and_hang, start_and_die, start_and_return]
    with ToolClient(tools, hooks=[ears]) as client:
        client.invoke("nap")
        yield client, ears


def check_is_killed(front, hanging, name):
    """
    Call a body that hangs, and look for its process when the answer is there.
    """
    client, ears = hanging
    ears.events.clear()
    result = call(front, client, name)
    number = int(ears.of(Progress)[0].done)

    assert ("timeout", "killed", 1) == (result.status, result.fate, result.attempts)
    assert not is_alive(number)
    assert () == client.abandoned
    assert (
        f"Tool {name!r} did not finish within {result.error.timeout} s, the limit "
        "declared on it. It was killed."
    ) == result.content


@pytest.mark.parametrize("name", HANGING)
def test_no_body_outlives_its_deadline(name, hanging):
    """
    R44, R45, traps 19, 36: whatever it does, it is gone when the answer is there.
    """
    check_is_killed("sync", hanging, name)


@pytest.mark.parametrize("name", ["spin", "swallow_cancel", "tell_for_ever"])
def test_no_body_outlives_its_deadline_on_a_loop(name, hanging):
    """
    R44, R45: nor where a loop waits for it.
    """
    check_is_killed("async", hanging, name)


def test_the_first_call_after_a_kill_works(front, make_client):
    """
    R42: the worker is replaced, and what comes next does not hear of it.
    """
    client = make_client(nap, pid)
    before = client.invoke("pid").value
    call(front, client, "nap")
    after = call(front, client, "pid")

    assert ("ok", True) == (after.status, after.value != before)


def test_a_sibling_is_not_touched(make_client, listener, lifeline):
    """
    Only the worker of the call that is late is killed, while another is in its body.
    """
    client = make_client(spin, wait_for, engine=ProcessEngine())
    calls = [ToolCall("wait_for", {"go": lifeline.go}), ToolCall("spin", {})]
    results = []
    thread = threading.Thread(target=lambda: results.extend(client.invoke_batch(calls)))
    thread.start()
    told = {event.name: event.done for event in listener.wait_for(Progress, 2)}
    [first] = listener.wait_for(CallFinished)
    alive = is_alive(int(told["wait_for"]))
    lifeline.let_go()
    thread.join()

    assert ("spin", True) == (first.name, alive)
    assert [("ok", "completed"), ("timeout", "killed")] == [
        (result.status, result.fate) for result in results
    ]
    assert told["wait_for"] == results[0].value


@pytest.mark.parametrize("how", HOWS)
def test_what_a_killed_body_started_is_gone(how, hanging, lifeline):
    """
    R39, R40, trap 25: by its number, by what it held, and by the mark it did not leave.
    """
    client, _ = hanging
    result = client.invoke("start_and_hang", {"how": how, **lifeline.arguments})
    other = lifeline.pid()
    held = lifeline.is_held()
    lifeline.let_go()

    assert ("timeout", "killed") == (result.status, result.fate)
    assert (False, False) == (held, is_alive(other))
    assert not lifeline.marker.exists()


@pytest.mark.parametrize("how", HOWS)
def test_what_a_dead_body_started_is_gone(how, hanging, lifeline):
    """
    R40: a worker that ends by itself takes with it what it has started.
    """
    client, _ = hanging
    result = client.invoke("start_and_die", {"how": how, **lifeline.arguments})
    held = lifeline.is_held()
    lifeline.let_go()

    assert ("worker_died", "killed") == (result.status, result.fate)
    assert (False, False) == (held, lifeline.marker.exists())


@pytest.mark.parametrize("how", HOWS)
def test_what_a_finished_body_started_lives_on(how, hanging, lifeline):
    """
    The control of the two above: nobody ends what belongs to a call that went well.
    """
    client, _ = hanging
    result = client.invoke("start_and_return", {"how": how, **lifeline.arguments})
    other = lifeline.pid()
    held = lifeline.is_held()
    lifeline.let_go()

    assert ("ok", True) == (result.status, held)
    assert await_end(other)
    assert lifeline.marker.exists()


def test_a_client_that_is_closed_ends_what_its_tools_have_left(make_client, lifeline):
    """
    What a tool left running is not left behind by the client.
    """
    client = make_client(start_and_return)
    client.invoke("start_and_return", {"how": "double", **lifeline.arguments})
    lifeline.pid()
    client.close()

    assert not lifeline.is_held()


def test_a_retry_after_a_kill_is_safe(make_client, listener):
    """
    What was killed does nothing more, so another attempt needs no ``idempotent``.
    """
    client = make_client(spin_again)
    result = client.invoke("spin_again")
    numbers = [event.done for event in listener.of(Progress)]

    assert ("timeout", "killed", 2) == (result.status, result.fate, result.attempts)
    assert 2 == len(set(numbers))
    assert [False, False] == [is_alive(int(number)) for number in numbers]


def test_the_engines_timeout_kills_too(make_client):
    """
    ProcessEngine(timeout=...) is for tools that declare none; they run in a worker there.
    """
    client = make_client(plain_nap, engine=ProcessEngine(timeout=SHORT))
    result = client.invoke("plain_nap")

    assert ("timeout", "killed", "engine") == (
        result.status,
        result.fate,
        result.error.source,
    )


def test_an_argument_that_a_stopped_worker_does_not_take(make_client):
    """
    Trap 22: the host does not wait in its own sending either.
    """
    client = make_client(measure, pid, json_limits=JSONLimits(max_chars=60_000_000))
    client.invoke("measure", {"text": ""})  # what is measured is no import
    number = client.invoke("pid").value
    os.kill(number, signal.SIGSTOP)
    result = client.invoke("measure", {"text": "x" * 50_000_000})

    assert "timeout" == result.status
    assert not is_alive(number)
    assert 3 == client.invoke("measure", {"text": "abc"}).value


def test_a_kill_is_no_matter_of_seconds(make_client):
    """
    R45: no polite signal is waited for; the bound is far above what it takes.
    """
    client = make_client(HANGING["ignore_signals"], add)
    result = client.invoke("ignore_signals")

    assert SHORT + 2 > result.elapsed
    assert 3 == client.invoke("add", {"a": 1, "b": 2}).value
