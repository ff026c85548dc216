"""
The calls of a recording, answered without running anything.
"""

from __future__ import annotations

import difflib
import threading

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal, final

from .. import ToolRequest, ToolResult
from ._recording import RecordedCall, Recording, written


class ReplayMismatchError(AssertionError):
    """
    A run made another call than the recording has next, or too few.

    Name it in ``ToolClient(stop_on=[ReplayMismatchError])``, and it leaves the client where
    the run went another way. Otherwise that call is ``guard_failed``.
    """


@final
class Replay:
    """
    A filter that answers from a recording: no body runs, and nobody is asked.

    Calls pass the same gate as ever; status, content, value and error are those of the
    recording. The fate is ``not_started``, and no state is written, as nothing runs.

    Args:
        recording: What was recorded, or the file that it was saved to.
        order: ``"same"`` wants the calls in the order they were recorded in, one after
            another; ``"any"`` answers each equal call once, for runs whose calls overlap.
    """

    def __init__(
        self,
        recording: Recording | str | Path,
        *,
        order: Literal["same", "any"] = "same",
    ) -> None:
        given: object = order
        if given not in ("same", "any"):
            raise ValueError(f"Replay(order=...) takes 'same' or 'any', got {given!r}.")
        if not isinstance(recording, Recording):
            recording = Recording.load(recording)
        self._in_order = order == "same"
        self._recorded = recording.calls
        self._left = list(recording.calls)
        self._lock = threading.Lock()
        self._asked: list[str] = []
        self._wrong = False

    def around(
        self, request: ToolRequest, call_next: Callable[[ToolRequest], ToolResult]
    ) -> ToolResult:
        """
        Answer a call of sync code.
        """
        result = self._answer(request)

        return call_next(request) if result.status == "pending" else result

    async def aaround(
        self,
        request: ToolRequest,
        call_next: Callable[[ToolRequest], Awaitable[ToolResult]],
    ) -> ToolResult:
        """
        Answer a call of async code.
        """
        result = self._answer(request)

        return await call_next(request) if result.status == "pending" else result

    def _answer(self, request: ToolRequest) -> ToolResult:
        asked = written(request.name, request.arguments)
        with self._lock:
            found = self._next(request.name, asked)
            withheld = found is not None and found.is_withheld
            shown = found if withheld else None
            self._asked.append(asked if shown is None else str(shown))
            if found is None or withheld:
                self._wrong = True
                what = self._withheld(found) if found else "This call was not recorded"
                raise ReplayMismatchError(f"{what}.\n{self._difference()}")
            self._left.remove(found)

        return found.result

    def _next(self, name: str, asked: str) -> RecordedCall | None:
        candidates = self._left[:1] if self._in_order else self._left
        for call in candidates:
            if str(call) == asked or (call.is_withheld and call.name == name):
                return call

        return None

    @staticmethod
    def _withheld(call: RecordedCall) -> str:
        return (
            f"The tool {call.name!r} is declared sensitive and was recorded without its "
            "values, so it cannot be replayed: record it with Recording(sensitive=True)"
        )

    def _difference(self) -> str:
        recorded = [str(call) for call in self._recorded]
        asked = list(self._asked)
        if not self._in_order:
            recorded.sort()
            asked.sort()
        lines = difflib.unified_diff(
            recorded, asked, "recorded", "this run", n=2, lineterm=""
        )

        return "\n".join(lines)

    def assert_complete(self) -> None:
        """
        Fail when the calls of the run were not those of the recording.

        Raises:
            ReplayMismatchError: It shows the difference.
        """
        with self._lock:
            if self._wrong or self._left:
                count = len(self._left)
                raise ReplayMismatchError(
                    f"{count} recorded calls were not made.\n{self._difference()}"
                    if count
                    else f"Other calls were made.\n{self._difference()}"
                )
