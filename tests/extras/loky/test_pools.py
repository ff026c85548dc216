"""
What becomes of calls when a pool of loky's breaks, which it does as a whole, and when the
client is killed.
"""

from __future__ import annotations

import os
import signal
import threading

from concurrent.futures import BrokenExecutor

import pytest

from loky import ProcessPoolExecutor, get_reusable_executor

from engine_stage import begin
from fronts import call, call_batch
from processes.executor_tools import hang, mark
from processes.watching import (
    Lifeline,
    await_end,
    children,
    parent_of,
    shoot_all,
    start_script,
)
from recipes import recipe
from scripts import end
from tooldecl import ToolCall
from tooldecl.engines import ExecutorEngine


@pytest.fixture
def pool():
    """
    Have two processes of loky's.
    """
    pool = ProcessPoolExecutor(2)
    yield pool
    pool.shutdown(kill_workers=True)


def test_a_pool_that_breaks_loses_all_calls_and_says_so(
    pool, front, make_client, tmp_path
):
    """
    SPEC 6, R44: one worker is shot; its call, the one beside it and the one that waited are
    all lost for whoever asks, no body goes on, nothing runs twice, and nothing that comes
    later is said to have begun.
    """
    lines = []
    for name in ("left", "right"):
        (tmp_path / name).mkdir()
        lines.append(Lifeline(tmp_path / name))
    marker = tmp_path / "marker"
    client = make_client(hang, mark, engine=ExecutorEngine(pool))
    calls = [ToolCall("hang", {"line": line.path}) for line in lines]
    future = begin(call_batch, front, client, calls)
    bodies = [line.pid() for line in lines]
    waiting = begin(call, front, client, "mark", {"marker": str(marker)})
    os.kill(parent_of(parent_of(bodies[0])), signal.SIGKILL)
    results = [*future.result(30), waiting.result(30)]
    cut = [line.is_cut() for line in lines]
    for line in lines:
        line.close()
    later = call(front, client, "mark", {"marker": str(marker)})

    assert [("worker_died", "abandoned", 1)] * 3 == [
        (r.status, r.fate, r.attempts) for r in results
    ]
    assert isinstance(results[0].error.__cause__, BrokenExecutor)
    assert [True, True] == cut
    assert ("busy", "not_started", 0) == (later.status, later.fate, later.attempts)
    assert "its executor takes no more calls (TerminatedWorkerError)" in later.content
    assert ((), False) == (client.abandoned, marker.exists())


def test_a_pool_that_is_renewed_takes_calls_again(
    front, make_client, lifeline, tmp_path
):
    """
    The page about executors: whoever keeps a pool that can be made anew loses what it had,
    and no more.
    """
    pools = []

    def make():
        pools.append(ProcessPoolExecutor(1))

        return pools[-1]

    engine = ExecutorEngine(recipe("renewed").Renewed(make))
    client = make_client(hang, mark, engine=engine)
    future = begin(call, front, client, "hang", {"line": lifeline.path})
    os.kill(parent_of(parent_of(lifeline.pid())), signal.SIGKILL)
    lost = future.result(30)
    marker = tmp_path / "marker"
    later = call(front, client, "mark", {"marker": str(marker)})
    for each in pools:
        each.shutdown(kill_workers=True)

    assert ("worker_died", "ok", 2) == (lost.status, later.status, len(pools))
    assert (True, "ran\n") == (lifeline.is_cut(), marker.read_text())


def test_what_loky_comes_to_too_late_is_not_begun(
    front, make_client, lifeline, tmp_path
):
    """
    ``expires``: its clock goes on while another call has the only process.
    """
    pool, marker = ProcessPoolExecutor(1), tmp_path / "marker"
    engine = ExecutorEngine(pool, expires=0.5)
    warm = call(
        front,
        make_client(mark, engine=ExecutorEngine(pool)),
        "mark",
        {"marker": os.devnull},
    )
    client = make_client(hang, mark, engine=engine)
    first = begin(
        client.invoke_batch, [ToolCall("hang", {"line": lifeline.path})], within=2
    )
    lifeline.pid()
    late = call(front, client, "mark", {"marker": str(marker)})
    [cut] = first.result(30)
    pool.shutdown()

    assert ("ok", "timeout") == (warm.status, cut.status)
    assert ("busy", "not_started", False) == (late.status, late.fate, marker.exists())


SCRIPT = """
from loky import get_reusable_executor
from processes import executor_tools

client = ToolClient(
    [executor_tools.hang], engine=ExecutorEngine(get_reusable_executor(2))
)
client.invoke("hang", {"line": %r})
"""


def test_no_body_outlives_a_client_that_is_killed(lifeline):
    """
    SPEC 6: nobody is left who could ask for its end; what runs it for loky notices.
    """
    script = start_script(SCRIPT % lifeline.path)
    keeper = parent_of(lifeline.pid())
    theirs = children(script.pid)
    end(script)
    cut, gone = lifeline.is_cut(), await_end(keeper)
    shoot_all(theirs)  # which loky leaves where it was killed

    assert (True, True) == (cut, gone)


def test_an_executor_of_another_thread_is_not_this_ones():
    """
    The page about executors warns of it: asked in each thread anew, loky has a pool each.
    """
    here = get_reusable_executor(1)
    found = []
    thread = threading.Thread(
        target=lambda: found.append(get_reusable_executor(1).shutdown())
    )
    thread.start()
    thread.join()
    works = here.submit(int).result()
    here.shutdown()

    assert (1, 0) == (len(found), works)
