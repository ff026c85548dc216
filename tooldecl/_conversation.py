"""
The transcript of one run of a loop: always valid, every call in it has its answer.
"""

from __future__ import annotations

import copy

from collections.abc import Iterable, Mapping
from typing import Any

from ._batch import Run, new_id, with_unique_ids
from ._calls import Status, ToolCall, ToolResult
from ._turns import LoopResult, Message, StopReason, Turn
from .exceptions import ModelFailedError, NotRunError


_ROLES = ("system", "user", "assistant", "tool")


class Conversation:
    """
    What was said and run so far in one run of a loop.
    """

    def __init__(self, messages: str | Iterable[Mapping[str, Any]]) -> None:
        self.messages = _read_messages(messages)
        self.results: list[ToolResult] = []
        self._run_id = new_id("run")
        self._calls = 0
        self._ids = {
            call["id"] for m in self.messages for call in m.get("tool_calls") or ()
        }

    def add_turn(self, turn: Turn) -> list[ToolCall]:
        """
        Append the model's turn, and return its calls under ids that are unique here.
        """
        calls = with_unique_ids(turn.calls, self._ids)
        message: Message = {"role": "assistant", "content": turn.text}
        if calls:
            message["tool_calls"] = [
                {"id": call.id, "name": call.name, "arguments": _plain(call.arguments)}
                for call in calls
            ]
        self.messages.append(message)

        return calls

    def add_results(self, results: Iterable[ToolResult]) -> None:
        """
        Append the answers to the latest turn's calls.
        """
        for result in results:
            self.results.append(result)
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
        run = Run(run_id=self._run_id, position=self._calls)
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
                reason=str(error) or type(error).__name__,
            ) from error


def _plain(arguments: object) -> object:
    """
    Return a call's arguments as they can stand in a message.
    """
    if isinstance(arguments, Mapping):
        return copy.deepcopy(dict(arguments))
    if isinstance(arguments, bytes):
        return arguments.decode("utf-8", "replace")

    return "" if arguments is None else arguments


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
        if not _is_message(message):
            raise ValueError(
                f"Message {index} is no mapping with a role of {', '.join(_ROLES)}."
            )
        copied.append(copy.deepcopy(dict(message)))
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_ids:
                raise ValueError(f"Message {index} answers a call that is not open.")
            open_ids.remove(message["tool_call_id"])
        elif open_ids:
            break
        open_ids += [call["id"] for call in message.get("tool_calls") or ()]
    if open_ids:
        raise ValueError(f"The calls {', '.join(map(repr, open_ids))} have no answer.")
    if not copied:
        raise ValueError("A conversation has at least one message.")

    return copied


def _is_message(message: object) -> bool:
    return isinstance(message, Mapping) and message.get("role") in _ROLES


def not_run(calls: Iterable[ToolCall], reason: str) -> list[ToolResult]:
    """
    Answer *calls* without running them.
    """
    results = []
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
