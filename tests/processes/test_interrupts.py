"""
An errand whose worker is interrupted, as clusters do to end what they run.
"""

from __future__ import annotations

import _thread
import queue
import threading

from concurrent.futures import Executor, Future

import pytest

from engine_stage import begin
from processes.executor_tools import hang, mark
from tooldecl._processes import run_until_interrupted
from tooldecl.engines import ExecutorEngine


pytestmark = pytest.mark.slow


class Kept(Executor):
    """
    Keeps what it is given for the test to run.
    """

    def __init__(self):
        self.parcels = queue.Queue()

    def submit(self, function, /, *args):
        """
        Keep it.
        """
        future = Future()
        self.parcels.put((future, *args))

        return future


def test_an_interrupt_ends_the_body_and_is_answered(make_client, lifeline, tmp_path):
    """
    Nobody here has asked for it: what it was is told, and the main thread goes on.
    """
    marker = tmp_path / "marker"
    executor = Kept()
    client = make_client(hang, mark, engine=ExecutorEngine(executor))
    waiting = begin(client.invoke, "hang", {"line": lifeline.path})
    future, parcel = executor.parcels.get(timeout=30)

    def interrupt():
        lifeline.pid()
        _thread.interrupt_main()

    thread = threading.Thread(target=interrupt)
    thread.start()
    future.set_result(run_until_interrupted(parcel))
    thread.join()
    result = waiting.result(30)
    cut = lifeline.is_cut()
    waiting = begin(client.invoke, "mark", {"marker": str(marker)})
    future, parcel = executor.parcels.get(timeout=30)
    future.set_result(run_until_interrupted(parcel))

    assert ("worker_died", "killed", True) == (result.status, result.fate, cut)
    assert ("ok", "ran\n") == (waiting.result(30).status, marker.read_text())
