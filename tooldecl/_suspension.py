"""
What a batch gives: its results, and what of it waits for a decision, as plain JSON.

The matching page is docs/how-to/ask-for-approval.md.
"""

from __future__ import annotations

import json

from collections.abc import Mapping, Sequence
from dataclasses import field
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, final

from ._calls import Fate, Status, ToolResult
from ._held import Held, Kind
from ._jsonschema import copied
from ._readonly import ReadOnlyDict, frozen_mapping
from ._records import record
from .exceptions import CallError, CallPendingError


__all__ = ["BatchResult", "PendingCall", "Suspension"]

VERSION = 1

NO_KINDS: Mapping[str, Kind] = ReadOnlyDict()


_MAPPING: Any = Mapping
_NUMBER_OR_NONE = (int, float, NoneType)
_KINDS: dict[str, type | tuple[type, ...]] = {
    "call_id": str,
    "name": str,
    "arguments": Mapping,
    "expires_at": _NUMBER_OR_NONE,
    "limit": _NUMBER_OR_NONE,
    "given": str,
    "asked": Mapping,
    "place": int,
    "run_id": str,
    "position": int,
    "index": int,
    "original_id": (str, NoneType),
    "round": int,
    "approved": (tuple, list),
}


@final
@record(frozen=True, slots=True, kw_only=True)
class PendingCall:
    """
    One call that waits.

    Attributes:
        call_id: Id of the call; a decision is given for it.
        name: Name of the tool.
        kind: ``"approval"``, ``"external"``, or ``"environment"`` where it has failed and
            a loop asks whether to run it again: what it waits for.
        arguments: Its final arguments: those that a decision is about.
        expires_at: Seconds since the epoch until when something may come, or None.
        limit: How many seconds that was, or None.
        given: The arguments as they were sent, as JSON text.
        asked: The arguments before anybody edited them.
        place: Which of the client's approvals it waits for.
        approved: Which of them its final arguments have.
        run_id: Names the run that it belongs to.
        position: Its place in that run.
        index: Its place in its batch.
        original_id: The id as it was sent, where it was replaced.
        round: How often it was held before.
    """

    call_id: str
    name: str
    kind: Kind | Literal["environment"]
    arguments: Mapping[str, Any] = field(repr=False)
    expires_at: float | None
    limit: float | None
    given: str = field(repr=False)
    asked: Mapping[str, Any] = field(repr=False)
    place: int
    run_id: str
    position: int
    index: int
    original_id: str | None = None
    round: int = 0
    approved: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name, kinds in _KINDS.items():
            given: object = getattr(self, name)
            if not isinstance(given, kinds) or isinstance(given, bool):
                kind = type(given).__name__
                raise TypeError(f"{name} of a call that waits is no {kind}")
        if self.kind not in ("approval", "external", "environment"):
            raise TypeError(f"a call waits for no {self.kind!r:.40}")
        for name in ("arguments", "asked"):
            object.__setattr__(self, name, frozen_mapping(getattr(self, name)))
        object.__setattr__(self, "approved", tuple(self.approved))

    def held(self) -> Held:
        """
        Return how it is held.
        """
        if self.kind == "environment":
            raise AssertionError("unreachable")
        return Held(
            kind=self.kind,
            asked=copied(self.asked),
            arguments=copied(self.arguments),
            place=self.place,
            limit=self.limit,
            approved=self.approved,
        )


