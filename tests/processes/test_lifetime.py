"""
Workers are used again, hold what they are told to hold, and leave nothing behind.
"""

from __future__ import annotations

import gc
import logging
import os
import resource
import signal
import threading

from pathlib import Path

import pytest

from processes.hanging_tools import SHORT, briefly_spin, nap
from processes.odd_modules import odd_module
from processes.process_tools import TOOLS, add, count, pid, take_crumbs, take_memory
from processes.watching import children, run_script, start_script
from scripts import SOON, ended
from tooldecl import ToolCall, ToolClient
from tooldecl._processes._system import is_alive
from tooldecl.engines import ProcessEngine


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


def test_a_tools_output_is_not_the_hosts():
    """
    Trap 24: whatever it writes, the host's output holds what the host has written.
    """
    code, out, err = run_script(
        SETUP
        + """
print("before")
answer = client.invoke("say", {"text": "spoken"})
print(repr(answer.value), answer.content)
client.close()
""",
        stdin=-1,
    )

    assert (0, "before\n'' \"\"\n") == (code, out)
    assert 4 <= err.count("spoken")


def test_a_host_without_streams_works():
    """
    A service may have closed all three.
    """
    code, out, _ = run_script(
        """
        kept = os.dup(1)
        os.close(0), os.close(1), os.close(2)
        client = ToolClient(process_tools.TOOLS)
        said = client.invoke("say", {"text": "spoken"}).status
        died = client.invoke("end", {"how": "exit"}).status
        os.write(kept, f"{said} {died} {client.invoke('pid').ok}".encode())
        client.close()
        os._exit(0)
        """
    )

    assert (0, "ok worker_died True") == (code, out)


def test_a_host_with_threads_that_log(make_client, caplog):
    """
    R43, trap 29: a fork of the host would copy a lock that one of them holds.
    """
    client = make_client(pid, engine=ProcessEngine(recycle=1))
    logger, over = logging.getLogger("busy"), threading.Event()
    began = threading.Barrier(4)

    def log():
        began.wait()
        while not over.is_set():
            logger.warning("busy")

    threads = [threading.Thread(target=log) for _ in range(3)]
    for thread in threads:
        thread.start()
    began.wait()
    numbers = [client.invoke("pid").value for _ in range(50)]
    over.set()
    for thread in threads:
        thread.join()
    caplog.clear()

    assert 50 == len(set(numbers))


def test_an_engine_that_was_started_by_a_thread(make_client):
    """
    Trap 26: workers do not end with the thread that happened to start them.
    """
    client = make_client(pid)
    first = []
    thread = threading.Thread(target=lambda: first.append(client.invoke("pid").value))
    thread.start()
    thread.join()

    assert first == [client.invoke("pid").value]
    assert is_alive(first[0])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("fails", "ValueError"),
        ("exits", "SystemExit"),
        ("half", "ValueError"),
        ("interrupts", "KeyboardInterrupt"),
        ("ends", "it ended with exit code 3"),
    ],
)
def test_a_module_that_cannot_be_imported(name, kind, tmp_path, make_client):
    """
    It costs the calls of its own tools, and each says that nothing was run.
    """
    client = make_client(getattr(odd_module(name, tmp_path), name), add)
    result = client.invoke(name)

    assert ("tool_error", "not_started", 0) == (
        result.status,
        result.fate,
        result.attempts,
    )
    assert (
        f"Tool {name!r} was not run: it cannot be loaded in a worker process ({kind})."
    ) == result.content
    assert "environment" == result.error_class
    assert 3 == client.invoke("add", {"a": 1, "b": 2}).value


@pytest.mark.parametrize("name", ["prints", "threads", "starts"])
def test_a_module_that_is_odd_to_import(name, tmp_path, make_client, capfd):
    """
    R43: neither a thread nor a process of a module's own gets into what forks.
    """
    client = make_client(getattr(odd_module(name, tmp_path), name), nap)
    values = [client.invoke(name, {"x": 2}).value]
    client.invoke("nap")
    values.append(client.invoke(name, {"x": 3}).value)

    assert [2, 3] == values
    assert "" == capfd.readouterr().out


def test_what_lies_around_hides_no_module(tmp_path):
    """
    A file in the working directory is not taken for a part of Python.
    """
    (tmp_path / "json.py").write_text("raise ValueError", encoding="utf-8")
    (tmp_path / "signal.py").write_text("raise ValueError", encoding="utf-8")
    code, out, err = run_script(
        """
        import subprocess, socket
        sys.path.remove("")
        os.chdir(FOLDER)
        with ToolClient([process_tools.add]) as client:
            print(client.invoke("add", {"a": 1, "b": 2}).content)
        """.replace("FOLDER", repr(str(tmp_path)))
    )

    assert (0, "3\n", "") == (code, out, err)


def test_more_descriptors_than_select_takes(make_client):
    """
    A server has thousands of connections open.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    opened = []
    try:
        while not opened or opened[-1] < 1100:
            opened.append(os.open(os.devnull, os.O_RDONLY))
        client = make_client(nap, pid)
        killed = client.invoke("nap")
        status = client.invoke("pid").status
    finally:
        for fd in opened:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert ("killed", "ok") == (killed.fate, status)
    assert SHORT + 2 > killed.elapsed


def test_no_descriptors_left():
    """
    The call is ``busy``, and the workers of other calls go on.
    """
    code, out, err = run_script(
        """
        import resource
        client = ToolClient(process_tools.TOOLS, engine=ProcessEngine(recycle=2))
        first = client.invoke("pid").value
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        opened = [os.open("/dev/null", 0)]
        resource.setrlimit(resource.RLIMIT_NOFILE, (opened[0] + 1, hard))
        second = client.invoke("pid").value
        third = client.invoke("pid")
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        print(first == second, third.status, third.fate, client.invoke("pid").ok)
        print(third.content)
        client.close()
        """
    )

    assert 0 == code, err
    assert (
        "True busy not_started True\n"
        "Tool 'pid' was not run: the system gives no worker process for it (Too many "
        "open files).\n"
    ) == out
