"""
One Ray for a whole session of tests, of one node or of several, and engines over it.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ray

from ray.cluster_utils import Cluster

from tooldecl.engines import RayEngine


# As many calls as an engine runs at once, in one place or in two.
CPUS = 8

# Seconds in which a cluster comes to run something, at the latest.
LONG = 100

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


@contextmanager
def several_nodes() -> Iterator[Cluster]:
    """
    Have a head that runs nothing, and two nodes, in the place of it.
    """
    end()
    prepare()
    small = {"include_dashboard": False, "object_store_memory": 80_000_000}
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **small})
    try:
        with_two_nodes(made)
        ray.init(address=made.address)
        yield made
    finally:
        ray.shutdown()
        made.shutdown()
        end()


def with_two_nodes(cluster: Cluster) -> None:
    """
    Have two nodes, whatever was lost before.
    """
    while len(cluster.worker_nodes) < 2:
        cluster.add_node(num_cpus=CPUS // 2, object_store_memory=80_000_000)
    cluster.wait_for_nodes()


def engine(**options: Any) -> RayEngine:
    """
    Make an engine over what there is.
    """
    return RayEngine(address(), **options)


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
