"""
What holds on a cluster of several nodes, when one of them is lost.
"""

from __future__ import annotations

import asyncio
import os
import signal

from pathlib import Path

import pytest

import driving_ray

from engine_stage import begin
from processes.watching import await_end, start_script
from ray_tools import hang_for_good, mark_one
from scripts import end
from tooldecl import ToolCall
from tooldecl.engines import RayEngine


pytestmark = pytest.mark.slow

CALLS = 200


@pytest.fixture(scope="module")
def cluster():
    """
    Have a head that runs nothing, and two nodes.
    """
    with driving_ray.several_nodes() as made:
        yield made


@pytest.fixture
def nodes(cluster):
    """
    Have two nodes, whatever was lost before.
    """
    driving_ray.with_two_nodes(cluster)

    return cluster


@pytest.fixture
def client(nodes, make_client):
    """
    Have a client of the cluster.
    """
    with RayEngine(nodes.address) as engine:
        yield make_client(hang_for_good, mark_one, engine=engine)


def raylet_of(pid):
    """
    Return the raylet that a process comes from.
    """
    while b"raylet/raylet" not in Path(f"/proc/{pid}/cmdline").read_bytes():
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
        pid = int(text.rpartition(")")[2].split()[1])

    return pid


def pids(lifeline, count):
    """
    Wait for so many bodies, and return their numbers.
    """
    said = b""
    while said.count(b"\n") < count:
        said += lifeline.said(90)

    return [int(line) for line in said.splitlines()]


def lose(nodes, body):
    """
    Lose the node that a body runs on, with all that it has.
    """
    raylet = raylet_of(body)
    for node in list(nodes.worker_nodes):
        if node.all_processes["raylet"][0].process.pid == raylet:
            nodes.remove_node(node, allow_graceful=False)
            return
    raise AssertionError("No node has it.")


def lose_a_node_in_a_batch(nodes, client, lifeline, folder):
    """
    Lose a node in the middle of a batch, and check what each call was told.
    """
    calls = [
        ToolCall(
            "mark_one",
            {
                "folder": str(folder),
                "number": number,
                # One waits for the end of its node, which comes when it says that it runs.
                "line": lifeline.path if number == CALLS // 2 else "",
            },
            str(number),
        )
        for number in range(CALLS)
    ]
    future = begin(client.invoke_batch, calls)
    lose(nodes, lifeline.pid(driving_ray.LONG))
    results = future.result(60)
    marks = [int(line) for line in (folder / "marks").read_text().split()]
    lost = {int(r.call_id) for r in results if r.status != "ok"}

    assert [str(number) for number in range(CALLS)] == [r.call_id for r in results]
    assert len(marks) == len(set(marks))
    assert set(range(CALLS)) - lost <= set(marks)
    assert {("worker_died", "abandoned")} == {
        (results[number].status, results[number].fate) for number in lost
    }
    assert (True, True) == (CALLS // 2 in lost, len(lost) <= 8)
    assert lifeline.is_cut()


def test_a_lost_node_costs_the_calls_on_it(nodes, client, lifeline, tmp_path):
    """
    R39: of 200 calls each has one answer, in order, and none ran twice.
    """
    lose_a_node_in_a_batch(nodes, client, lifeline, tmp_path)


@pytest.mark.stress
@pytest.mark.parametrize("time", range(10))
def test_a_lost_node_costs_the_calls_on_it_each_time(
    time, nodes, client, lifeline, tmp_path
):
    """
    The same, ten times in a row.
    """
    lose_a_node_in_a_batch(nodes, client, lifeline, tmp_path)


def test_a_body_dies_with_its_node(nodes, client, lifeline):
    """
    R46: it holds the interpreter's lock, and nobody is left to end it.
    """
    arguments = {"how": "hold_lock", "line": lifeline.path}
    future = begin(client.invoke, "hang_for_good", arguments)
    body = lifeline.pid(driving_ray.LONG)
    lose(nodes, body)
    result = future.result(60)

    assert ("worker_died", "abandoned") == (result.status, result.fate)
    assert await_end(body)


CLIENT = """
import ray_tools
from processes import hanging_tools

with RayEngine({address!r}) as engine:
    client = ToolClient([ray_tools.hang_for_good], engine=engine)
    arguments = {{"how": "hold_lock", "line": {line!r}}}
    for _ in range(2):
        threading.Thread(
            target=client.invoke, args=("hang_for_good", arguments)
        ).start()
    time.sleep(60)
"""


def test_nothing_is_left_of_a_client_that_is_shot(nodes, lifeline):
    """
    R46: its bodies end on their nodes, though they hold the lock and nobody asks.
    """
    script = start_script(CLIENT.format(address=nodes.address, line=lifeline.path))
    try:
        bodies = pids(lifeline, 2)
        os.kill(script.pid, signal.SIGKILL)
        cut = lifeline.is_cut()
    finally:
        end(script)

    assert (True, True) == (cut, all(map(await_end, bodies)))


async def test_calls_are_spread_over_the_nodes(client, lifeline, tmp_path):
    """
    More calls at once than one node has room for, and all end when they are given up.
    """
    arguments = {"folder": str(tmp_path), "number": 1, "line": lifeline.path}
    calls = [ToolCall("mark_one", arguments)] * 5
    task = asyncio.create_task(client.ainvoke_batch(calls))
    bodies = await asyncio.to_thread(pids, lifeline, 5)
    raylets = {raylet_of(body) for body in bodies}
    task.cancel()
    await asyncio.wait([task])

    assert (2, True) == (len(raylets), await asyncio.to_thread(lifeline.is_cut))
