"""
What all calls of a client share, and what one call brings along.
"""

from __future__ import annotations

import random

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

from ._calls import Arguments
from ._clock import Clock
from ._isolation import Ledger
from ._meta import Overflow
from ._reports import Reports
from ._strictjson import JSONLimits
from ._table import ToolTable
from ._terminal import Terminal
from .exceptions import CallError
from .filters._chain import Filter


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """
    What every call of one client shares.
    """

    table: ToolTable
    json_limits: JSONLimits
    filters: tuple[Filter, ...]
    reports: Reports
    clock: Clock
    terminal: Terminal
    ledger: Ledger
    engine_timeout: float | None = None
    max_abandoned: int | None = None
    result_limit: int | None = None
    on_overflow: Overflow = "fail"
    stop_on: tuple[type[BaseException], ...] = ()
    rng: Callable[[], float] = random.random


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """
    One call as it comes in, with what its batch gives it.

    Attributes:
        run_id: Names the run for the idempotency key; with ``position``, the place in it.
        deadline: When the batch's time is over, on the runtime's clock.
        refusal: Why the call cannot even be read, or None.
        queued_at: When the call began to wait for its turn, on the same clock.
    """

    name: str
    arguments: Arguments
    call_id: str
    run_id: str
    position: int = 0
    state: Mapping[str, Any]
    deps: Any = None
    deadline: float | None = None
    queued_at: float | None = None
    original_id: str | None = None
    refusal: CallError | None = None
