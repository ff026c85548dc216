"""
Messages as plain data: read with care, and healed where a call has no answer.

The matching page is docs/how-to/run-a-loop.md.
"""

from __future__ import annotations

import copy
import json

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from ._calls import Status
from ._ids import new_id
from ._strictjson import DEEPEST
from ._texts import whole_characters


Message: TypeAlias = dict[str, Any]
Given: TypeAlias = Mapping[str, Any]  # a message, or a call in one, of somebody else
Messages: TypeAlias = str | Iterable[Given]

_ROLES = ("system", "user", "assistant", "tool")

# Typed so that checkers do not narrow to containers of unknown things.
_MAPPING: Any = Mapping
_LIST: Any = list
_DICT: Any = dict


def read_messages(messages: Messages) -> list[Message]:
    """
    Copy a conversation.

    Raises:
        ValueError: It is no conversation, a message is malformed, or a call in it has
            no answer.
    """
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    if isinstance(messages, _MAPPING) or not isinstance(messages, Iterable):
        raise ValueError(
            "A conversation is a text or a list of messages, got "
            f"{type(messages).__name__}."
        )
    copied: list[Message] = []
    open_ids: list[str] = []
    for index, message in enumerate(messages):
        check_message(index, message)
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_ids:
                raise ValueError(f"Message {index} answers a call that is not open.")
            open_ids.remove(message["tool_call_id"])
        elif open_ids:
            break
        copied.append(copy.deepcopy(dict(message)))
        open_ids += [call["id"] for call in calls_in(message)]
    if open_ids:
        raise ValueError(f"The calls {', '.join(map(repr, open_ids))} have no answer.")
    if not copied:
        raise ValueError("A conversation has at least one message.")

    return copied


def calls_in(message: Given) -> list[Any]:
    """
    Return the calls that a message asks for.
    """
    calls: list[Any] = message.get("tool_calls") or []

    return calls


def check_message(index: int, message: Any) -> None:
    """
    Refuse what no model could be sent.

    Raises:
        ValueError: It is no message.
    """
    if not isinstance(message, _MAPPING) or message.get("role") not in _ROLES:
        raise ValueError(
            f"Message {index} is no mapping with a role of {', '.join(_ROLES)}."
        )
    content: Any = message.get("content")
    if not isinstance(content, (str, _LIST)) and (
        content is not None or message["role"] != "assistant"
    ):
        raise ValueError(
            f"Message {index} has a content that is no text and no list of parts."
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


def closed(messages: Iterable[Given]) -> list[Message]:
    """
    Return a copy in which every call has one answer, right after its turn.

    Raises:
        ValueError: Something in it is no message.
    """
    given: list[Message] = []
    for index, message in enumerate(messages):
        check_message(index, message)
        given.append(copy.deepcopy(dict(message)))
    answers = _answers_in(given)
    healed: list[Message] = []
    for index, message in enumerate(given):
        if message["role"] != "tool":
            healed.append(message)
            healed += _answered(message, index, answers)

    return healed


Answers: TypeAlias = dict[tuple[int, object], list[tuple[int, Message]]]


def _answers_in(given: list[Message]) -> Answers:
    """
    Return the answers by the turn and the id that they are for, with their places.

    An answer is for the latest turn before it that has a call of its id.
    """
    latest: dict[object, int] = {}
    answers: Answers = {}
    for place, message in enumerate(given):
        if message["role"] != "tool":
            latest |= {call["id"]: place for call in calls_in(message)}
            continue
        call_id: object = message.get("tool_call_id")
        if isinstance(call_id, str) and call_id in latest:
            key = latest[call_id], call_id
            answers.setdefault(key, []).append((place, message))

    return answers


def _answered(turn: Message, index: int, answers: Answers) -> list[Message]:
    """
    Return the answers to the calls of one turn.

    They stay in their order; what has none gets one behind them.
    """
    found: dict[int, Message] = {}
    missing: list[Message] = []
    seen: set[str] = set()
    for call in calls_in(turn):
        given = answers.get((index, call["id"]))
        if call["id"] in seen:  # two calls of one id: nobody knows which is answered
            call["id"] = new_id("call")
        seen.add(call["id"])
        if not given:
            missing.append(_made_up(call, _UNKNOWN))
            continue
        place, answer = given.pop(0)
        if answer.get("status") == Status.PENDING:
            answer = _made_up(call, _GIVEN_UP)
        found[place] = {**answer, "tool_call_id": call["id"]}

    return [*(found[place] for place in sorted(found)), *missing]


_UNKNOWN = (
    "The run ended before this call of {!r} had its answer. It may have taken effect."
)
_GIVEN_UP = (
    "This call of {!r} was not run: it waited for somebody, and the run was given up."
)


def _made_up(call: Given, text: str) -> Message:
    return {
        "role": "tool",
        "tool_call_id": call["id"],
        "name": call["name"],
        "content": text.format(call["name"]),
        "status": Status.CANCELLED.value,
    }


def plain_arguments(arguments: object) -> object:
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


def plain_memo(memo: object) -> dict[str, Any]:
    """
    Return a copy of a turn's memo as it can stand in a message, which is sent as JSON.

    Raises:
        TypeError: It is no mapping of plain JSON data.
    """
    try:
        text = json.dumps(memo, allow_nan=False, default=_as_dict, ensure_ascii=False)
        plain = json.loads(whole_characters(text))
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"Turn(memo=...) takes plain JSON data: {error}") from error
    if not isinstance(plain, _DICT):
        raise TypeError(f"Turn(memo=...) takes a mapping, got {type(memo).__name__}.")
    if _is_deep(plain):
        raise TypeError(f"Turn(memo=...) takes data of at most {DEEPEST} levels.")
    kept: dict[str, Any] = plain

    return kept


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
