"""
Gemini's generated content.
"""

from __future__ import annotations

import re

from collections.abc import Sequence
from typing import final

from .. import ModelRequest, ToolCall, Turn
from ..export import to_gemini
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
    parts_of,
    text_of,
    within,
)


KEY = "gemini"

_IDS = re.compile(r".+", re.DOTALL)

_CALL = "functionCall"

_DONE = (None, "STOP", "MAX_TOKENS", "FINISH_REASON_UNSPECIFIED")

# The provider will not say it; asking again changes nothing.
_REFUSED = {
    "BLOCKLIST",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "IMAGE_SAFETY",
    "LANGUAGE",
    "MODEL_ARMOR",
    "PROHIBITED_CONTENT",
    "RECITATION",
    "SAFETY",
    "SPII",
}

# What the SDK would do by itself, and a loop of ours does.
_BY_HAND = {"automaticFunctionCalling": {"disable": True}}


@final
class GenerateWire:
    """
    How generated content is spoken.
    """

    def __init__(
        self,
        model: str,
        *,
        provider_tools: Sequence[Given],
        options: Given | None,
    ) -> None:
        self._model = checked_name(model)
        self._provider_tools = [dict(tool) for tool in provider_tools]
        ours = (
            *("tools", "system_instruction", "systemInstruction"),
            *("automatic_function_calling", "automaticFunctionCalling"),
        )
        self._options = options_of(
            options, ours, single=("candidate_count", "candidateCount")
        )

    def body(self, request: ModelRequest, /) -> Data:
        """
        Return what is sent.
        """
        declared = to_gemini(request.tools)
        tools = [{"functionDeclarations": declared}] if declared else []
        tools += self._provider_tools
        sent = sendable(request, _IDS)
        said = [message for message in sent if message["role"] != "system"]
        system = [text_of(m["content"]) for m in sent if m["role"] == "system"]
        config: Data = {**_BY_HAND, **self._options}
        if system:
            config["systemInstruction"] = "\n\n".join(system)
        if tools:
            config["tools"] = tools

        return {"model": self._model, "contents": _contents(said), "config": config}

    def read(self, asked: Asked, answer: Data, /) -> Turn | Asked:
        """
        Return the turn.
        """
        del asked
        candidates = listed(answer, "candidates")
        if not candidates:
            reason = within(answer, "promptFeedback").get("blockReason")
            return Turn(ended(reason or "no candidates"))
        reason = candidates[0].get("finishReason")
        parts = _parts(candidates[0])
        text = _said(parts)
        if reason in _REFUSED:
            return Turn(text or ended(reason))
        if reason not in _DONE:
            raise RuntimeError(f"The provider ended this turn: {reason}.")

        return Turn(
            text,
            [_call(part[_CALL]) for part in parts if _CALL in part],
            truncated=reason == "MAX_TOKENS",
            memo=_memo(parts),
        )

    def pieces(self) -> GeneratePieces:
        """
        Return what puts one streamed answer together.
        """
        return GeneratePieces()


def _parts(candidate: Data) -> list[Data]:
    return listed(within(candidate, "content"), "parts")


def _call(call: Data) -> ToolCall:
    if call.get("willContinue") or call.get("partialArgs"):
        raise RuntimeError(
            "The provider streams the arguments of calls in parts, which is not read: "
            "leave stream_function_call_arguments out of the options."
        )

    return ToolCall(call.get("name") or "", call.get("args"), call.get("id"))


def _contents(said: list[Data]) -> list[Data]:
    """
    Return the conversation in turns; results go under ids only where calls had one.
    """
    sent: list[Data] = []
    with_ids: set[str] = set()
    names: dict[str, str] = {}
    for message in said:
        role = "model" if message["role"] == "assistant" else "user"
        if role == "model":
            parts = _model_parts(message)
            calls = [part[_CALL] for part in parts if _CALL in part]
            with_ids |= {call["id"] for call in calls if "id" in call}
            names |= {c["id"]: c["name"] for c in listed(message, "tool_calls")}
        elif message["role"] == "tool":
            parts = [_result(message, names, with_ids)]
        else:
            parts = _user_parts(message.get("content"))
        if sent and sent[-1]["role"] == role:
            sent[-1]["parts"] += parts
        elif parts:
            sent.append({"role": role, "parts": parts})

    return sent


