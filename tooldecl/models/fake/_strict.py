"""
What providers refuse in a conversation, so that a fake one refuses it too.

Each reader tells a conversation as steps of one form; the rules are the same for all.
"""

from __future__ import annotations

import json
import re

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from ._script import Data


@final
@dataclass(frozen=True, slots=True)
class Called:
    """
    A call; what its answer names, and its arguments where the wire has them as text.
    """

    name: str
    key: str
    text: str = "{}"


@final
@dataclass(frozen=True, slots=True)
class Answered:
    """
    An answer to a call.
    """

    key: str


@final
@dataclass(frozen=True, slots=True)
class Closed:
    """
    A place where no call may be left without its answer.
    """


@final
@dataclass(frozen=True, slots=True)
class Wrong:
    """
    Something that this wire alone refuses.
    """

    text: str


Step: TypeAlias = Called | Answered | Closed | Wrong

# What thoughts have without their signature.
_UNSIGNED = {"type", "thinking"}

_DICT: Any = dict
_LIST: Any = list


@final
@dataclass(frozen=True, slots=True)
class _Wire:
    """
    How a conversation is read, and which names and ids are taken; None: ids are no matter.
    """

    steps: Callable[[Data], Iterator[Step]]
    name: str = r"[A-Za-z0-9_-]{1,64}"
    key: str | None = r"[A-Za-z0-9_-]{1,64}"


def fault_in(word: str, body: Data) -> str | None:
    """
    Say what a provider would refuse in a request, or None.
    """
    wire = _WIRES[word]
    waiting: list[str] = []
    seen: set[str] = set()
    for step in [*wire.steps(body), Closed()]:
        fault = _fault_of(step, wire, waiting, seen)
        if fault is not None:
            return fault
        if isinstance(step, Called):
            seen.add(step.key)
            waiting.append(step.key)
        elif isinstance(step, Answered):
            waiting.remove(step.key)

    return None


def _fault_of(
    step: Step, wire: _Wire, waiting: list[str], seen: set[str]
) -> str | None:
    match step:
        case Called():
            return _fault_of_call(step, wire, seen)
        case Answered(key) if key not in waiting:
            return (
                f"There is an answer to {key!r}, which is no call that waits for one."
            )
        case Closed() if waiting:
            return f"The calls {', '.join(map(repr, waiting))} have no answer."
        case Wrong(text):
            return text
        case _:
            return None


def _fault_of_call(call: Called, wire: _Wire, seen: set[str]) -> str | None:
    if not re.fullmatch(wire.name, call.name):
        return f"The name {call.name!r} of a call is none that this wire takes."
    if wire.key is not None and not re.fullmatch(wire.key, call.key):
        return f"The id {call.key!r} of a call is none that this wire takes."
    if wire.key is not None and call.key in seen:
        return f"The id {call.key!r} is that of two calls."
    if not _is_object(call.text):
        return f"The arguments of a call of {call.name!r} are no JSON object."

    return None


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), _DICT)
    except (ValueError, RecursionError):
        return False


def _in(data: Data, key: str) -> list[Data]:
    value: Any = data.get(key)

    return (
        [v for v in value if isinstance(v, _DICT)] if isinstance(value, _LIST) else []
    )


def _chat(body: Data) -> Iterator[Step]:
    for message in _in(body, "messages"):
        if message.get("role") == "tool":
            yield Answered(str(message.get("tool_call_id")))
            continue
        yield Closed()
        for call in _in(message, "tool_calls"):
            if call.get("type", "function") == "function":
                said: Data = call.get("function") or {}
                text = str(said.get("arguments"))
                yield Called(str(said.get("name")), str(call.get("id")), text)


def _responses(body: Data) -> Iterator[Step]:
    for item in _in(body, "input"):
        key = str(item.get("call_id"))
        if item.get("type") == "function_call":
            yield Called(str(item.get("name")), key, str(item.get("arguments")))
        elif item.get("type") == "function_call_output":
            yield Answered(key)


def _messages(body: Data) -> Iterator[Step]:
    for message in _in(body, "messages"):
        if message.get("content") in ("", []):
            yield Wrong("A message has no content.")
        blocks = _in(message, "content")
        kinds = {block.get("type") for block in blocks}
        if kinds and kinds <= {"thinking", "redacted_thinking"}:
            yield Wrong("A message has thoughts alone.")
        for block in blocks:
            yield from _block(block)
        if message.get("role") == "user":
            yield Closed()


def _block(block: Data) -> Iterator[Step]:
    match block.get("type"):
        case "text" if not str(block.get("text")).strip():
            yield Wrong("A block of text has none.")
        case "thinking" if not any(v for k, v in block.items() if k not in _UNSIGNED):
            yield Wrong("A block of thoughts has no signature.")
        case "tool_use":
            text = json.dumps(block.get("input"))
            yield Called(str(block.get("name")), str(block.get("id")), text)
        case "tool_result":
            yield Answered(str(block.get("tool_use_id")))
        case _:
            pass


def _contents(body: Data) -> Iterator[Step]:
    for content in _in(body, "contents"):
        parts = _in(content, "parts")
        if not parts:
            yield Wrong("A content has no parts.")
        for part in parts:
            call: Data = part.get("functionCall") or {}
            answer: Data = part.get("functionResponse") or {}
            if call:
                yield Called(str(call.get("name")), str(call.get("name")))
            if answer:
                yield Answered(str(answer.get("name")))
        if content.get("role") == "user":
            yield Closed()


_GEMINI = _Wire(_contents, name=r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}", key=None)

_WIRES = {
    "/chat/completions": _Wire(_chat, key=r"[!-~]{1,40}"),
    "/responses": _Wire(_responses),
    "/messages": _Wire(_messages, name=r"[A-Za-z0-9_-]{1,128}"),
    ":generateContent": _GEMINI,
    ":streamGenerateContent": _GEMINI,
}
