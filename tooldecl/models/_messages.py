"""
Anthropic's messages.
"""

from __future__ import annotations

import json
import re

from collections.abc import Sequence
from typing import final

from .. import ModelRequest, ToolCall, Turn
from ..export import to_anthropic
from ._arguments import as_object
from ._naming import sendable
from ._wire import (
    NO_TEXT,
    Asked,
    Data,
    Given,
    checked_name,
    cut_off,
    ended,
    has_failed,
    listed,
    memo_of,
    options_of,
    text_of,
)


KEY = "anthropic"

_IDS = re.compile(r"[A-Za-z0-9_-]{1,64}")

_CALL = "tool_use"

# What can be said again from the message itself.
_PLAIN = {"text": {"type", "text"}, _CALL: {"type", "id", "name", "input"}}

_THOUGHTS = ("thinking", "redacted_thinking")

# What thoughts have that the provider has not signed yet.
_UNSIGNED = {"type", "thinking"}

_CUT_OFF = ("max_tokens", "model_context_window_exceeded")


@final
class MessagesWire:
    """
    How messages are spoken.
    """

    def __init__(
        self,
        model: str,
        *,
        max_tokens: int,
        provider_tools: Sequence[Given],
        options: Given | None,
    ) -> None:
        self._model = checked_name(model)
        self._max_tokens = _checked_length(max_tokens)
        self._provider_tools = [dict(tool) for tool in provider_tools]
        ours = ("model", "max_tokens", "messages", "system", "tools", "stream")
        self._options = options_of(options, ours)

    def body(self, request: ModelRequest, /) -> Data:
        """
        Return what is sent.
        """
        tools = to_anthropic(request.tools) + self._provider_tools
        body: Data = {
            "model": self._model,
            "max_tokens": self._max_tokens,
            "messages": _messages(sendable(request, _IDS)),
            **self._options,
        }
        system = [text_of(m["content"]) for m in request.messages if _is_system(m)]
        if system:
            body["system"] = "\n\n".join(system)
        if tools:
            body["tools"] = tools

        return body

    def read(self, asked: Asked, answer: Data, /) -> Turn | Asked:
        """
        Return the turn, or how to let a provider go on that paused its own tools.
        """
        blocks = [*asked.before, *listed(answer, "content")]
        reason = answer.get("stop_reason")
        if reason == "pause_turn":
            said: list[Data] = asked.body["messages"]
            if asked.before:
                said = said[:-1]
            paused = {"role": "assistant", "content": blocks}
            return Asked({**asked.body, "messages": [*said, paused]}, blocks)
        text = _said(blocks)
        if reason == "refusal":
            return Turn(text or ended(reason))

        return Turn(
            text,
            [
                ToolCall(block.get("name") or "", block.get("input"), block.get("id"))
                for block in blocks
                if block.get("type") == _CALL
            ],
            truncated=reason in _CUT_OFF,
            memo=_memo(blocks),
        )

    def pieces(self) -> MessagePieces:
        """
        Return what puts one streamed answer together.
        """
        return MessagePieces()


def _is_system(message: Data) -> bool:
    return bool(message["role"] == "system")


def _messages(said: list[Data]) -> list[Data]:
    """
    Return the conversation in turns: all results of one in one message, and first in it.
    """
    sent: list[Data] = []
    for message in said:
        if _is_system(message):
            continue
        role = "assistant" if message["role"] == "assistant" else "user"
        blocks = _blocks(message)
        if sent and sent[-1]["role"] == role:
            sent[-1]["content"] += blocks
        elif blocks:
            sent.append({"role": role, "content": blocks})

    return sent


def _blocks(message: Data) -> list[Data]:
    content = message.get("content")
    if message["role"] == "tool":
        result = {
            "type": "tool_result",
            "tool_use_id": message["tool_call_id"],
            "content": content,
        }
        return [{**result, "is_error": True} if has_failed(message) else result]
    if message["role"] == "assistant":
        return _takeable(_assistant(message))
    parts = [content] if isinstance(content, str) else [*(content or ())]
    blocks = [{"type": "text", "text": p} if isinstance(p, str) else p for p in parts]

    return _takeable(blocks) or [{"type": "text", "text": NO_TEXT}]


