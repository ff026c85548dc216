"""
The transcript of one run of a loop: always valid, every call in it has its answer.
"""

from __future__ import annotations

import copy
import json

from collections.abc import Iterable, Mapping
from typing import Any

from ._batch import Run, unique_id
from ._calls import Status, ToolCall, ToolResult
from ._ids import new_id
from ._meter import BudgetMeter
from ._strictjson import DEEPEST
from ._texts import text_of, whole_characters
from ._turns import LoopResult, Message, StopReason, Turn
from .exceptions import ModelFailedError, NotRunError


_ROLES = ("system", "user", "assistant", "tool")

# Typed so that checkers do not narrow to containers of unknown things.
_MAPPING: Any = Mapping
_LIST: Any = list
_DICT: Any = dict


class Conversation:
    """
    What was said and run so far in one run of a loop, and what was spent of its budget.
    """

    def __init__(
        self,
        messages: str | Iterable[Mapping[str, Any]],
        meter: BudgetMeter | None = None,
    ) -> None:
        self.messages = _read_messages(messages)
        self.meter = meter
        self.results: list[ToolResult] = []
        self._run_id = new_id("run")
        self._calls = 0
        self._ids = {call["id"] for m in self.messages for call in _calls_in(m)}
        self._originals: dict[str, str] = {}

    def add_turn(self, turn: Turn) -> list[ToolCall]:
        """
        Append the model's turn, and return its calls under ids that are unique here.
        """
        calls = [self._under_unique_id(call) for call in turn.calls]
        message: Message = {"role": "assistant", "content": whole_characters(turn.text)}
        if calls:
            message["tool_calls"] = [
                {"id": call.id, "name": call.name, "arguments": _plain(call.arguments)}
                for call in calls
            ]
        self.messages.append(message)

        return calls

    def _under_unique_id(self, call: ToolCall) -> ToolCall:
        call_id, original = unique_id(call.id, self._ids)
        if original is not None:
            self._originals[call_id] = original
        name: object = call.name  # whatever a model may have sent
        text = name if isinstance(name, str) else f"<{type(name).__name__}>"
        shown = whole_characters(text)

        return ToolCall(shown, call.arguments, call_id)

    def add_results(self, results: Iterable[ToolResult]) -> None:
        """
        Append the answers to the latest turn's calls.
        """
        for result in results:
            original = self._originals.get(result.call_id)
            self.results.append(
                result if original is None else result.replace(original_id=original)
            )
            self.messages.append(
                {
                    "role": "tool",
                    "tool_call_id": result.call_id,
                    "name": result.name,
                    "content": result.content,
                    "status": result.status.value,
                }
            )

    def place(self, count: int) -> Run:
        """
        Return where the next *count* calls stand in the run.
        """
        run = Run(run_id=self._run_id, position=self._calls, meter=self.meter)
        self._calls += count

        return run

    def model_at_work(self) -> ModelAtWork:
        """
        Give what the model raises the conversation to go on from.
        """
        return ModelAtWork(self)

    def result(self, reason: StopReason, text: str, turns: int) -> LoopResult:
        """
        Close the run.
        """
        return LoopResult(
            stop_reason=reason,
            text=text,
            messages=self.messages,
            results=tuple(self.results),
            turns=turns,
        )


class ModelAtWork:
    """
    Turns what a model raises into ModelFailedError.
    """

    def __init__(self, state: Conversation) -> None:
        self._state = state

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, tb: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, MemoryError):
            raise ModelFailedError(
                messages=copy.deepcopy(self._state.messages),
                results=tuple(self._state.results),
                reason=text_of(error) or type(error).__name__,
            ) from error


def _plain(arguments: object) -> object:
    """
    Return a call's arguments as they can stand in a message, which is sent as JSON.
    """
    if isinstance(arguments, bytes):
        return arguments.decode("utf-8", "replace")
    if arguments is None or isinstance(arguments, str):
        return whole_characters(arguments or "")
    try:
        text = whole_characters(
            json.dumps(arguments, allow_nan=False, default=_as_dict, ensure_ascii=False)
        )
        plain = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        # The gate has refused it; a transcript that cannot be sent would end the run.
        return f"(a {type(arguments).__name__} that is no JSON)"

    # Refused as well, and a transcript that cannot be copied would end it too.
    return text if _is_deep(plain) else plain


def _is_deep(plain: object) -> bool:
    """
    Whether JSON data is deeper than any gate lets through.
    """
    level: list[Any] = [plain]
    for _ in range(DEEPEST + 1):
        level = [inner for value in level for inner in _members(value)]
        if not level:
            return False

    return True


def _members(value: Any) -> Iterable[Any]:
    if isinstance(value, _DICT):
        inner: Iterable[Any] = value.values()
        return inner

    return value if isinstance(value, _LIST) else ()


def _as_dict(value: Any) -> dict[Any, Any]:
    if isinstance(value, _MAPPING):
        return dict(value)

    raise TypeError


def _read_messages(messages: str | Iterable[Mapping[str, Any]]) -> list[Message]:
    """
    Copy a conversation.

    Raises:
        ValueError: A message is malformed, or a call in it has no answer.
    """
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    copied: list[Message] = []
    open_ids: list[str] = []
    for index, message in enumerate(messages):
        _check_message(index, message)
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_ids:
                raise ValueError(f"Message {index} answers a call that is not open.")
            open_ids.remove(message["tool_call_id"])
        elif open_ids:
            break
        copied.append(copy.deepcopy(dict(message)))
        open_ids += [call["id"] for call in _calls_in(message)]
    if open_ids:
        raise ValueError(f"The calls {', '.join(map(repr, open_ids))} have no answer.")
    if not copied:
        raise ValueError("A conversation has at least one message.")

    return copied


def _calls_in(message: Mapping[str, Any]) -> list[Any]:
    calls: list[Any] = message.get("tool_calls") or []

    return calls


def _check_message(index: int, message: Any) -> None:
    """
    Refuse what no model could be sent.
    """
    if not isinstance(message, _MAPPING) or message.get("role") not in _ROLES:
        raise ValueError(
            f"Message {index} is no mapping with a role of {', '.join(_ROLES)}."
        )
    calls: Any = message.get("tool_calls") or None
    if calls and not (isinstance(calls, _LIST) and all(_is_call(c) for c in calls)):
        raise ValueError(
            f"Message {index} has tool_calls that are no list of mappings with an id "
            "and a name."
        )


def _is_call(call: Any) -> bool:
    if not isinstance(call, _MAPPING):
        return False

    return isinstance(call.get("id"), str) and isinstance(call.get("name"), str)


def not_run(calls: Iterable[ToolCall], reason: str) -> list[ToolResult]:
    """
    Answer *calls* without running them.
    """
    results: list[ToolResult] = []
    for call in calls:
        error = NotRunError(tool=call.name, reason=reason)
        results.append(
            ToolResult(
                call_id=call.id or "",
                name=call.name,
                status=Status.NOT_RUN,
                content=str(error),
                error=error,
                error_class="semantic",
            )
        )

    return results
