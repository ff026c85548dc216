"""
Workers are used again, hold what they are told to hold, and leave nothing behind.
"""

from __future__ import annotations

import gc
import os
import signal
import threading

from pathlib import Path

import pytest

from fronts import call
from processes.hanging_tools import briefly_spin
from processes.process_tools import TOOLS, count, pid, take_crumbs, take_memory
from processes.watching import await_children, children, start_script
from scripts import SOON, ended
from tooldecl import ToolCall, ToolClient
from tooldecl._processes._system import is_alive
from tooldecl.engines import ProcessEngine
from tooldecl.telemetry import CallFinished, CallStarted


pytestmark = pytest.mark.slow


def test_a_worker_is_used_again(make_client):
    """
    A warm worker answers call after call; no call starts a process.
    """
    client = make_client(pid)

    assert 1 == len({client.invoke("pid").value for _ in range(50)})


def test_module_state_lives_as_long_as_its_worker(make_client):
    """
    R44, trap 32: the host's copy stays as it is; the rule is in ProcessEngine's text.
    """
    from processes import process_tools

    client = make_client(count)
    seen = [client.invoke("count").value for _ in range(3)]
    text = " ".join((ProcessEngine.__doc__ or "").split())

    assert ([1, 2, 3], 0) == (seen, process_tools.COUNT)
    assert "What a tool keeps in its module lives as long as its worker does." in text


@pytest.mark.parametrize("recycle", [1, 2])
def test_a_worker_is_replaced_after_its_calls(recycle, make_client):
    """
    R44: who wants a fresh module for every call, or every few, gets it.
    """
    client = make_client(count, pid, engine=ProcessEngine(recycle=recycle))
    seen = [client.invoke("count").value for _ in range(4)]

    assert {1: [1, 1, 1, 1], 2: [1, 2, 1, 2]}[recycle] == seen
    numbers = [client.invoke("pid").value for _ in range(4)]
    assert 4 // recycle == len(set(numbers))


@pytest.mark.parametrize("megabytes", [400, 100_000])
def test_a_body_has_the_memory_it_was_given(megabytes, make_client):
    """
    Trap 34: on top of what its worker has; what needs more is that call's error.
    """
    limit = 200 * 2**20
    client = make_client(take_memory, engine=ProcessEngine(memory_limit=limit))
    small = client.invoke("take_memory", {"megabytes": 100})
    large = client.invoke("take_memory", {"megabytes": megabytes})
    again = client.invoke("take_memory", {"megabytes": 100})

    assert ["ok", "tool_error", "ok"] == [r.status for r in (small, large, again)]
    assert (
        f"Tool 'take_memory' needed more memory than the limit of {limit} bytes."
    ) == large.content
    assert "completed" == large.fate


def test_no_crumb_of_memory_is_left_to_say_so(make_client):
    """
    Trap 34: what fills it with small pieces leaves nothing for telling of it.
    """
    client = make_client(take_crumbs, engine=ProcessEngine(memory_limit=60 * 2**20))
    result = client.invoke("take_crumbs", {"megabytes": 400})

    assert ("tool_error", "completed") == (result.status, result.fate)
    assert "needed more memory" in result.content
    assert "ok" == client.invoke("take_crumbs", {"megabytes": 1}).status


def test_without_a_limit_there_is_none(make_client):
    """
    The control of the two above.
    """
    client = make_client(take_memory)

    assert "ok" == client.invoke("take_memory", {"megabytes": 400}).status


def census():
    """
    Count what a leak would show in.
    """
    gc.collect()
    names = [thread.name for thread in threading.enumerate()]

    return {
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": sorted(name for name in names if "tooldecl-body" not in name),
        "children": len(children()),
    }


def test_fifty_kills_leave_nothing(make_client):
    """
    R19: no descriptor, thread, child or dead child more than before.
    """
    gc.collect()
    await_children()  # those of clients that were forgotten before end first
    client = make_client(briefly_spin, pid)
    client.invoke("briefly_spin")
    zygote = children()
    before = census()
    results = [client.invoke("briefly_spin") for _ in range(50)]

    assert {("timeout", "killed")} == {(r.status, r.fate) for r in results}
    assert "ok" == client.invoke("pid").status
    assert before == census()
    assert zygote == children()


