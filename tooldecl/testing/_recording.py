"""
The calls of a real run, kept to be played again.
"""

from __future__ import annotations

import json
import threading

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard, final

from .. import Fate, Status, ToolRequest, ToolResult
from ..exceptions import CallError, ErrorClass
from ._given import check_flag


FORMAT = 1

_CLASSES: dict[object, ErrorClass] = {
    "transient": "transient",
    "semantic": "semantic",
    "environment": "environment",
}


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """
    One call and its result.

    Attributes:
        name: Name of the tool.
        arguments: The arguments in JSON form; None where they were withheld.
        result: What came of it; the value in JSON form, the error by its text.
    """

    name: str
    arguments: Mapping[str, object] | None
    result: ToolResult

    @property
    def is_withheld(self) -> bool:
        """
        Whether its values are not in the recording, as the tool is sensitive.
        """
        return self.arguments is None

    def __str__(self) -> str:
        return written(self.name, self.arguments)


def written(name: str, arguments: Mapping[str, object] | None) -> str:
    """
    Write a call on one line, equal calls equally.
    """
    text = "withheld" if arguments is None else json.dumps(arguments, sort_keys=True)

    return f"{name}({text})"


@final
class Recording:
    """
    A filter that keeps each call that reaches it, with its result, in the order they began.

    Calls that the gate refuses do not reach it; the same gate refuses them again. Safe to
    use from any thread.

    Args:
        sensitive: Whether the values of tools declared *sensitive* are kept as well.
            Without them their calls are noted by name alone, and cannot be replayed.

    Raises:
        TypeError: *sensitive* is neither True nor False.
    """

    def __init__(self, *, sensitive: bool = False) -> None:
        check_flag("Recording(sensitive=...)", sensitive)
        self._sensitive = sensitive
        self._lock = threading.Lock()
        self._slots: list[RecordedCall | None] = []

    @property
    def calls(self) -> tuple[RecordedCall, ...]:
        """
        The calls that have ended.
        """
        with self._lock:
            return tuple(call for call in self._slots if call is not None)

    def around(
        self, request: ToolRequest, call_next: Callable[[ToolRequest], ToolResult]
    ) -> ToolResult:
        """
        Keep a call of sync code.
        """
        place = self._begin()
        result = call_next(request)
        self._end(place, request, result)

        return result

    async def aaround(
        self,
        request: ToolRequest,
        call_next: Callable[[ToolRequest], Awaitable[ToolResult]],
    ) -> ToolResult:
        """
        Keep a call of async code.
        """
        place = self._begin()
        result = await call_next(request)
        self._end(place, request, result)

        return result

    def _begin(self) -> int:
        with self._lock:
            self._slots.append(None)

            return len(self._slots) - 1

    def _end(self, place: int, request: ToolRequest, result: ToolResult) -> None:
        withheld = request.meta.sensitive and not self._sensitive
        if withheld:
            result = result.replace(value=None, content="withheld", error=None)
        call = RecordedCall(
            name=request.name,
            arguments=None if withheld else request.arguments,
            result=restored(kept(result)),
        )
        with self._lock:
            self._slots[place] = call

    def save(self, path: str | Path) -> None:
        """
        Write the calls to a JSON file, without times: equal runs give equal files.
        """
        calls = [
            {
                "name": call.name,
                "arguments": call.arguments,
                "result": kept(call.result),
            }
            for call in self.calls
        ]
        text = json.dumps({"format": FORMAT, "calls": calls}, indent=2)
        Path(path).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Recording:
        """
        Read what `save` has written.

        Raises:
            ValueError: It is something else.
        """
        made = cls()
        try:
            made._slots.extend(_calls_in(Path(path).read_text(encoding="utf-8")))
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(
                f"{Path(path).name} is no recording of tooldecl: {error}."
            ) from error

        return made


def kept(result: ToolResult) -> dict[str, object]:
    """
    Return what a recording has of a result.
    """
    told = result.to_dict()
    names = (
        *("status", "content", "value", "error", "error_class", "fate", "attempts"),
        *("truncated", "original_size"),
    )

    return {name: told[name] for name in names}


def restored(data: object) -> ToolResult:
    """
    Make a result of what a recording has of one.

    Raises:
        TypeError, KeyError, ValueError: It is none.
    """
    error, size = member(data, "error"), member(data, "original_size")

    return ToolResult(
        call_id="recorded",
        name="recorded",
        status=Status(_text(member(data, "status"))),
        content=_text(member(data, "content")),
        value=member(data, "value"),
        error=None if error is None else CallError(_text(member(error, "message"))),
        error_class=_CLASSES.get(member(data, "error_class")),
        fate=Fate(_text(member(data, "fate"))),
        attempts=_number(member(data, "attempts")),
        truncated=member(data, "truncated") is True,
        original_size=None if size is None else _number(size),
    )


def _calls_in(text: str) -> list[RecordedCall]:
    data: object = json.loads(text)
    if member(data, "format") != FORMAT:
        raise TypeError(f"its format is not {FORMAT}")

    return list(map(_call_from, _list(member(data, "calls"))))


def _call_from(data: object) -> RecordedCall:
    given = member(data, "arguments")

    return RecordedCall(
        name=_text(member(data, "name")),
        arguments=None if given is None else _object(given),
        result=restored(member(data, "result")),
    )


def member(data: object, name: str) -> object:
    """
    Return a member of an object.
    """
    return _object(data)[name]


def _object(data: object) -> Mapping[str, object]:
    if not is_object(data):
        raise TypeError(f"an object is needed, got {type(data).__name__}")

    return data


def _list(data: object) -> list[object]:
    if not _is_list(data):
        raise TypeError(f"a list is needed, got {type(data).__name__}")

    return data


def is_object(data: object) -> TypeGuard[Mapping[str, object]]:
    """
    Tell an object of JSON from what else there is.
    """
    return isinstance(data, Mapping)


def _is_list(data: object) -> TypeGuard[list[object]]:
    return isinstance(data, list)


def _text(data: object) -> str:
    if not isinstance(data, str):
        raise TypeError(f"a text is needed, got {type(data).__name__}")

    return data


def _number(data: object) -> int:
    if not isinstance(data, int):
        raise TypeError(f"a number is needed, got {type(data).__name__}")

    return data
