"""
An engine over a cluster of Dask's on this machine, as the page shows it.
"""

from __future__ import annotations

import shutil
import tempfile

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from distributed.utils import _offload_executor

from recipes import recipe
from tooldecl.engines import ExecutorEngine


WORKERS, THREADS = 2, 8

_held: list[Any] = []


@contextmanager
def running() -> Iterator[None]:
    """
    Have the cluster.
    """
    made = recipe("on_dask").executor_of_dask(
        n_workers=WORKERS, threads_per_worker=THREADS
    )
    with made as executor:
        executor.submit(int).result(60)
        _held.append(executor)
        yield
        _held.clear()
    leave_nothing()


def leave_nothing() -> None:
    """
    End and remove what Dask keeps until its process ends.
    """
    _offload_executor.shutdown()
    shutil.rmtree(Path(tempfile.gettempdir()) / "dask-scratch-space")


def make(**options: Any) -> ExecutorEngine:
    """
    Make an engine over it.
    """
    return ExecutorEngine(_held[0], **options)