def test_cold_starts_leave_nothing():
    """
    Trap 37: a start under a tiny timeout leaves no process and no descriptor.
    """
    before = None
    for number in range(6):
        with ToolClient([briefly_spin]) as client:
            result = client.invoke("briefly_spin")
        assert ("timeout", "killed") == (result.status, result.fate)
        if number == 1:
            before = census()

    assert before == census()


def test_a_client_that_nobody_closes_leaves_nothing(make_client):
    """
    Its workers end with it, when it is collected.
    """
    client = ToolClient([pid])
    number = client.invoke("pid").value
    lived = is_alive(number)
    del client
    gc.collect()

    assert (True, False) == (lived, is_alive(number))


def test_no_dead_process_is_left_unburied(make_client):
    """
    A zygote reaps its workers, also the idle ones that somebody else has killed.
    """
    client = make_client(*TOOLS, engine=ProcessEngine())
    client.invoke_batch([ToolCall("pid", {})] * 4)
    zygote = client.invoke("parent").value
    for worker in children(zygote):
        os.kill(worker, signal.SIGKILL)
    client.invoke("end", {"how": "exit"})
    waiting = threading.Event()
    for _ in range(300):  # a worker is reaped right after its end was told
        states = {
            Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[0]
            for worker in children(zygote)
        }
        if "Z" not in states:
            break
        waiting.wait(0.01)

    assert "Z" not in states


SETUP = """
client = ToolClient([*process_tools.TOOLS, hanging_tools.nap], engine=ProcessEngine())
"""


@pytest.mark.parametrize("flags", [(), ("-X", "dev", "-W", "error")])
def test_a_script_that_closes_nothing_ends(flags):
    """
    R19: at once, with nothing to say, and with no process behind it.
    """
    script = start_script(
        SETUP
        + """
print(client.invoke("parent").value, client.invoke("pid").value)
print(*(r.value for r in client.invoke_batch([ToolCall("pid")] * 3)))
print(client.invoke("nap").fate)
client.invoke("end", {"how": "exit"})
""",
        *flags,
    )
    code, out, err = ended(script, SOON)
    *numbers, fate = out.split()

    assert (0, "", "killed") == (code, err, fate)
    assert not [number for number in numbers if is_alive(int(number))]


def test_a_script_on_a_loop_that_closes_nothing_ends():
    """
    R19: the same for ``asyncio.run``.
    """
    script = start_script(
        SETUP
        + """
async def main():
    calls = [client.ainvoke("pid"), client.ainvoke("parent"), client.ainvoke("nap")]
    one, other, late = await asyncio.gather(*calls)
    print(one.value, other.value, late.fate)

asyncio.run(main())
""",
        "-X",
        "dev",
        "-W",
        "error",
    )
    code, out, err = ended(script, SOON)
    *numbers, fate = out.split()

    assert (0, "", "killed") == (code, err, fate)
    assert not [number for number in numbers if is_alive(int(number))]


def test_an_interrupt_at_the_terminal_is_the_hosts():
    """
    Trap 38: the whole foreground group gets it; workers print nothing, and end with it.
    """
    script = start_script(
        SETUP
        + """
print(client.invoke("parent").value, client.invoke("pid").value, flush=True)
try:
    print("in", flush=True)
    client.invoke("rest")
except KeyboardInterrupt:
    print("interrupted")
""",
        process_group=0,
    )
    numbers = script.stdout.readline().split()
    script.stdout.readline()
    os.killpg(script.pid, signal.SIGINT)
    code, out, err = ended(script, SOON)

    assert (0, "interrupted\n", "") == (code, out, err)
    assert not [number for number in numbers if is_alive(int(number))]


def test_the_start_of_a_worker_is_no_part_of_an_attempt(front, make_client, listener):
    """
    A picture of a run shows the body, within its limit, and before it the wait.
    """
    client = make_client(briefly_spin)
    call(front, client, "briefly_spin")
    [started], [finished] = listener.of(CallStarted), listener.of(CallFinished)
    wait = finished.result.queue_wait

    assert ("timeout", True) == (finished.result.status, wait > 0)
    assert started.at + wait <= finished.began <= finished.ended
