"""
An engine over a worker of Celery's, with databases in files as broker and backend.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tooldecl

from recipes import recipe, write
from tooldecl.engines import ExecutorEngine


CHILDREN = 8
STARTS_WITHIN = 60

# Of a folder as a broker somebody may read a message that is half written.
SETTINGS = """
from kombu.transport.sqlalchemy import Transport

Transport.polling_interval = 0.02
broker_url = "sqla+sqlite:///{folder}/queue.db"
result_backend = "db+sqlite:///{folder}/results.db"
worker_prefetch_multiplier = 1
broker_connection_retry_on_startup = False
"""

_held: list[Any] = []


@contextmanager
def worker(folder: Path, *, children: int = CHILDREN) -> Iterator[int]:
    """
    Have a worker of the module on the page, whose settings are in a folder.
    """
    tests, package = Path(__file__).parents[2], Path(tooldecl.__file__).parents[1]
    process = subprocess.Popen(
        [
            *(sys.executable, "-P", "-m", "celery", "-A", "on_celery", "worker"),
            *("-c", str(children), "--without-gossip", "--without-mingle"),
            *("--without-heartbeat", "-l", "WARNING"),
        ],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, (folder, tests, package))),
            "CELERY_SETTINGS": "settings",
            "TMPDIR": str(folder),
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process.pid
    finally:
        with_all(process)


def with_all(process: subprocess.Popen[bytes]) -> None:
    """
    End a worker with its children.
    """
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def prepare(folder: Path) -> Any:
    """
    Write the module of the page and its settings to a folder; return the module.
    """
    (folder / "settings.py").write_text(SETTINGS.format(folder=folder))
    write("on_celery", folder)
    module = recipe("on_celery")
    settings: dict[str, Any] = {}
    exec(SETTINGS.format(folder=folder), settings)  # noqa: S102
    module.app.conf.update({k: v for k, v in settings.items() if k[0].islower()})

    return module


@contextmanager
def running() -> Iterator[None]:
    """
    Have a worker, once it answers.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        module = prepare(folder)
        executor = module.OnCelery()
        try:
            with worker(folder):
                answer = executor.submit(int, b"")
                assert answer.exception(STARTS_WITHIN)  # int is nothing of tooldecl's
                _held.append(executor)
                yield
        finally:
            _held.clear()
            executor.shutdown()


def make(**options: Any) -> ExecutorEngine:
    """
    Make an engine over it.
    """
    return ExecutorEngine(_held[0], **options)
