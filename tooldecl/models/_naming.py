"""
Names and ids of a conversation, as a provider takes them in a request.

Invariants:

1. What a provider takes stays as it is.
2. A call and its answer go under one id, and no two calls of a request under the same.
3. The conversation of the loop keeps what the model said: only copies are changed.
"""

from __future__ import annotations

import hashlib
import re

from typing import final

from .. import ModelRequest
from ..export import safe_names
from ._wire import Data, listed


def sendable(request: ModelRequest, id_form: re.Pattern[str]) -> list[Data]:
    """
    Return the conversation with names and ids that the provider takes.

    Args:
        request: What the loop asks.
        id_form: What the ids of calls look like there.
    """
    names = _names(request)
    ids = _Ids(id_form)
    sent: list[Data] = []
    for message in request.messages:
        copied = dict(message)
        calls = listed(message, "tool_calls")
        if calls:
            sent_ids = ids.of_turn([call["id"] for call in calls])
            copied["tool_calls"] = [
                {**call, "id": sent_id, "name": names[call["name"]]}
                for call, sent_id in zip(calls, sent_ids, strict=True)
            ]
        if message["role"] == "tool":
            copied["tool_call_id"] = ids.of_answer(message["tool_call_id"])
            if message.get("name"):
                copied["name"] = names[message["name"]]
        sent.append(copied)

    return sent


def _names(request: ModelRequest) -> dict[str, str]:
    """
    Map the names in a conversation; what is made up is no name of a tool on offer.
    """
    said: list[object] = [tool.get("name") for tool in request.tools]
    for message in request.messages:
        said += [call["name"] for call in listed(message, "tool_calls")]
        said.append(message.get("name") if message["role"] == "tool" else None)

    return safe_names(dict.fromkeys(name for name in said if isinstance(name, str)))


@final
class _Ids:
    """
    The ids of a request, in the order of its calls.
    """

    def __init__(self, form: re.Pattern[str]) -> None:
        self._form = form
        self._taken: set[str] = set()
        self._open: dict[str, list[str]] = {}

    def of_turn(self, call_ids: list[str]) -> list[str]:
        """
        Return what the calls of a turn are sent under; answers are for the latest turn.
        """
        sent = [self._free(call_id) for call_id in call_ids]
        for call_id in call_ids:
            self._open[call_id] = []
        for call_id, sent_id in zip(call_ids, sent, strict=True):
            self._open[call_id].append(sent_id)

        return sent

    def of_answer(self, call_id: str) -> str:
        """
        Return what an answer is sent under.
        """
        waiting = self._open.get(call_id)
        if not waiting:
            return call_id

        return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    def _free(self, call_id: str) -> str:
        made, tried = call_id, 0
        while made in self._taken or not self._form.fullmatch(made):
            seed = f"{tried} {call_id}".encode("utf-8", "surrogatepass")
            made = f"call_{hashlib.sha256(seed).hexdigest()[:24]}"
            tried += 1
        self._taken.add(made)

        return made
