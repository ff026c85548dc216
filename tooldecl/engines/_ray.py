"""
Bodies on the machines of a Ray cluster.
"""

from __future__ import annotations

import importlib.util
import math

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, final

from .._cluster import LOCAL, RayTransport
from .._policy import shown
from .._sentinels import UNSET, Unset
from ..exceptions import DeclarationError
from ._away import AwayEngine
from ._plan import OverLimit


__all__ = ["RayEngine"]

_PLACE = "RayEngine(address)"
_MAPPING: Any = Mapping

# What Ray counts by: https://docs.ray.io, "Fractional resource requirements".
SMALLEST = 0.0001
# Options of Ray's tasks, which nobody would read as names of resources.
_NO_RESOURCES = frozenset(
    (
        *("CPU", "GPU", "accelerator_type", "max_calls", "max_retries", "num_returns"),
        *("object_store_memory", "resources", "retry_exceptions", "runtime_env"),
        "scheduling_strategy",
    )
)


@final
class RayEngine(AwayEngine):
    """
    Runs each body on a machine of a Ray cluster, in a killable process there.

    An attempt is one task of Ray, which repeats nothing by itself. The task starts a
    worker process of tooldecl beside Ray's own, whose clock begins with the body and
    which is killed at the deadline, or when the caller gives up. Order, retries, serial
    groups, budgets and state stay in the client. As for `ProcessEngine`, only JSON
    crosses.

    What the cluster loses (a dead worker or node) is ``worker_died``: it may have run.

    Args:
        address: ``"host:port"`` of the head of a cluster to join, or ``"local"`` to
            start one in this process. It is joined at the first call, or by `connect`;
            a connection that this process has to the same cluster is used, and left
            open.
        resources: What a call of a tool takes, by the tool's name: ``num_cpus`` (1
            unless given), ``num_gpus``, ``memory`` in bytes, or the name of a resource
            that the cluster's nodes were started with.
        timeout: Seconds for tools that declare no timeout, or None. They begin with the
            body: what a call waits for the cluster is its ``queue_wait``.
        max_concurrency: How many calls are with the cluster at once; None has no limit.
        over_limit: As for every engine.
        max_abandoned: As for every engine.
        expires: Seconds within which the cluster has to begin an attempt, by the clock
            of the machine that does; after that it is not begun any more and the call
            is ``busy``. None waits for the cluster however long it takes.

    Raises:
        DeclarationError: An option has a value that is none of these.
        ModuleNotFoundError: The package ``ray`` is not installed.
    """

    def __init__(
        self,
        address: str,
        *,
        resources: Mapping[str, Mapping[str, float]] | None = None,
        timeout: float | timedelta | None = None,
        max_concurrency: int | None | Unset = UNSET,
        over_limit: OverLimit = "queue",
        max_abandoned: int | None = None,
        expires: float | timedelta | None = None,
    ) -> None:
        self.address = _checked_address(address)
        self.resources = _checked_resources(resources)
        self._cluster = RayTransport(self.address, self.resources)
        super().__init__(
            self._cluster,
            timeout=timeout,
            max_concurrency=max_concurrency,
            over_limit=over_limit,
            max_abandoned=max_abandoned,
            expires=expires,
        )
        if importlib.util.find_spec("ray") is None:
            raise ModuleNotFoundError(
                "RayEngine needs the package 'ray', which is not installed. Install it "
                "with: pip install 'tooldecl[ray]'",
                name="ray",
            )

    def connect(self) -> None:
        """
        Join the cluster now, and not at the first call, which would be ``busy``.

        Raises:
            ClusterError: It cannot be joined; the error says what to do.
            EngineClosedError: The engine is closed.
        """
        self._cluster.connect()

    async def aconnect(self) -> None:
        """
        `connect` from async code.
        """
        await self._cluster.aconnect()

    def misfits(self, tools: Iterable[str], /) -> list[DeclarationError]:
        """
        Say which names of `resources` are no tools that run on the cluster.
        """
        known = set(tools)

        return [
            DeclarationError(
                f"RayEngine(resources=...) names {name!r}, and the client has no such "
                "tool that runs on the cluster."
            )
            for name in self.resources
            if name not in known
        ]

    def close(self) -> None:
        """
        Take no more calls, from any client; may be called twice.

        Calls that run are ``cancelled``, and their bodies killed. A cluster that was
        started here ends, once no other engine of this process uses it.
        """
        super().close()
        self._cluster.close()

    async def aclose(self) -> None:
        """
        `close` from async code.
        """
        super().close()
        await self._cluster.aclose()


def _checked_address(given: object) -> str:
    """
    Return where a cluster is.

    Raises:
        DeclarationError: That says it to nobody, or leaves it to be found.
    """
    if given == LOCAL:
        return LOCAL
    if isinstance(given, str):
        host, colon, port = given.rpartition(":")
        if host and colon and "//" not in given and port.isascii() and port.isdigit():
            return given

    raise DeclarationError(
        f"{_PLACE} takes 'host:port' of a cluster's head, or 'local' to start one here; "
        f"got {shown(given)}. No address is looked for, and 'ray://' is not supported."
    )


def _checked_resources(given: Any) -> dict[str, dict[str, float]]:
    """
    Return a copy of what the tools take.

    Raises:
        DeclarationError: It is no such thing.
    """
    if given is None:
        return {}
    if not isinstance(given, _MAPPING):
        raise _refusal("", "a mapping from tools to what they take", given)
    checked: dict[str, dict[str, float]] = {}
    for tool, wants in given.items():
        if not isinstance(tool, str):
            raise _refusal("", "names of tools", tool)
        if not isinstance(wants, _MAPPING):
            raise _refusal(
                f" of {tool!r}", "a mapping from resources to amounts", wants
            )
        checked[tool] = {
            _checked_name(tool, name): _checked_amount(tool, name, amount)
            for name, amount in wants.items()
        }

    return checked


def _checked_name(tool: str, name: object) -> str:
    if isinstance(name, str) and name and name not in _NO_RESOURCES:
        return name

    rule = "num_cpus, num_gpus, memory and names of resources of the cluster"
    raise _refusal(f" of {tool!r}", rule, name)


def _checked_amount(tool: str, name: object, amount: object) -> float:
    """
    Return how much of a resource a call takes.
    """
    if type(amount) in (int, float):
        number: Any = amount
        whole = number == int(number) if math.isfinite(number) else False
        fine = whole or (name == "num_cpus" or number < 1)
        fine = fine and (not number or number >= SMALLEST)
        if math.isfinite(number) and number >= 0 and fine:
            return int(number) if whole else float(number)

    rule = f"an amount of {name} from 0, of {SMALLEST} or more, which is whole above 1"
    raise _refusal(f" of {tool!r}", rule, amount)


def _refusal(of: str, rule: str, given: object) -> DeclarationError:
    return DeclarationError(
        f"RayEngine(resources=...){of} takes {rule}, got {shown(given)}."
    )
