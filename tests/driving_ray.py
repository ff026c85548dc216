"""
One Ray for a whole session of tests, and engines over it.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile

from typing import Any

import ray

from engine_tools import TOOLS
from tooldecl.engines import RayEngine


CPUS = 4

FOLDERS: list[str] = []

OUTER = os.environ.get("RAY_TMPDIR")


def prepare() -> None:
    """
    Have a folder for it, and let its workers find the modules of the tools.
    """
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    # The paths of its sockets have to be short.
    FOLDERS.append(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
    os.environ["RAY_TMPDIR"] = FOLDERS[-1]
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"


def address() -> str:
    """
    Return where it is; it is started for who asks first.
    """
    if not ray.is_initialized():
        prepare()
        ray.init(
            address="local",
            num_cpus=CPUS,
            num_gpus=2,  # labels, as those are
            resources={"seat": 1},
            include_dashboard=False,
            object_store_memory=80_000_000,
        )
    found: str = ray.get_runtime_context().gcs_address

    return found


def engine(**options: Any) -> RayEngine:
    """
    Make an engine for `engine_tools`, with room for as many calls as engines run at once.
    """
    share = {"num_cpus": CPUS / 8}
    resources = {one.__name__: share for one in TOOLS}

    return RayEngine(address(), resources=resources, **options)


def end() -> None:
    """
    End it, if there is one.
    """
    ray.shutdown()
    while FOLDERS:
        shutil.rmtree(FOLDERS.pop())
    if OUTER is None:
        os.environ.pop("RAY_TMPDIR", None)
    else:
        os.environ["RAY_TMPDIR"] = OUTER
