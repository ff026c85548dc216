"""
What an engine over a real Ray promises beyond the conformance of all engines: a clock and
a kill where the body is, and the truth about what was lost.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal

from pathlib import Path

import pytest

import driving_ray

from engine_stage import begin
from engine_tools import meet
from fronts import Listener, call, call_batch
from processes.executor_tools import about, hang, mark
from processes.hanging_tools import HANGING
from processes.test_executors import parent_of
from processes.watching import await_end
from ray_tools import count_to, hang_for_good, repeat, surroundings
from tooldecl import ToolCall, ToolClient
from tooldecl.engines import RayEngine
from tooldecl.telemetry import CallFinished, LateFinish, Progress


pytestmark = pytest.mark.slow

HOW = sorted(set(HANGING) - {"fat"})


@pytest.mark.parametrize("how", HOW)
async def test_a_call_that_is_given_up_is_killed(
    how, make_client, make_engine, lifeline, listener
):
    """
    R31, SPEC 5: by the time that its caller is told, whatever the body does.
    """
    client = make_client(hang_for_good, engine=make_engine())
    arguments = {"how": how, "line": lifeline.path}
    task = asyncio.create_task(client.ainvoke("hang_for_good", arguments))
    await asyncio.to_thread(lifeline.pid, driving_ray.LONG)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    [end] = listener.of(CallFinished)

    assert ("cancelled", "killed") == (end.result.status, end.result.fate)
    assert (False, ()) == (lifeline.is_held(), client.abandoned)


async def test_a_worker_that_hears_nothing_is_not_waited_for(
    make_client, make_engine, lifeline, listener
):
    """
    R31: it was stopped, and nobody can say what becomes of the body; it is told later.
    """
    client = make_client(hang_for_good, engine=make_engine())
    arguments = {"how": "nap", "line": lifeline.path}
    task = asyncio.create_task(client.ainvoke("hang_for_good", arguments))
    body = await asyncio.to_thread(lifeline.pid, driving_ray.LONG)
    worker = parent_of(parent_of(body))
    os.kill(worker, signal.SIGSTOP)
    try:
        task.cancel()
        await asyncio.wait([task])
        [end] = listener.of(CallFinished)
        names = [one.name for one in client.abandoned]
    finally:
        os.kill(worker, signal.SIGCONT)
    await asyncio.to_thread(listener.wait_for, LateFinish)

    assert ("cancelled", "abandoned") == (end.result.status, end.result.fate)
    assert (["hang_for_good"], ()) == (names, client.abandoned)
    assert await asyncio.to_thread(lifeline.is_cut)


def test_a_batch_that_is_over_begins_nothing(
    front, make_client, make_engine, lifeline, tmp_path
):
    """
    SPEC 6: the running call is ended in time, what waits for a place never begins.
    """
    marker = tmp_path / "marker"
    whole = {"num_cpus": driving_ray.CPUS}
    engine = make_engine(resources={"hang": whole, "mark": whole})
    client = make_client(hang, mark, engine=engine)
    client.invoke("mark", {"marker": str(tmp_path / "warm")})
    hanging = [ToolCall("hang", {"line": lifeline.path})]
    held = begin(call_batch, front, client, hanging, within=5.0)
    lifeline.pid(driving_ray.LONG)
    marking = [ToolCall("mark", {"marker": str(marker)})]
    [waiting] = call_batch(front, client, marking, within=0.5)
    [running] = held.result(30)

    assert ("not_run", "not_started") == (waiting.status, waiting.fate)
    assert ("timeout", "killed") == (running.status, running.fate)
    assert (True, False) == (lifeline.is_cut(), marker.exists())


def test_a_call_that_is_begun_too_late_is_not_begun(
    front, make_client, make_engine, lifeline, tmp_path
):
    """
    ``expires``: what has waited longer for a place has no effect any more.
    """
    marker = tmp_path / "marker"
    whole = {"num_cpus": driving_ray.CPUS}
    engine = make_engine(resources={"hang": whole})
    waiting = make_engine(resources={"mark": whole}, expires=0.5)
    holder = make_client(hang, engine=engine)
    client = make_client(mark, engine=waiting)
    client.invoke("mark", {"marker": str(tmp_path / "warm")})
    held = begin(
        holder.invoke_batch,
        [ToolCall("hang", {"line": lifeline.path})],
        within=4.0,
    )
    lifeline.pid(driving_ray.LONG)
    late = call(front, client, "mark", {"marker": str(marker)})
    written = marker.exists()
    held.result(30)
    soon = client.invoke("mark", {"marker": str(marker)})

    assert ("busy", "not_started", 0, False) == (
        late.status,
        late.fate,
        late.attempts,
        written,
    )
    assert "its cluster did not come to it in time" in late.content
    assert ("ok", "ran\n") == (soon.status, marker.read_text())


def test_the_body_dies_with_the_worker_that_ran_it(make_client, make_engine, lifeline):
    """
    R46: no body outlives the machine's part in it, though nobody asks for it.
    """
    client = make_client(hang_for_good, engine=make_engine())
    arguments = {"how": "hold_lock", "line": lifeline.path}
    future = begin(client.invoke, "hang_for_good", arguments)
    body = lifeline.pid(driving_ray.LONG)
    os.kill(parent_of(parent_of(body)), signal.SIGKILL)

    assert "worker_died" == future.result(30).status
    assert await_end(body)


def test_a_call_is_run_where_the_cluster_is(front, make_client, make_engine):
    """
    SPEC 6: by reference, in a process of its own, with what the call knows.
    """
    client = make_client(about, engine=make_engine(), state={"a": 1})
    result = call(front, client, "about", call_id="mine")
    call_id, attempt, state, here, _ = result.value

    assert ("ok", "completed") == (result.status, result.fate)
    assert ("mine", 1, {"a": 1}) == (call_id, attempt, state)
    assert here != os.getpid()


def test_a_large_result_comes_back(front, make_client, make_engine):
    """
    More than fits into a message of Ray's, which goes through its object store.
    """
    client = make_client(repeat, engine=make_engine())
    result = call(front, client, "repeat", {"text": "ä" * 100, "times": 50_000})

    assert ("ok", 5_000_000) == (result.status, len(result.value))


def test_an_engine_that_is_closed_ends_its_calls(make_client, make_engine, lifeline):
    """
    SPEC 5: they are answered, their bodies are killed, and the host's Ray stays.
    """
    engine, other = make_engine(), make_engine()
    client = make_client(hang_for_good, engine=engine)
    arguments = {"how": "hold_lock", "line": lifeline.path}
    future = begin(client.invoke, "hang_for_good", arguments)
    lifeline.pid(driving_ray.LONG)
    engine.close()
    engine.close()
    result = future.result(30)

    assert ("cancelled", "killed", False) == (
        result.status,
        result.fate,
        lifeline.is_held(),
    )
    assert make_client(about, engine=other).invoke("about").ok


async def test_the_loop_is_free_while_calls_run(make_client, make_engine, stage):
    """
    Four calls of one loop need each other, and the loop goes on beside them.
    """
    client = make_client(meet, engine=make_engine())
    calls = [
        stage.call("meet", mine=mine, other=other)
        for mine, other in [("left", "right"), ("right", "left")] * 2
    ]
    waiting = asyncio.create_task(client.ainvoke_batch(calls))
    turns = 0
    while not waiting.done():
        await asyncio.sleep(0.001)  # without it, workers would not get the processor
        turns += 1

    assert (["ok"] * 4, True) == ([r.status for r in waiting.result()], turns > 5)


@pytest.mark.parametrize("number", [3, 500])
def test_progress_comes_back(front, number, make_client, make_engine, listener):
    """
    R70: each step, in order, before the answer; with a tool that says nothing beside it.
    """
    client = make_client(count_to, repeat, engine=make_engine())
    result = call(front, client, "count_to", {"number": number}, call_id="mine")
    call(front, client, "repeat", {"text": "a", "times": 2})
    told = listener.of(Progress)

    assert ("ok", number) == (result.status, result.value)
    assert [(n, number, f"step {n}") for n in range(number)] == [
        (e.done, e.total, e.message) for e in told
    ]
    assert {"mine"} == {e.call_id for e in told}


def boxes():
    """
    List the processes in which Ray keeps what bodies have said.
    """
    found = set()
    for at in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"ray::Mailbox" in at.read_bytes():
                found.add(int(at.parent.name))
        except OSError:  # it has just ended
            continue

    return found


def test_a_forgotten_engine_leaves_no_box():
    """
    It goes when nobody can hear from it any more; a finalizer that ended it ran on
    any thread, one of Ray's that waited for itself among them.
    """
    heard = Listener()
    before = boxes()
    engine = RayEngine(driving_ray.address())
    client = ToolClient([count_to], engine=engine, hooks=[heard])
    client.invoke("count_to", {"number": 2})
    [box] = boxes() - before
    told = len(heard.of(Progress))
    client.close()
    del engine, client
    gc.collect()

    assert 2 == told
    assert await_end(box, 60)


def test_what_a_task_is_given_is_seen_by_its_body(make_client, make_engine):
    """
    Ray says by the environment what a task has; a process that was kept knows it too.
    """
    names = {"names": ["CUDA_VISIBLE_DEVICES"]}
    found = []
    for number in (1, 2, 1):
        engine = make_engine(resources={"surroundings": {"num_gpus": number}})
        client = make_client(surroundings, engine=engine)
        found.append(client.invoke("surroundings", names).value[names["names"][0]])

    assert (True, "0,1", True) == (
        found[0] in ("0", "1"),
        found[1],
        found[2] in ("0", "1"),
    )


def test_a_resource_of_the_cluster_is_waited_for(
    make_client, make_engine, lifeline, tmp_path
):
    """
    One seat, and one call on it; what is nowhere to be had is given up unbegun.
    """
    marker = tmp_path / "marker"
    engine = make_engine(
        resources={"hang": {"seat": 1, "num_cpus": 0}, "mark": {"seat": 0.5}}
    )
    client = make_client(hang, mark, engine=engine)
    client.invoke("mark", {"marker": str(tmp_path / "warm")})
    held = begin(
        client.invoke_batch, [ToolCall("hang", {"line": lifeline.path})], within=4.0
    )
    lifeline.pid(driving_ray.LONG)
    marking = [ToolCall("mark", {"marker": str(marker)})]
    [waiting] = client.invoke_batch(marking, within=0.5)
    held.result(30)
    [seated] = client.invoke_batch(marking)
    nowhere = make_engine(resources={"mark": {"throne": 1}})
    [unseated] = make_client(mark, engine=nowhere).invoke_batch(marking, within=0.5)

    assert ["not_run", "ok", "not_run"] == [
        r.status for r in (waiting, seated, unseated)
    ]
    assert "ran\n" == marker.read_text()