def _takeable(blocks: list[Data]) -> list[Data]:
    """
    Leave out what the provider refuses to be sent.

    That are blocks of blank text, thoughts that it had not signed before the turn was cut
    off, and a message of thoughts alone.
    """
    kept = [block for block in blocks if not _is_refused(block)]

    return [] if all(block.get("type") in _THOUGHTS for block in kept) else kept


def _is_refused(block: Data) -> bool:
    match block.get("type"):
        case "text":
            return not text_of([block]).strip()
        case "thinking":
            return not any(v for k, v in block.items() if k not in _UNSIGNED)
        case _:
            return False


def _assistant(message: Data) -> list[Data]:
    text = text_of(message.get("content"))
    calls: list[Data] = [
        {
            "type": _CALL,
            "id": call["id"],
            "name": call["name"],
            "input": as_object(call.get("arguments")),
        }
        for call in listed(message, "tool_calls")
    ]
    kept = memo_of(message, KEY)
    if kept is not None and _said(kept) == text:
        named = iter(calls)
        if len(calls) == sum(block.get("type") == _CALL for block in kept):
            return [
                {**block, **next(named)} if block.get("type") == _CALL else block
                for block in kept
            ]

    return [{"type": "text", "text": text}, *calls] if text else calls


def _said(blocks: list[Data]) -> str:
    return "".join(b.get("text") or "" for b in blocks if b.get("type") == "text")


def _memo(blocks: list[Data]) -> Data | None:
    """
    Keep the blocks, where there is something that the message cannot say again.
    """
    if all(set(block) <= _PLAIN.get(block.get("type", ""), set()) for block in blocks):
        return None
    ours = {"id", "name", "input"}

    return {
        KEY: [
            {k: v for k, v in b.items() if b.get("type") != _CALL or k not in ours}
            for b in blocks
        ]
    }


@final
class MessagePieces:
    """
    Puts a streamed message together, block by block.
    """

    def __init__(self) -> None:
        self._blocks: dict[int, Data] = {}
        self._inputs: dict[int, list[str]] = {}
        self._reason: str | None = None

    def add(self, event: Data, /) -> str:
        """
        Take the next event; return the piece of text that it brought.
        """
        match event.get("type"):
            case "content_block_start":
                self._blocks[event["index"]] = dict(event["content_block"])
            case "content_block_delta":
                return self._add_delta(event["index"], event["delta"])
            case "message_delta":
                self._reason = event["delta"].get("stop_reason") or self._reason
            case _:
                pass

        return ""

    def _add_delta(self, index: int, delta: Data) -> str:
        block = self._blocks[index]
        match delta.get("type"):
            case "input_json_delta":
                self._inputs.setdefault(index, []).append(delta["partial_json"])
            case "citations_delta":
                block["citations"] = [
                    *listed(block, "citations"),
                    delta["citation"],
                ]
            case _:  # text, thoughts, and what they are signed with
                for word, more in delta.items():
                    if word != "type" and isinstance(more, str):
                        block[word] = block.get(word, "") + more

        return text_of([delta])

    def answer(self) -> Data:
        """
        Return the answer as it would have come in one piece.

        The arguments of our calls stay the text they came as: the gate reads them.
        """
        if self._reason is None:
            raise cut_off()
        for index, pieces in self._inputs.items():
            text = "".join(pieces)
            block = self._blocks[index]
            if text and block.get("type") == _CALL:
                block["input"] = text
            elif text:
                block["input"] = json.loads(text)
        blocks = [self._blocks[index] for index in sorted(self._blocks)]

        return {"content": blocks, "stop_reason": self._reason}


def _checked_length(given: object) -> int:
    rule = "max_tokens takes a whole number from 1"
    if isinstance(given, bool) or not isinstance(given, int):
        raise TypeError(f"{rule}, got {given!r}.")
    if given < 1:
        raise ValueError(f"{rule}, got {given!r}.")

    return given
