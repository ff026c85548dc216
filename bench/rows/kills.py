"""
From the deadline of a body in a worker to the answer "killed".
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time

from collections.abc import Iterator
from contextlib import contextmanager

import bench_tools as tools

from measuring import Probe, Row, Sample, Sampler

from tooldecl import Fate, ToolClient
from tooldecl.engines import ProcessEngine


WHAT = "SIGKILL to an idle interpreter until its end can be seen"


def bare_kill() -> float:
    """
    Return the seconds from the signal to the end.
    """
    command = [sys.executable, "-c", "print(flush=True); import time; time.sleep(60)"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        if process.stdout is not None:
            process.stdout.readline()
        descriptor = os.pidfd_open(process.pid)
        began = time.perf_counter()
        process.send_signal(signal.SIGKILL)
        select.select([descriptor], [], [])
        took = time.perf_counter() - began
        os.close(descriptor)

    return took


@contextmanager
def ready(_quick: bool) -> Iterator[Sampler]:
    """
    Prepare the calls, and warm the workers.
    """
    with (
        ProcessEngine(max_concurrency=2) as engine,
        ToolClient([tools.asleep, tools.busy, tools.apart], engine=engine) as client,
    ):
        for _ in range(10):
            client.invoke("apart", tools.TEXT).unwrap()

        def late(name: str) -> float:
            # A call before: the worker that replaces a killed one is no part of this.
            client.invoke("apart", tools.TEXT).unwrap()
            result = client.invoke(name)
            if result.fate is not Fate.KILLED:
                raise AssertionError(result)

            return result.elapsed - tools.SHORT

        def sample() -> Sample:
            return {
                "asleep": late("asleep"),
                "busy": late("busy"),
                "floor": bare_kill(),
            }

        yield sample


PROBE = Probe(
    name="kill",
    ready=ready,
    rows=(
        Row(
            title="deadline to answer, killed while asleep",
            value="asleep",
            unit="ms",
            floor="floor",
            what=WHAT,
            limit=10,
        ),
        Row(
            title="deadline to answer, killed while busy",
            value="busy",
            unit="ms",
            floor="floor",
            what=WHAT,
            limit=10,
        ),
    ),
)