def _user_parts(content: object) -> list[Data]:
    parts = parts_of(content)
    if parts is None:
        return [{"text": content or NO_TEXT}]
    texts = [p if isinstance(p, str) else p.get("text") for p in parts]

    return [
        part if text is None else {"text": text}
        for part, text in zip(parts, texts, strict=True)
    ]


def _result(message: Data, names: dict[str, str], with_ids: set[str]) -> Data:
    word = "error" if has_failed(message) else "output"
    result: Data = {
        "name": message.get("name") or names.get(message["tool_call_id"], ""),
        "response": {word: message.get("content")},
    }
    if message["tool_call_id"] in with_ids:
        result["id"] = message["tool_call_id"]

    return {"functionResponse": result}


def _model_parts(message: Data) -> list[Data]:
    text = text_of(message.get("content"))
    calls: list[Data] = [
        {"name": call["name"], "args": as_object(call.get("arguments"))}
        for call in listed(message, "tool_calls")
    ]
    kept = memo_of(message, KEY)
    if kept is not None and _said(kept) == text:
        places = [part for part in kept if _CALL in part]
        if len(places) == len(calls):
            for given, call, place in zip(
                listed(message, "tool_calls"), calls, places, strict=True
            ):
                if "id" in place[_CALL]:
                    call["id"] = given["id"]
            named = iter(calls)
            return [
                {**part, _CALL: next(named)} if _CALL in part else part for part in kept
            ]

    return [*([{"text": text}] if text else []), *({_CALL: call} for call in calls)]


def _said(parts: list[Data]) -> str:
    return "".join(p.get("text") or "" for p in parts if not p.get("thought"))


def _memo(parts: list[Data]) -> Data | None:
    """
    Keep the parts, where there is something that the message cannot say again.
    """
    if all(
        set(part) in ({"text"}, {_CALL}) and not part.get(_CALL, {}).get("id")
        for part in parts
    ):
        return None

    return {
        KEY: [
            {**part, _CALL: {k: True for k in ("id",) if part[_CALL].get(k)}}
            if _CALL in part
            else part
            for part in parts
        ]
    }


@final
class GeneratePieces:
    """
    Puts streamed content together: parts one after the other, calls whole.
    """

    def __init__(self) -> None:
        self._parts: list[Data] = []
        self._reason: str | None = None
        self._feedback: Data = {}
        self._any = False

    def add(self, event: Data, /) -> str:
        """
        Take the next event; return the piece of text that it brought.
        """
        self._feedback |= within(event, "promptFeedback")
        candidates = listed(event, "candidates")
        if not candidates:
            return ""
        self._any = True
        self._reason = candidates[0].get("finishReason") or self._reason
        parts = _parts(candidates[0])
        for part in parts:
            self._add_part(dict(part))

        return _said(parts)

    def _add_part(self, part: Data) -> None:
        """
        Append a part; text goes on with the text before it, unless that is signed.
        """
        last = self._parts[-1] if self._parts else {}
        grows = {"text", "thought"}
        same = bool(last.get("thought")) == bool(part.get("thought"))
        if "text" in part and "text" in last and same and set(last) <= grows:
            part["text"] = last["text"] + part["text"]
            self._parts[-1] = part
        else:
            self._parts.append(part)

    def answer(self) -> Data:
        """
        Return the answer as it would have come in one piece.
        """
        if self._reason is None and not self._feedback.get("blockReason"):
            raise cut_off()
        if not self._any:
            return {"promptFeedback": self._feedback}
        content = {"parts": self._parts}

        return {"candidates": [{"content": content, "finishReason": self._reason}]}
