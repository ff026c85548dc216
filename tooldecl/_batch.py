"""
Read a batch: one unique id per call, one deadline, one snapshot for all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from datetime import timedelta
from typing import Any, final

from ._calls import ToolCall, ToolResult
from ._charging import Charge
from ._clock import Clock
from ._ids import new_id
from ._meta import check_seconds
from ._meter import BudgetMeter
from ._records import record
from ._runtime import Incoming
from .exceptions import DeclarationError


@final
@record(frozen=True, slots=True, kw_only=True)
class Run:
    """
    A batch's place in a longer run, for the idempotency keys of its calls.

    Attributes:
        run_id: Names the run.
        position: How many calls the run had before.
        meter: What the calls of the run are charged to, or None.
        deps: The host's own object, for ``ToolContext.deps``.
        stop: Whether the run is to stop, so that no body may begin any more; or None.
        kept: Takes what there is of the results where an error leaves the batch.
    """

    run_id: str
    position: int = 0
    meter: BudgetMeter | None = None
    deps: object = None
    stop: Callable[[], bool] | None = None
    kept: list[ToolResult] = field(default_factory=list[ToolResult])


def read_batch(
    calls: Iterable[ToolCall],
    *,
    within: float | timedelta | None,
    run: Run | None,
    state: Mapping[str, Any],
    deps: Any,
    clock: Clock,
    meters: Sequence[BudgetMeter] = (),
) -> list[Incoming]:
    """
    Return the calls of a batch as they are to be run.

    Missing, empty and repeated ids are replaced; the first call with an id keeps it.

    Raises:
        TypeError: An entry is no ToolCall.
        DeclarationError: The limit is no number of seconds above 0.
    """
    now = clock.monotonic()
    place = run or Run(run_id=new_id("run"))
    if place.meter is not None:
        meters = [*meters, place.meter]
    deadline = None
    if within is not None:
        deadline = now + check_seconds(within, "within")
    taken: set[str] = set()
    batch: list[Incoming] = []
    for index, call in enumerate(calls):
        if not isinstance(call, ToolCall):
            raise TypeError(
                f"Entry {index} of the batch is a {type(call).__name__}, not a ToolCall."
            )
        call_id, original = unique_id(call.id, taken)
        incoming = Incoming(
            call.name,
            call.arguments,
            call_id,
            state,
            deps=deps,
            run_id=place.run_id,
            position=place.position + index,
        )
        incoming.original_id = original
        incoming.deadline = deadline
        incoming.queued_at = now
        incoming.stop = place.stop
        if meters:
            incoming.charge = Charge(meters, index)
        batch.append(incoming)

    return batch


def unique_id(given: object, taken: set[str]) -> tuple[str, str | None]:
    """
    Return an id that is not in *taken*, and the one given where that cannot be used.
    """
    original = None if given is None else _shown(given)
    if isinstance(given, str) and given not in taken and _can_be_sent(given):
        taken.add(given)
        return given, None
    call_id = new_id("call")
    while call_id in taken:  # a model may have guessed it
        call_id = new_id("call")
    taken.add(call_id)

    return call_id, original


def _shown(given: object) -> str:
    try:
        return str(given)
    except Exception:  # an id of a foreign type may do anything
        return f"<{type(given).__name__}>"


def _can_be_sent(given: str) -> bool:
    """
    Whether an id is a text that a wire takes.
    """
    try:
        return bool(given.encode())
    except UnicodeEncodeError:
        return False


def check_failures(failures: str) -> None:
    """
    Refuse anything but the two ways to report failures.
    """
    if failures not in ("return", "raise"):
        raise DeclarationError(f"failures takes 'return' or 'raise', got {failures!r}.")
