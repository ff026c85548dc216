"""
What a model is asked, what it says, and how a loop ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol, final

from ._calls import ToolCall, ToolResult
from ._meter import LimitName
from ._records import record
from ._suspension import Suspension
from ._transcript import Message, plain_memo


__all__ = ["LoopResult", "Model", "ModelRequest", "Stop", "StopReason", "Turn"]


@final
class StopReason(StrEnum):
    """
    Why a loop ended.
    """

    ANSWER = "answer"
    RETURN_DIRECT = "return_direct"
    MAX_TURNS = "max_turns"
    BUDGET = "budget"
    REPEATS = "repeats"
    SUSPENDED = "suspended"
    CANCELLED = "cancelled"


@final
@record(frozen=True, slots=True)
class ModelRequest:
    """
    What a model is asked with.

    Attributes:
        messages: The conversation so far, as plain dicts; the model's own copy.
        tools: The tools there are: ``name``, ``description``, ``input_schema``.
    """

    messages: list[Message]
    tools: list[dict[str, Any]]


@final
@record(frozen=True, slots=True)
class Turn:
    """
    One response of a model.

    Attributes:
        text: What it says.
        calls: The tools it wants called.
        truncated: The response was cut off by its length limit: none of its calls is
            run, since the last one may be cut in the middle and still parse.
        memo: What the model wants to see again with this turn, as plain JSON data, or
            None; it stands under ``memo`` in the turn's message.
    """

    text: str = ""
    calls: Sequence[ToolCall] = ()
    truncated: bool = False
    memo: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        text: object = self.text
        if not isinstance(text, str):
            raise TypeError(f"Turn(text=...) takes a text, got {type(text).__name__}.")
        calls = tuple(self.calls)
        for call in calls:
            if not isinstance(call, ToolCall):
                raise TypeError(f"Turn(calls=...) takes ToolCalls, got {call!r}.")
        object.__setattr__(self, "calls", calls)
        if self.memo is not None:
            object.__setattr__(self, "memo", plain_memo(self.memo))


class Model(Protocol):
    """
    Decides what to say and which tools to call; implement one colour or both.
    """

    def respond(self, request: ModelRequest, /) -> Turn:
        """
        Return the model's next turn.
        """
        ...

    async def arespond(self, request: ModelRequest, /) -> Turn:
        """
        Return the model's next turn, from async code.
        """
        ...


class Stop(Protocol):
    """
    Says whether a run is to stop; a `threading.Event` is one.
    """

    def is_set(self) -> bool:
        """
        Tell whether it is.
        """
        ...


@final
@record(frozen=True, slots=True, kw_only=True)
class LoopResult:
    """
    How a loop ended.

    Attributes:
        stop_reason: Why.
        text: The answer: the model's last words, or the results returned directly.
        messages: The whole conversation; every call in it has its answer, which is a
            placeholder with the status ``pending`` where it waits for a decision.
        results: The results of all calls, in the order they were asked for.
        turns: How often the model was asked.
        stopped_by: Which limit ended it, where the reason is ``budget`` or ``repeats``:
            ``"calls"``, ``"seconds"`` or ``"repeats"``; else None.
        suspension: What waits for a decision, for `ToolLoop.resume`; None where the
            reason is not ``suspended``.
        truncated: Whether the model's last words were cut off by their length limit, so
            that the text is no whole answer.
    """

    stop_reason: StopReason
    text: str
    messages: list[Message]
    results: tuple[ToolResult, ...]
    turns: int
    stopped_by: LimitName | None = None
    suspension: Suspension | None = None
    truncated: bool = False
