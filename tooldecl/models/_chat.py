"""
OpenAI's chat completions, and everybody who speaks like them.
"""

from __future__ import annotations

import re

from collections.abc import Sequence
from typing import final

from .. import ModelRequest, ToolCall, Turn
from ..export import to_openai
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


KEY = "openai-chat"

# OpenAI counts only; others have dots and colons in theirs, and want them again.
_IDS = re.compile(r"[!-~]{1,40}")

# What every call has; the rest is the provider's own, which it may want to see again.
_KNOWN = {"id", "index", "type", "function"}

# What some want to see again beside the calls.
_KEPT = "reasoning_content"


@final
class ChatWire:
    """
    How chat completions are spoken.
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
        ours = ("model", "messages", "tools", "stream")
        self._options = options_of(options, ours, single=("n",))

    def body(self, request: ModelRequest, /) -> Data:
        """
        Return what is sent.
        """
        tools = to_openai(request.tools, strict=self._strict) + self._provider_tools
        body: Data = {
            "model": self._model,
            "messages": [_message(message) for message in sendable(request, _IDS)],
            **self._options,
        }
        if tools:
            body["tools"] = tools

        return body

    def read(self, asked: Asked, answer: Data, /) -> Turn | Asked:
        """
        Return the turn.
        """
        del asked
        choices = listed(answer, "choices")
        if not choices:
            raise RuntimeError("The provider sent a response without a choice.")
        message = within(choices[0], "message")
        reason = choices[0].get("finish_reason")
        text, refusal = text_of(message.get("content")), message.get("refusal")
        if refusal or reason == "content_filter":
            return Turn(refusal or text or ended(reason))
        called = [c for c in listed(message, "tool_calls") if _is_function(c)]

        return Turn(
            text,
            [_call(call) for call in called],
            truncated=reason == "length",
            memo=_memo(message, called),
        )

    def pieces(self) -> ChatPieces:
        """
        Return what puts one streamed answer together.
        """
        return ChatPieces()


def _message(message: Data) -> Data:
    role, content = message["role"], message.get("content")
    if role == "tool":
        return {
            "role": "tool",
            "tool_call_id": message["tool_call_id"],
            "content": content,
        }
    calls = listed(message, "tool_calls")
    if content is None and not calls:  # only beside calls it may be left out
        content = ""
    sent: Data = {"role": role, "content": content}
    if role == "assistant" and calls:
        sent["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {
                    "name": call["name"],
                    "arguments": as_text(call.get("arguments")),
                },
            }
            for call in calls
        ]
        _remember(sent, memo_of(message, KEY))

    return sent


def _remember(sent: Data, kept: list[Data] | None) -> None:
    """
    Put back what the provider had said beside the calls, and about each of them.
    """
    if kept is None or len(kept) != len(sent["tool_calls"]) + 1:
        return
    sent.update(kept[0])
    for call, extra in zip(sent["tool_calls"], kept[1:], strict=True):
        call.update(extra)


def _memo(message: Data, called: list[Data]) -> Data | None:
    beside = {_KEPT: message[_KEPT]} if message.get(_KEPT) else {}
    extras = [{k: v for k, v in call.items() if k not in _KNOWN} for call in called]
    if not called or not (beside or any(extras)):
        return None

    return {KEY: [beside, *extras]}


def _is_function(call: Data) -> bool:
    return call.get("type") in (None, "function") and "function" in call


def _call(call: Data) -> ToolCall:
    function = within(call, "function")

    return ToolCall(
        function.get("name") or "", function.get("arguments"), call.get("id")
    )


@final
class ChatPieces:
    """
    Puts a streamed chat completion together: calls by their index.
    """

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {"content": [], "refusal": [], _KEPT: []}
        self._calls: dict[object, Data] = {}
        self._last: object = None
        self._reason: str | None = None

    def add(self, event: Data, /) -> str:
        """
        Take the next event; return the piece of text that it brought.
        """
        choices = [c for c in listed(event, "choices") if not c.get("index")]
        if not choices:  # what was used, say
            return ""
        delta = within(choices[0], "delta")
        self._reason = choices[0].get("finish_reason") or self._reason
        for name, texts in self._texts.items():
            texts.append(text_of(delta.get(name)))
        for piece in listed(delta, "tool_calls"):
            self._add_call(piece)

        return self._texts["content"][-1] or self._texts["refusal"][-1]

    def _add_call(self, piece: Data) -> None:
        more = within(piece, "function")
        index: object = piece.get("index")
        if index is None:  # some leave it out
            is_new = more.get("name") or not self._calls
            index = f"new {len(self._calls)}" if is_new else self._last
            index = piece.get("id") or index
        self._last = index
        call = self._calls.setdefault(index, {"function": {}})
        function = call["function"]
        call.update({k: v for k, v in piece.items() if k != "function" and v})
        name = more.get("name")
        if name and name != function.get("name"):  # some repeat it in every piece
            function["name"] = function.get("name", "") + name
        arguments = more.get("arguments")
        if isinstance(arguments, str):
            function["arguments"] = function.get("arguments", "") + arguments
        elif arguments is not None:
            function["arguments"] = arguments

    def answer(self) -> Data:
        """
        Return the answer as it would have come in one piece.
        """
        if self._reason is None:
            raise cut_off()
        message: Data = {name: "".join(texts) for name, texts in self._texts.items()}
        message["tool_calls"] = list(self._calls.values())

        return {"choices": [{"message": message, "finish_reason": self._reason}]}
