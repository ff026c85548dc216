"""
A box in the cluster into which errands put how far their bodies are.

Invariants:

1. An answer never depends on it: where it is lost, so is only what was in it.
2. It is made when somebody first listens, and ends with its engine, at the latest with
   the connection that made it.
"""

from __future__ import annotations

import asyncio

from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, TypeAlias, final

from .._processes import Step


if TYPE_CHECKING:
    import ray


# What came of one errand at once: its name, how much came before, and this.
Told: TypeAlias = tuple[str, int, list[Step]]

# Seconds that one look into the box waits.
LOOK_SECONDS = 10.0
# How often it is asked meanwhile whether anybody still wants what comes.
ASK_SECONDS = 1.0


@final
class Mailbox:
    """
    The box itself, an actor whose methods run on one loop, in whatever order.
    """

    def __init__(self) -> None:
        self._told: list[Told] = []
        self._came = asyncio.Event()

    async def put(self, token: str, before: int, steps: list[Step]) -> None:
        """
        Put in what an errand has to tell.
        """
        self._told.append((token, before, steps))
        self._came.set()

    async def take(self) -> list[Told]:
        """
        Take out all there is, once there is something.
        """
        try:
            await asyncio.wait_for(self._came.wait(), LOOK_SECONDS)
        except TimeoutError:
            return []
        self._came.clear()
        told, self._told = self._told, []

        return told


def made_box() -> ray.actor.ActorHandle[Mailbox]:
    """
    Have a box made, beside the head of this connection where there is room.
    """
    import ray

    from ray.actor import ActorHandle
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = ray.get_runtime_context().get_node_id()
    made = ray.remote(Mailbox).options(
        num_cpus=0,
        max_restarts=0,
        scheduling_strategy=NodeAffinitySchedulingStrategy(here, soft=True),
    )

    box: ActorHandle[Mailbox] | type[Mailbox] = made.remote()
    if not isinstance(box, ActorHandle):
        raise AssertionError("unreachable")

    return box


def empty(
    box: ray.actor.ActorHandle[Mailbox],
    tell: Callable[[str, int, list[Step]], None],
    is_wanted: Callable[[], bool],
) -> None:
    """
    Hand on what comes into a box, until it is gone, or no longer wanted.

    Ray ends it when nobody has it any more. A finalizer must not: it may run on a thread
    of Ray's, which would wait there for itself.
    """
    while is_wanted():
        try:
            # Not by `ray.get`, which joins a cluster where this one was left meanwhile.
            look: Future[list[Told]] = box.take.remote().future()
            # A look is never answered where the connection was closed under it.
            while not wait([look], ASK_SECONDS).done:
                if not is_wanted():
                    return
            told = look.result()
        except BaseException:  # of Ray: it was killed, or its connection closed
            return
        for token, before, steps in told:
            tell(token, before, steps)
