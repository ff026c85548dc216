"""
The far side of a Ray cluster: one task for each attempt.
"""

from __future__ import annotations

import signal

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, TypeAlias

from .._processes import Step, run_until_interrupted, token_of
from ._box import Mailbox


if TYPE_CHECKING:
    from ray import ObjectRef
    from ray.actor import ActorHandle

    Reference: TypeAlias = ObjectRef[tuple[bytes, int]]


OWN = ("num_cpus", "num_gpus", "memory")


class Task(Protocol):
    """
    `run_task` as one of Ray's.
    """

    def remote(self, parcel: bytes, box: ActorHandle[Mailbox] | None, /) -> Reference:
        """
        Have it run.
        """
        ...


def run_task(parcel: bytes, box: ActorHandle[Mailbox] | None) -> tuple[bytes, int]:
    """
    Run one attempt, on a worker of Ray's; return its envelope, and how many steps of it
    were put into the box.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # As whatever a script has started in the background: Ray could end no call.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    told = 0

    def tell(steps: list[Step]) -> None:
        nonlocal told
        if box is not None:
            box.put.remote(token_of(parcel), told, steps)
            told += len(steps)

    return run_until_interrupted(parcel, tell), told


def task_of(tool: str, resources: Mapping[str, float]) -> Task:
    """
    Return what runs the attempts of a tool, once, with what it takes.
    """
    import ray

    task: Task = ray.remote(run_task).options(
        name=tool, max_retries=0, retry_exceptions=False, **options_of(resources)
    )

    return task


def options_of(resources: Mapping[str, float]) -> dict[str, object]:
    """
    Return resources as Ray's tasks take them: its own by name, others together.
    """
    own = {name: x for name, x in resources.items() if name in OWN}
    others = {name: x for name, x in resources.items() if name not in OWN}

    return {"num_cpus": 1, **own, **({"resources": others} if others else {})}
