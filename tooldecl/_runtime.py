"""
What all calls of a client share, and what one call brings along.
"""

from __future__ import annotations

import random

from collections.abc import Callable, Mapping
from typing import Any, final

from ._calls import Arguments, ToolResult
from ._charging import Charge
from ._clock import Clock
from ._context import CallFacts
from ._held import Held, Resumed
from ._isolation import Ledger, Line, StopSignal
from ._meta import Overflow
from ._meter import BudgetMeter
from ._records import record
from ._reports import Reports
from ._stores import ResultStore
from ._strictjson import JSONLimits
from ._table import ToolTable
from ._terminal import Terminal
from ._ways import Way
from .exceptions import CallCancelledError, CallError
from .filters._approval import Approval
from .filters._chain import Layered
from .telemetry import Hook


@final
@record(frozen=True, slots=True, kw_only=True)
class Runtime:
    """
    What every call of one client shares.

    Attributes:
        ways: How the bodies of each tool are run.
        line: Where calls wait for a place of the engine, or for their group.
        groups: Whose serial groups these are.
        max_concurrency: How many calls the engine runs at once, or None.
        refuses: Whether more than that are refused and do not wait.
        external_limit: Characters of a result from elsewhere, or None.
        store: What keeps results that are too long for the model, or None.
        meter: What all calls of the client are charged to, or None.
    """

    table: ToolTable
    ways: Mapping[str, Way]
    json_limits: JSONLimits
    filters: tuple[Layered, ...]
    approvals: tuple[Approval, ...]
    reports: Reports
    clock: Clock
    terminal: Terminal
    ledger: Ledger
    line: Line
    groups: object
    max_concurrency: int | None = None
    refuses: bool = False
    max_abandoned: int | None = None
    result_limit: int | None = None
    external_limit: int | None = None
    on_overflow: Overflow = "fail"
    store: ResultStore | None = None
    stop_on: tuple[type[BaseException], ...] = ()
    meter: BudgetMeter | None = None
    rng: Callable[[], float] = random.random


@final
class Incoming(CallFacts):
    """
    One call as it comes in, with what its batch gives it.

    Attributes:
        name: Name of the tool, as it was sent; its type where it is no text.
        given: The arguments, as they were sent.
        deadline: When the batch's time is over, on the runtime's clock.
        queued_at: When the call began to wait for its turn, on the same clock.
        original_id: The id that was sent, where it could not be used.
        refusal: Why the call cannot even be read, or is not to be run; or None.
        held: How it waits for a decision, once it does.
        resumed: What it has waited for, where it is taken up again.
        charge: Its part in the budgets there are, or None.
        batch: Known by the calls of one batch, where one of them is to run alone.
        group: Whose serial group its tool is of, and its name; or None.
        signal: Set when its batch is over before the call is.
        apart: Its async body gets a task, which nobody waits for longer than the grace.
        on_standing: Called once it has been admitted, or stands in line.
        stop: Whether its run is to stop, so that no body may begin any more; or None.
        ended: Its answer, where an error has left the client in the place of it.
        listener: Told of its progress, beside the hooks of the client; or None.
    """

    __slots__ = (
        "apart",
        "batch",
        "charge",
        "deadline",
        "ended",
        "given",
        "group",
        "held",
        "listener",
        "name",
        "on_standing",
        "original_id",
        "queued_at",
        "refusal",
        "resumed",
        "signal",
        "stop",
    )

    def __init__(
        self,
        name: object,
        given: Arguments,
        call_id: str,
        state: Mapping[str, Any],
        deps: Any = None,
        run_id: str | None = None,
        position: int = 0,
    ) -> None:
        CallFacts.__init__(self, call_id, state, deps, run_id, position)
        # A model may send anything for a name; as text it is no tool's name.
        self.name = name if isinstance(name, str) else f"<{type(name).__name__}>"
        self.given = given
        self.deadline: float | None = None
        self.queued_at: float | None = None
        self.original_id: str | None = None
        self.refusal: CallError | None = None
        self.charge: Charge | None = None
        self.held: Held | None = None
        self.resumed: Resumed | None = None
        self.batch: object = None
        self.group: tuple[object, str] | None = None
        self.signal: StopSignal | None = None
        self.apart = False
        self.on_standing: Callable[[], None] | None = None
        self.stop: Callable[[], bool] | None = None
        self.ended: ToolResult | None = None
        self.listener: Hook | None = None

    @property
    def is_stopped(self) -> bool:
        """
        Whether the run that it belongs to is to stop.
        """
        return self.stop is not None and self.stop()

    def check_run(self) -> None:
        """
        Refuse to begin once the run is to stop.

        Raises:
            CallCancelledError: It is.
        """
        if self.is_stopped:
            raise CallCancelledError(tool=self.name, fate="not_started")
