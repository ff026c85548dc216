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

_ROLES = ("system", "user", "assistant", "tool")

# Typed so that checkers do not narrow to containers of unknown things.
_MAPPING: Any = Mapping
_LIST: Any = list
_DICT: Any = dict


def read_messages(messages: str | Iterable[Mapping[str, Any]]) -> list[Message]:
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


def calls_in(message: Mapping[str, Any]) -> list[Any]:
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


def closed(messages: Iterable[Mapping[str, Any]]) -> list[Message]:
    """
    Return a copy in which every call has one answer, right after its turn.

    Raises:
        ValueError: Something in it is no message.
    """
    given: list[Message] = []
    for index, message in enumerate(messages):
        check_message(index, message)
        given.append(copy.deepcopy(dict(message)))
    loose = {i: m for i, m in enumerate(given) if m["role"] == "tool"}
    healed: list[Message] = []
    for index, message in enumerate(given):
        if message["role"] != "tool":
            healed.append(message)
            healed += _answers(given, index, loose)

    return healed


def _answers(
    given: list[Message], index: int, loose: dict[int, Message]
) -> list[Message]:
    """
    Take the answers to the calls of one turn out of those that are *loose*.

    They stay in their order; what has none gets one behind them.
    """
    found: dict[int, Message] = {}
    missing: list[Message] = []
    seen: set[str] = set()
    for call in calls_in(given[index]):
        call_id: str = call["id"]
        until = _asked_again(given, index, call_id)
        place = next(
            (
                place
                for place, answer in loose.items()
                if index < place < until and answer.get("tool_call_id") == call_id
            ),
            None,
        )
        if call_id in seen:  # an id that two calls have tells nobody which is answered
            call["id"] = new_id("call")
        seen.add(call["id"])
        if place is None:
            missing.append(_made_up(call, _UNKNOWN))
            continue
        answer = loose.pop(place)
        if answer.get("status") == Status.PENDING:
            answer = _made_up(call, _GIVEN_UP)
        found[place] = {**answer, "tool_call_id": call["id"]}

    return [*(found[place] for place in sorted(found)), *missing]


def _asked_again(given: list[Message], index: int, call_id: str) -> int:
    """
    Return where the next turn has a call of the same id: what follows answers that one.
    """
    for later in range(index + 1, len(given)):
        if any(call["id"] == call_id for call in calls_in(given[later])):
            return later

    return len(given)


_UNKNOWN = (
    "The run ended before this call of {!r} had its answer. It may have taken effect."
)
_GIVEN_UP = (
    "This call of {!r} was not run: it waited for somebody, and the run was given up."
)


def _made_up(call: Mapping[str, Any], text: str) -> Message:
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
