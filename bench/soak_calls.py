"""
Making many calls, and saying what came of them.
"""

from __future__ import annotations

import asyncio
import time

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import soak_tools

from soak_census import Census

from tooldecl import ToolCall, ToolClient, ToolResult
from tooldecl.telemetry import Event, Progress


WORKERS = 4

# A title, the heads of the columns, and the rows.
Table: TypeAlias = tuple[str, list[str], list[list[str]]]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """
    How many of everything.
    """

    many: int = 1_000
    crowds: tuple[int, ...] = (4, 16, 64)
    batch: int = 10_000
    kills: int = 500
    run: int = 400


QUICK = Sizes(many=80, crowds=(8,), batch=1_200, kills=60, run=80)


def said(results: Iterable[ToolResult]) -> str:
    """
    Count the results by status, and by fate where there is more to say than "completed".
    """
    counts = Counter(
        r.status if r.fate == "completed" else f"{r.status} {r.fate}" for r in results
    )

    return ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))


def over(name: str, *censuses: Census) -> str:
    """
    Show one figure of several censuses.
    """
    form = "{:.0f}" if name == "rss" else "{}"

    return " / ".join(form.format(getattr(census, name)) for census in censuses)


def calls(name: str, count: int) -> list[ToolCall]:
    """
    Return *count* calls of a tool.
    """
    return [ToolCall(name) for _ in range(count)]


async def until(done: Callable[[], bool]) -> None:
    """
    Wait for what should happen soon; what does not is seen in the figures.
    """
    end = time.monotonic() + 10
    while not done() and time.monotonic() < end:  # noqa: ASYNC110 (bodies of any thread)
        await asyncio.sleep(0.01)


@final
class Deadlines:
    """
    Hears from each body until when it might run, and when it was answered.
    """

    def __init__(self) -> None:
        self._deadlines: dict[str, float] = {}
        self._answers: dict[str, float] = {}

    def __call__(self, event: Event) -> None:
        if isinstance(event, Progress):
            self._deadlines[event.call_id] = event.done

    def answered(self, call_id: str) -> None:
        """
        Note that a call has its answer now.
        """
        self._answers[call_id] = time.monotonic()

    @property
    def late(self) -> list[float]:
        """
        How late each answer was; bodies that never began had no deadline.
        """
        return [self._answers[key] - until for key, until in self._deadlines.items()]

    @property
    def together(self) -> int:
        """
        How many bodies had begun when the first deadline passed.
        """
        first = min(self._deadlines.values(), default=0.0)
        limit = soak_tools.LONG

        return sum(until - limit < first for until in self._deadlines.values())


def late_by(results: Iterable[ToolResult], limit: float) -> list[float]:
    """
    How late the answers of workers were: a worker reads of its deadline later than it is.

    Without the waits before its body, a call should take its limit; what it takes beyond
    is more than the kill and its confirmation, by the arguments' and the answer's checks.
    """
    return [r.elapsed - limit for r in results if r.status == "timeout"]


async def fly(
    client: ToolClient, heard: Deadlines, name: str, arguments: Sequence[Any]
) -> list[ToolResult]:
    """
    Make one call of a tool with each of *arguments*, all at once.
    """

    async def one(number: int) -> ToolResult:
        result = await client.ainvoke(name, arguments[number], call_id=str(number))
        heard.answered(str(number))

        return result

    return await asyncio.gather(*map(one, range(len(arguments))))
