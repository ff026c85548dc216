"""
Hosts with threads, without streams or descriptors, and modules that are odd to import.
"""

from __future__ import annotations

import logging
import os
import resource
import threading

import pytest

from processes.hanging_tools import SHORT, nap
from processes.odd_modules import odd_module
from processes.process_tools import add, pid
from processes.watching import run_script
from tooldecl._processes._system import is_alive
from tooldecl.engines import ProcessEngine


pytestmark = pytest.mark.slow

SETUP = """
client = ToolClient(process_tools.TOOLS, engine=ProcessEngine())
"""


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
        sys.path[:] = filter(None, sys.path)
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
