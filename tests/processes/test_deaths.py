"""
A process that dies costs its own call, and nothing outlives the host.
"""

from __future__ import annotations

import json
import os
import signal
import threading

import pytest

from processes.hanging_tools import start_and_wait
from processes.process_tools import TOOLS
from processes.watching import await_end, children, run_script, start_script
from scripts import SOON, end
from tooldecl import ToolCall
from tooldecl._processes._system import is_alive
from tooldecl.engines import ProcessEngine
from tooldecl.telemetry import CallFinished, Progress


pytestmark = pytest.mark.slow

ENDS = {
    "exit": (3, "with exit code 3"),
    "zero": (0, "with exit code 0"),
    "in a thread": (4, "with exit code 4"),
    "segfault": (-11, "by signal 11 (SIGSEGV)"),
    "abort": (-6, "by signal 6 (SIGABRT)"),
    "SIGKILL": (-9, "by signal 9 (SIGKILL)"),
    "SIGTERM": (-15, "by signal 15 (SIGTERM)"),
    "SIGALRM": (-14, "by signal 14 (SIGALRM)"),
}


@pytest.fixture
def client(make_client):
    """
    Have all tools.
    """
    return make_client(*TOOLS, start_and_wait, engine=ProcessEngine())


def test_a_dead_worker_is_named_by_its_end(client):
    """
    R42, R37: the exit code or the signal, and that it may have taken effect.
    """
    for how, (code, text) in ENDS.items():
        result = client.invoke("end", {"how": how})

        assert ("worker_died", "killed") == (result.status, result.fate)
        assert code == result.error.exit_code
        assert "transient" == result.error_class
        assert (
            f"The worker process of tool 'end' ended under it, {text}. It may have "
            "taken effect."
        ) == result.content
        assert 3 == client.invoke("add", {"a": 1, "b": 2}).value


def test_a_dead_worker_costs_only_its_own_call(client, listener, lifeline):
    """
    R42, BAT-03, trap 35: the sibling is in its body while the other worker dies.
    """
    calls = [
        ToolCall("wait_for", {"go": lifeline.go}),
        ToolCall("end", {"how": "segfault"}),
    ]
    results = []
    thread = threading.Thread(target=lambda: results.extend(client.invoke_batch(calls)))
    thread.start()
    [told] = listener.wait_for(Progress)
    [first] = listener.wait_for(CallFinished)
    lifeline.let_go()
    thread.join()

    assert "end" == first.name
    assert ["ok", "worker_died"] == [result.status for result in results]
    assert told.done == results[0].value
    assert ["ok", "ok"] == [
        result.status for result in client.invoke_batch([ToolCall("pid", {})] * 2)
    ]


def test_an_idle_worker_that_dies_costs_nothing(client):
    """
    R42: the next call gets another one, and does not hear of it.
    """
    number = client.invoke("pid").value
    os.kill(number, signal.SIGKILL)
    gone = await_end(number)
    result = client.invoke("pid")

    assert (True, "ok", True) == (gone, result.status, result.value != number)


def test_a_worker_that_is_killed_under_a_call(client, listener, lifeline):
    """
    R42: somebody else, the kernel's own for one, may end it at any time.
    """
    results = []
    thread = threading.Thread(
        target=lambda: results.append(client.invoke("wait_for", {"go": lifeline.go}))
    )
    thread.start()
    [told] = listener.wait_for(Progress)
    os.kill(int(told.done), signal.SIGKILL)
    thread.join()

    assert ["worker_died"] == [result.status for result in results]
    assert -9 == results[0].error.exit_code
    assert "ok" == client.invoke("pid").status


def test_a_zygote_that_is_killed_is_replaced(client):
    """
    R42: what starts the workers is a process too.
    """
    worker, zygote = client.invoke("pid").value, client.invoke("parent").value
    os.kill(zygote, signal.SIGKILL)
    gone = await_end(zygote) and await_end(worker)
    result = client.invoke("parent")

    assert (True, "ok", True) == (gone, result.status, result.value != zygote)
    assert {result.value} == children() & {zygote, result.value}


def test_a_zygote_that_is_killed_under_calls(client, listener, lifeline):
    """
    Its workers die with it, and all calls that come next at once find another one.
    """
    zygote = client.invoke("parent").value
    calls = [ToolCall("wait_for", {"go": lifeline.go})] * 3
    results = []
    thread = threading.Thread(target=lambda: results.extend(client.invoke_batch(calls)))
    thread.start()
    numbers = {int(event.done) for event in listener.wait_for(Progress, 3)}
    os.kill(zygote, signal.SIGKILL)
    thread.join()
    again = client.invoke_batch([ToolCall("parent", {})] * 6)

    assert ["worker_died"] * 3 == [result.status for result in results]
    assert (3, set()) == (len(numbers), {n for n in numbers if is_alive(n)})
    assert ["ok"] * 6 == [result.status for result in again]
    assert 1 == len({result.value for result in again})