@final
@record(frozen=True, slots=True, kw_only=True)
class Suspension:
    """
    Calls that wait, and what is needed to go on; survives `to_json` and `from_json`.

    What has run is in ``results``, and is not run again when it is resumed. The argument
    values of the calls are in it, those of sensitive tools too.

    Attributes:
        id: Names it; a decision is taken for each of its calls once.
        calls: The calls that wait, in request order.
        results: The results of the whole batch, in request order.
        snapshot: The state that the calls of the batch see.
        state: The client's state when the batch had ended.
        loop: What a loop needs to go on, or None.
    """

    id: str
    calls: tuple[PendingCall, ...]
    results: tuple[ToolResult, ...]
    snapshot: Mapping[str, Any]
    state: Mapping[str, Any]
    loop: Mapping[str, Any] | None = field(default=None, repr=False)

    def to_json(self) -> str:
        """
        Return it as JSON text.

        Raises:
            TypeError: A slot of the state holds something that has no JSON form.
        """
        plain = {
            "tooldecl": VERSION,
            "id": self.id,
            "calls": [_plain_call(call) for call in self.calls],
            "results": [result.to_dict() for result in self.results],
            "snapshot": _plain_state(self.snapshot),
            "state": _plain_state(self.state),
            "loop": self.loop,
        }

        return json.dumps(plain, allow_nan=False, default=_as_dict)

    @classmethod
    def from_json(cls, text: str | bytes) -> Suspension:
        """
        Read what `to_json` gave, in this process or another.

        Errors come back by their texts alone.

        Raises:
            ValueError: It is no suspension, or one of another version.
        """
        try:
            plain = json.loads(text)
            version = plain["tooldecl"]
            if version != VERSION:
                raise ValueError(f"It is of version {version!r}, not {VERSION}.")
            calls = tuple(PendingCall(**call) for call in plain["calls"])
            kinds: dict[str, Kind] = {
                c.call_id: c.kind for c in calls if c.kind != "environment"
            }
            answered = {result["call_id"] for result in plain["results"]}
            if not answered.issuperset(call.call_id for call in calls):
                raise ValueError("A call waits that is none of the batch.")
            return cls(
                id=plain["id"],
                calls=calls,
                results=tuple(read_result(r, kinds) for r in plain["results"]),
                snapshot=frozen_mapping(plain["snapshot"]),
                state=frozen_mapping(plain["state"]),
                loop=plain["loop"],
            )
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"This is no suspension: {error!r:.200}.") from error


def _plain_call(call: PendingCall) -> dict[str, Any]:
    return {name: getattr(call, name) for name in PendingCall.__slots__}


def _plain_state(state: Mapping[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for slot, value in state.items():
        try:
            plain[slot] = json.loads(json.dumps(value, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"The slot {slot!r} of the state holds a {type(value).__name__}, which "
                "has no JSON form, so the suspension cannot be written down."
            ) from error

    return plain


def _as_dict(value: Any) -> dict[Any, Any]:
    if isinstance(value, _MAPPING):
        return dict(value)

    raise TypeError(f"A {type(value).__name__} has no JSON form.")


def read_result(
    plain: dict[str, Any], kinds: Mapping[str, Kind] = NO_KINDS
) -> ToolResult:
    """
    Read one result; of its error there is the text.
    """
    plain = dict(plain)
    given = plain.pop("error")
    error: Exception | None = None if given is None else CallError(given["message"])
    kind = kinds.get(plain["call_id"])
    if plain["status"] == Status.PENDING and kind is not None:
        error = CallPendingError(tool=plain["name"], kind=kind)
    plain["status"] = Status(plain["status"])
    plain["fate"] = Fate(plain["fate"])
    plain["writes"] = frozen_mapping({})  # they have been folded

    return ToolResult(**plain, error=error)


if TYPE_CHECKING:
    _Results = tuple[ToolResult, ...]
else:
    _Results = tuple


@final
class BatchResult(_Results):
    """
    The results of a batch, in the order of its calls.
    """

    _suspension: Suspension | None = None

    @property
    def suspension(self) -> Suspension | None:
        """
        What waits for a decision or a result from elsewhere, or None.
        """
        return self._suspension

    @property
    def ok(self) -> bool:
        """
        Whether every call succeeded.
        """
        return all(result.ok for result in self)


def batch_result(
    results: Sequence[ToolResult], suspension: Suspension | None = None
) -> BatchResult:
    """
    Return the results of a batch, with what of it waits.
    """
    batch = BatchResult(results)
    if suspension is not None:
        batch._suspension = suspension
        for result in batch:
            if isinstance(result.error, CallPendingError):
                result.error.suspension = suspension

    return batch
