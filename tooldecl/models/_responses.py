"""
OpenAI's responses.
"""

from __future__ import annotations

import re

from collections.abc import Sequence
from typing import final

from .. import ModelRequest, ToolCall, Turn
from ..export import to_openai_responses
from ._arguments import as_text
from ._naming import sendable
from ._wire import (
    Asked,
    Data,
    Given,
    check_flag,
    checked_name,
    cut_off,
    ended,
    listed,
    memo_of,
    options_of,
    text_of,
    within,
)


KEY = "openai-responses"

_IDS = re.compile(r"[A-Za-z0-9_-]{1,64}")

_CALL = "function_call"

# What can be said again from the message itself.
_PLAIN = {"message", _CALL}


@final
class ResponsesWire:
    """
    How responses are spoken.
    """

    def __init__(
        self,
        model: str,
        *,
        strict: bool,
        provider_tools: Sequence[Given],
        options: Given | None,
    ) -> None:
        self._model = checked_name(model)
        check_flag("strict", strict)
        self._strict = strict
        self._provider_tools = [dict(tool) for tool in provider_tools]
        self._options = options_of(options, ("model", "input", "tools", "stream"))

    def body(self, request: ModelRequest, /) -> Data:
        """
        Return what is sent.
        """
        tools = to_openai_responses(request.tools, strict=self._strict)
        tools += self._provider_tools
        sent = sendable(request, _IDS)
        body: Data = {
            "model": self._model,
            "input": [item for said in sent for item in _items(said)],
            **self._options,
        }
        if tools:
            body["tools"] = tools

        return body

    def read(self, asked: Asked, answer: Data, /) -> Turn | Asked:
        """
        Return the turn; what the provider calls itself is none of our calls.
        """
        del asked
        status = answer.get("status") or "completed"
        if status not in ("completed", "incomplete"):
            why = within(answer, "error").get("message") or f"It is {status}."
            raise RuntimeError(f"The provider gave no whole response: {why}")
        items = listed(answer, "output")
        text, refusal = _said(items, "text"), _said(items, "refusal")
        reason = within(answer, "incomplete_details").get("reason")
        if refusal or reason == "content_filter":
            return Turn(refusal or text or ended(reason))

        return Turn(
            text,
            [
                ToolCall(
                    item.get("name") or "", item.get("arguments"), item.get("call_id")
                )
                for item in items
                if item.get("type") == _CALL
            ],
            truncated=status == "incomplete",
            memo=_memo(items),
        )

    def pieces(self) -> ResponsePieces:
        """
        Return what puts one streamed answer together.
        """
        return ResponsePieces()


def _items(message: Data) -> list[Data]:
    """
    Return what a message is in a request.
    """
    role, content = message["role"], message.get("content")
    if role == "tool":
        call_id = message["tool_call_id"]
        return [{"type": "function_call_output", "call_id": call_id, "output": content}]
    if role != "assistant":
        return [{"role": role, "content": content}]
    text, calls = (
        text_of(content),
        [_call_item(c) for c in listed(message, "tool_calls")],
    )
    kept = memo_of(message, KEY)
    if kept is not None and _said(kept, "text") == text:
        named = iter(calls)
        if len(calls) == sum(item.get("type") == _CALL for item in kept):
            return [
                {**item, **next(named)} if item.get("type") == _CALL else item
                for item in kept
            ]
    said: list[Data] = [{"role": role, "content": text}] if text or not calls else []

    return said + calls


def _call_item(call: Data) -> Data:
    return {
        "type": _CALL,
        "call_id": call["id"],
        "name": call["name"],
        "arguments": as_text(call.get("arguments")),
    }


def _said(items: list[Data], word: str) -> str:
    """
    Return the text, or the refusal, of the messages among *items*.
    """
    parts: list[Data] = [
        part
        for item in items
        if item.get("type") == "message"
        for part in listed(item, "content")
    ]

    return "".join(part.get(word) or "" for part in parts)


def _memo(items: list[Data]) -> Data | None:
    """
    Keep the items, where there are some that the message cannot say again.
    """
    if all(item.get("type") in _PLAIN for item in items):
        return None
    ours = {"call_id", "name", "arguments"}

    return {
        KEY: [
            {
                k: v
                for k, v in item.items()
                if item.get("type") != _CALL or k not in ours
            }
            for item in items
        ]
    }


@final
class ResponsePieces:
    """
    Puts a streamed response together: its last event has it whole, or its items.
    """

    def __init__(self) -> None:
        self._items: dict[int, Data] = {}
        self._response: Data | None = None

    def add(self, event: Data, /) -> str:
        """
        Take the next event; return the piece of text that it brought.
        """
        match event.get("type"):
            case "response.output_text.delta" | "response.refusal.delta":
                return event.get("delta") or ""
            case "response.output_item.done":
                self._items[event["output_index"]] = event["item"]
            case "response.completed" | "response.incomplete" | "response.failed":
                self._response = event["response"]
            case _:
                pass

        return ""

    def answer(self) -> Data:
        """
        Return the answer as it would have come in one piece.
        """
        if self._response is None:
            raise cut_off()
        items = [self._items[index] for index in sorted(self._items)]

        return {**self._response, "output": listed(self._response, "output") or items}
