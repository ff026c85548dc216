"""
What happened in the demo: each call that a client was told of, and each part of the demo.
"""

from __future__ import annotations

import json
import threading

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, final

from .. import ToolResult
from ..telemetry import ApprovalAsked, CallFinished, CallStarted, Event, shape


Message: TypeAlias = Mapping[str, Any]


@final
class Journal:
    """
    A hook that notes each call with its answers, in the order the calls came in.

    Attributes:
        shapes: For each call id, what its arguments looked like; never a value.
        answers: For each call id, every answer that there was.
        starts: The call ids in order, as often as they came.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._times: list[float] = []
        self.shapes: dict[str, str] = {}
        self.answers: dict[str, list[ToolResult]] = {}
        self.starts: list[str] = []

    def __call__(self, event: Event) -> None:
        with self._lock:
            match event:
                case CallStarted():
                    self.starts.append(event.call_id)
                    self.shapes[event.call_id] = _shape(event.arguments)
                case ApprovalAsked():  # of a sensitive tool, whose arguments are not told
                    self.shapes[event.call_id] = "not told"
                case CallFinished():
                    answers = self.answers.setdefault(event.call_id, [])
                    answers.append(event.result)
                case _:
                    return
            self._times.append(event.at)

    @property
    def seconds(self) -> float:
        """
        Seconds from the first call to the latest answer.
        """
        return self._times[-1] - self._times[0] if self._times else 0.0


class _Members(tuple[tuple[str, object], ...]):
    """
    The members of a JSON object as they were written, one given twice included.
    """

    __slots__ = ()


def _shape(arguments: object) -> str:
    """
    Describe arguments by names, kinds and lengths; of raw text, what stands in it.
    """
    if not isinstance(arguments, (str, bytes)):
        return "{}" if arguments is None else shape(arguments)
    try:
        read = json.loads(arguments, object_pairs_hook=_Members)
    except (ValueError, RecursionError):
        return f"text[{len(arguments)}]"
    if not isinstance(read, _Members):
        return shape(read)

    return f"{{{', '.join(f'{key}: {_kind(value)}' for key, value in read)}}}"


def _kind(value: object) -> str:
    if isinstance(value, _Members):
        return f"object[{len(value)}]"

    return shape(value)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """
    One part of the demo: what was asked, and what came back.

    Attributes:
        title: What it shows, or the question that the model got.
        asked: The ids of its calls, in the order in which they were asked for.
        results: Their results, in the order in which they came back.
        messages: The conversation, where a loop had one.
        remark: What there is to say besides.
    """

    title: str
    asked: Sequence[str]
    results: Sequence[ToolResult]
    messages: Sequence[Message] = field(default=())
    remark: str = ""
