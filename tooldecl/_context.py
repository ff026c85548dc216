"""
What a running tool may know about its own call.
"""

from __future__ import annotations

import hashlib
import json

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, TypeAlias

from ._calls import NO_WRITES
from ._clock import monotonic
from ._ids import new_id
from ._meta import ToolMeta
from ._readonly import ReadOnlyDict, freeze


__all__ = ["AROUND", "CURRENT", "ToolContext", "current_context"]


class ToolContext:
    """
    One attempt of one call, as its body sees it.

    A parameter annotated with it is filled in and is not offered to the model.
    It belongs to one attempt: what an abandoned body still does with it has no effect.
    Reading is safe from any thread.
    """

    __slots__ = (
        "_call",
        "_cancelled",
        "_sealed",
        "_writes",
        "attempt",
        "deadline",
        "previous_error",
    )

    def __init__(
        self,
        call: CallFacts,
        attempt: int,
        previous_error: BaseException | None = None,
    ) -> None:
        self._call = call
        self._cancelled = False
        self._sealed = False
        self._writes: dict[str, object] = {}
        self.attempt = attempt
        self.deadline: float | None = None
        self.previous_error = previous_error

    @property
    def call_id(self) -> str:
        """
        Id of the call.
        """
        return self._call.call_id

    @property
    def tool(self) -> str:
        """
        Name of the tool.
        """
        return self._call.meta.name

    @property
    def cancelled(self) -> bool:
        """
        Whether the answer was given without waiting for this body any longer.

        A long-running sync tool asks this to know when to stop by itself.
        """
        return self._cancelled

    @property
    def idempotency_key(self) -> str:
        """
        A key that is equal in every attempt of this call and in no other call.

        It comes from the run, the call's place in it, the tool and the arguments,
        never from the id that the model made up.
        """
        return self._call.idempotency_key

    @property
    def state(self) -> Mapping[str, Any]:
        """
        The client's state as it was when the batch began; read-only.
        """
        return self._call.state

    @property
    def deps(self) -> Any:
        """
        The host's own object, given with the call or the batch.
        """
        return self._call.deps

    def remaining(self) -> float | None:
        """
        Return the seconds left until the deadline (0.0 past it), or None without one.
        """
        if self.deadline is None:
            return None

        return max(0.0, self.deadline - monotonic())

    def write(self, slot: str, value: object) -> None:
        """
        Write *value* to *slot* of the client's state, if this call succeeds.

        Dicts, lists, tuples and sets are copied now and read-only from then on. After
        the call has its answer this does nothing.

        Raises:
            TypeError: The slot is not a text.
        """
        if not isinstance(slot, str):
            raise TypeError(f"A slot is a text, got {type(slot).__name__}.")
        if not self._sealed:
            self._writes[slot] = freeze(value)

    def progress(
        self, done: float, total: float | None = None, message: str | None = None
    ) -> None:
        """
        Tell the client's hooks how far the body is; after the answer, nobody.
        """
        if not self._sealed:
            self._call.on_progress(self, done, total, message)

    def leave_running(self) -> None:
        """
        Say that what this body has begun elsewhere may go on without it.

        A call that is stopped from now on has the fate ``abandoned``, also where its body
        ends at once: it may still take effect, so it is repeated only where the tool is
        declared idempotent. A body in a worker process is ``killed`` all the same.
        """
        self._call.leaves_running = True

    def __repr__(self) -> str:
        return f"<ToolContext of {self.tool} {self.call_id} attempt {self.attempt}>"


OnProgress: TypeAlias = Callable[[ToolContext, float, float | None, str | None], None]


def no_progress(
    context: ToolContext, done: float, total: float | None, message: str | None
) -> None:
    """
    Nobody listens.
    """


class CallFacts:
    """
    What all attempts of one call share; made at the door, completed by the gate.

    Attributes:
        call_id: Id of the call.
        meta: What was declared about the tool.
        arguments: The arguments in JSON form.
        run_id: Names the run the call belongs to, which may be its own.
        position: The call's place in that run.
        state: The client's state when the batch began.
        deps: The host's own object.
        on_progress: Told how far the body is.
        leaves_running: A body of it has said that something goes on without it.
        waited: Seconds that it has waited for its turn since it came in.
        holds: The places and groups that the call and its callers hold now.
    """

    __slots__ = (
        "_key",
        "arguments",
        "call_id",
        "deps",
        "holds",
        "leaves_running",
        "meta",
        "on_progress",
        "position",
        "run_id",
        "state",
        "waited",
    )

    meta: ToolMeta
    arguments: Mapping[str, Any]

    def __init__(
        self,
        call_id: str,
        state: Mapping[str, Any],
        deps: Any = None,
        run_id: str | None = None,
        position: int = 0,
    ) -> None:
        self.call_id = call_id
        self.state = state
        self.deps = deps
        self.run_id = new_id("run") if run_id is None else run_id
        self.position = position
        self.waited = 0.0
        self.holds: tuple[object, ...] = ()
        self.on_progress: OnProgress = no_progress
        self.leaves_running = False
        self._key: str | None = None

    def renew(self) -> None:
        """
        Forget the key: the body is about to be run again, perhaps with other arguments.
        """
        self._key = None

    @property
    def idempotency_key(self) -> str:
        if self._key is None:  # two attempts that ask at once make the same key
            facts = [self.run_id, self.position, self.meta.name, self.arguments]
            text = json.dumps(facts, sort_keys=True, ensure_ascii=True)
            self._key = hashlib.sha256(text.encode()).hexdigest()[:32]

        return self._key


CURRENT: ContextVar[ToolContext | None] = ContextVar("tooldecl_context", default=None)

# The call whose filters run here: what they call is called from inside of it as well.
AROUND: ContextVar[CallFacts | None] = ContextVar("tooldecl_around", default=None)


def stand_around(facts: CallFacts) -> None:
    """
    Count what is called from here as called from inside of a call.
    """
    if facts.holds or AROUND.get() is None:
        AROUND.set(facts)


def is_inside() -> bool:
    """
    Whether this is inside of a call, or of a filter around one.
    """
    return CURRENT.get() is not None or AROUND.get() is not None


def current_context() -> ToolContext | None:
    """
    Return the context of the tool call that is running here, or None outside of one.
    """
    return CURRENT.get()


def facts_of(context: ToolContext) -> CallFacts:
    """
    Return what all attempts of the call of *context* share.
    """
    return context._call


def held_here() -> tuple[object, ...]:
    """
    Return the places and groups that the calls hold from inside of which this is asked.
    """
    context, around = CURRENT.get(), AROUND.get()
    held = () if context is None else context._call.holds

    return held if around is None else (*held, *around.holds)


def seal(context: ToolContext, cancelled: bool = False) -> Mapping[str, object]:
    """
    Close *context* for good and return what was written until now.
    """
    context._sealed = True
    context._cancelled = cancelled
    if not context._writes:
        return NO_WRITES

    # A thread of the body may be writing right now: a copy is one step.
    return ReadOnlyDict(context._writes.copy())
