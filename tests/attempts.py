"""
One attempt of a call without a client, for what no client can show.
"""

from __future__ import annotations

import contextvars

from collections.abc import Callable
from typing import Any

from tooldecl import ToolContext, ToolMeta
from tooldecl._context import CallFacts
from tooldecl._isolation import Attempt, Job, Ledger, Place


class Late(list[tuple[Attempt, float]]):
    """
    What was reported to have ended late.
    """

    def __call__(self, attempt: Attempt, late_by: float) -> None:
        self.append((attempt, late_by))


def attempt_of(function: Callable[[], Any], *, timeout: float | None = None) -> Attempt:
    """
    Make an attempt to run *function*.
    """
    facts = CallFacts("call", {})
    facts.meta = ToolMeta(name="work", description="Work.")
    facts.arguments = {}
    attempt = Attempt(
        lambda _values, _context: function(),
        {},
        ToolContext(facts, attempt=1),
        contextvars.copy_context(),
    )
    attempt.timeout = timeout

    return attempt


def job_of(
    function: Callable[[], Any],
    *,
    timeout: float | None = None,
    late: Late | None = None,
    **options: bool,
) -> Job:
    """
    Make a job to run *function*.
    """
    on_late = Late() if late is None else late
    place = Place(ledger=Ledger(), owner="owner", on_late=on_late)

    return Job(attempt_of(function, timeout=timeout), place, **options)