def test_a_zygote_that_is_killed_may_leave_something(client, listener, lifeline):
    """
    R40: where nobody can look for what a body started, nobody says that it is gone.
    """
    results = []
    arguments = {"how": "session", **lifeline.arguments}
    zygote = client.invoke("parent").value
    thread = threading.Thread(
        target=lambda: results.append(client.invoke("start_and_wait", arguments))
    )
    thread.start()
    listener.wait_for(Progress)
    other = lifeline.pid()
    os.kill(zygote, signal.SIGKILL)
    thread.join()
    held = lifeline.is_held()
    os.kill(other, signal.SIGKILL)

    assert [("worker_died", "abandoned")] == [(r.status, r.fate) for r in results]
    assert held


HOST = """
tools = [process_tools.pid, process_tools.parent, hanging_tools.start_and_wait]
client = ToolClient(tools, engine=ProcessEngine())
print(client.invoke("parent").value, flush=True)
client.invoke_batch([ToolCall("pid")] * 3)
FORK
client.invoke("start_and_wait", json.loads('ARGUMENTS'))
"""
FORK = """
if not os.fork():
    print(os.getpid(), flush=True)
    time.sleep(60)
"""


def host(lifeline, how, fork=""):
    """
    Start a script that is in a body, together with what that has started.
    """
    arguments = json.dumps({"how": how, **lifeline.arguments})

    return start_script(HOST.replace("FORK", fork).replace("ARGUMENTS", arguments))


@pytest.mark.parametrize("how", ["group", "session", "double"])
def test_nothing_outlives_a_host_that_is_killed(how, lifeline):
    """
    Trap 27: the zygote, the workers and what the body has started end with it.
    """
    script = host(lifeline, how)
    zygote = int(script.stdout.readline())
    lifeline.pid()
    workers = children(zygote)
    lived = lifeline.is_held()
    end(script)

    assert (True, True) == (lived, len(workers) >= 1)
    assert lifeline.is_cut(SOON)
    assert all(await_end(pid, SOON) for pid in (zygote, *workers))


def test_nothing_outlives_a_host_whose_forked_child_lives(lifeline):
    """
    Trap 27: a copy of the host does not keep what ties the workers to it.
    """
    script = host(lifeline, "session", FORK)
    zygote = int(script.stdout.readline())
    copy = int(script.stdout.readline())
    lifeline.pid()
    workers = children(zygote)
    end(script)
    try:
        cut = lifeline.is_cut(SOON)
        gone = [await_end(pid, SOON) for pid in (zygote, *workers)]
        copy_lives = is_alive(copy)
    finally:
        os.kill(copy, signal.SIGKILL)

    assert (True, True) == (cut, all(gone))
    assert copy_lives


def test_a_fork_of_the_host_has_workers_of_its_own():
    """
    Trap 28: after a fork both call, and neither gets what the other has asked for.
    """
    code, out, err = run_script(
        """
        client = ToolClient([process_tools.pid, process_tools.echo])
        first = client.invoke("pid").value
        ours, theirs = os.pipe()
        child = os.fork()
        mine = "child" if not child else "host"
        answers = {client.invoke("echo", {"text": f"{mine} {n}"}).value for n in range(50)}
        assert answers == {f"{mine} {n}" for n in range(50)}, answers
        second = client.invoke("pid").value
        if not child:
            os.write(theirs, str(second).encode())
            client.close()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        print(first == second, first == int(os.read(ours, 99)), client.invoke("pid").ok)
        client.close()
        """,
        "-W",
        "ignore",
    )

    assert (0, "True False True\n", "") == (code, out, err)


def test_a_body_that_forks_answers_once(client):
    """
    A copy of the worker comes back from the body as well, and says nothing.
    """
    values = [client.invoke("fork_in_body").value for _ in range(20)]

    assert ["parent"] * 20 == values


def test_a_body_that_closes_everything(client):
    """
    What becomes a daemon closes all descriptors: that is its own end, not the host's.
    """
    result = client.invoke("close_everything")

    assert "worker_died" == result.status
    assert "ok" == client.invoke("pid").status
