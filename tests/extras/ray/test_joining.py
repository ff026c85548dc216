"""
How a process joins a cluster and leaves it, and what it is told where it cannot.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys

from pathlib import Path

import pytest

import driving_ray

from fronts import call
from processes.watching import SCRIPT
from ray_tools import surroundings
from tooldecl.engines import RayEngine
from tooldecl.exceptions import ClusterError, EngineClosedError


pytestmark = pytest.mark.slow


def free_port():
    """
    Return a port that nobody listens on.
    """
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))

        return sock.getsockname()[1]


def run_script(body, **environment):
    """
    Run a script that has Ray to itself; return its exit code and its output.
    """
    environment = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT_HEAD + body],
        capture_output=True,
        check=False,
        text=True,
        timeout=driving_ray.LONG,
        env=environment,
    )

    return done.returncode, done.stdout, done.stderr


SCRIPT_HEAD = f"""
import asyncio, os, signal, sys, threading, time
{SCRIPT}
from tooldecl import ToolCall, ToolClient
from tooldecl.exceptions import *
import ray_tools
"""


@pytest.fixture(autouse=True)
def folder():
    """
    Have a short folder for what scripts start.
    """
    driving_ray.prepare()

    return driving_ray.FOLDERS[-1]


LOCAL = """
import ray
from processes.executor_tools import about

assert "RAY_USAGE_STATS_ENABLED" not in os.environ
one, two = RayEngine("local"), RayEngine("local")
tools = [ray_tools.shout, ray_tools.surroundings, about]
client, other = ToolClient(tools, engine=one), ToolClient(tools, engine=two)
assert not ray.is_initialized()

async def first():
    return await client.ainvoke("shout", {"text": "hello"})

print(asyncio.run(first()).status)
print(other.invoke("surroundings", {"names": ["RAY_USAGE_STATS_ENABLED"]}).value)
assert "RAY_USAGE_STATS_ENABLED" not in os.environ
one.close()
one.close()
assert ray.is_initialized()
print(other.invoke("about").status)
try:
    RayEngine("127.0.0.1:1").connect()
except ClusterError as error:
    print(error)
sys.stdout.flush()  # or the child would write it again
if not os.fork():
    print(other.invoke("about").status)
    try:
        two.connect()
    except ClusterError as error:
        print(error, flush=True)
    os._exit(0)
os.wait()
time.sleep(1.5)
two.close()
assert not ray.is_initialized()
try:
    two.connect()
except EngineClosedError as error:
    print("closed")
"""


def test_a_cluster_of_this_process(monkeypatch):
    """
    It starts at the first call and ends with the last engine, reports no usage, hands on
    what bodies print, and says what it cannot do.
    """
    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED")
    code, out, err = run_script(LOCAL)
    lines = [line for line in out.splitlines() if "pid=" not in line]

    assert (0, "") == (code, "" if code == 0 else err)
    assert "ok" == lines[0]
    assert "{'RAY_USAGE_STATS_ENABLED': '0'}" == lines[1]
    assert "ok" == lines[2]
    assert "this process has joined 'local'" in lines[3]
    assert "busy" == lines[4]
    assert "was forked from one that had joined a cluster" in lines[5]
    assert "closed" == lines[6]
    assert re.search(r"\(shout pid=\d+\).* out hello", out + err)
    assert re.search(r"\(shout pid=\d+\).* err hello", out + err)


def test_nobody_listens(front, make_client, caplog):
    """
    Told at once, with what to do; a call is not run and says so.
    """
    address = f"127.0.0.1:{free_port()}"
    driving_ray.end()
    with RayEngine(address) as engine:
        with pytest.raises(ClusterError, match="nobody listens there") as caught:
            engine.connect()
        client = make_client(surroundings, engine=engine)
        result = call(front, client, "surroundings", {"names": []})

    assert (address, True) == (caught.value.address, "ray start" in str(caught.value))
    assert ("busy", "not_started") == (result.status, result.fate)
    assert result.content.endswith("its cluster cannot be joined.")
    assert "nobody listens there" in caplog.text


REFUSED = """
engine = RayEngine({address!r})
try:
    engine.connect()
except ClusterError as error:
    print(error.reason)
engine.close()
"""


def test_a_cluster_that_takes_no_strangers(folder):
    """
    Told apart from one that is not there, and no token is ever said.
    """
    port, ours, theirs = free_port(), "a" * 32, "b" * 32
    environment = {**os.environ, "RAY_AUTH_MODE": "token"}
    head = subprocess.Popen(
        [
            *(Path(sys.executable).with_name("ray"), "start", "--head", "--block"),
            *("--port", str(port), "--num-cpus", "1", "--include-dashboard", "false"),
            *("--object-store-memory", "80000000", "--disable-usage-stats"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**environment, "RAY_AUTH_TOKEN": ours},
    )
    try:
        for line in head.stdout:
            if b"Ray runtime started" in line:
                break
        code, out, _ = run_script(
            REFUSED.format(address=f"127.0.0.1:{port}"),
            RAY_AUTH_MODE="token",
            RAY_AUTH_TOKEN=theirs,
        )
    finally:
        head.send_signal(signal.SIGTERM)
        head.wait(30)
        head.stdout.close()

    assert (0, True) == (code, "it lets this client not in" in out)
    assert not any(token in out for token in (ours, theirs))


STUCK = """
import socket

listening = socket.create_server(("127.0.0.1", 0))
stuck = RayEngine("127.0.0.1:%d" % listening.getsockname()[1])
threading.Thread(target=stuck.connect, daemon=True).start()
while "tooldecl-ray" not in [thread.name for thread in threading.enumerate()]:
    time.sleep(0.01)
try:
    RayEngine("local").connect()
except ClusterError as error:
    print(error.reason, flush=True)
os._exit(0)
"""


def test_a_cluster_that_never_answers_is_not_said_to_be_joined():
    """
    Who looks for the reason would look at the wrong end.
    """
    code, out, err = run_script(STUCK)

    assert (0, "") == (code, "" if code == 0 else err)
    assert out.startswith("this process is still trying to join '127.0.0.1:")


def test_the_hosts_own_connection_is_used_and_left(make_client):
    """
    Where it is the same address; another one is refused by name.
    """
    import ray

    address = driving_ray.address()
    with RayEngine(address) as engine:
        client = make_client(surroundings, engine=engine)
        assert client.invoke("surroundings", {"names": []}).ok
    with RayEngine("local") as engine, pytest.raises(ClusterError, match="joined"):
        engine.connect()

    assert ray.is_initialized()
    with pytest.raises(EngineClosedError):
        engine.connect()
    driving_ray.end()
