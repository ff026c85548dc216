"""
The part of the demo where somebody is asked: at the terminal, by a rule, or later.
"""

from __future__ import annotations

import asyncio
import itertools

from collections.abc import Sequence
from dataclasses import replace

from .. import Suspension, ToolCall, ToolClient, ToolRequest
from ..filters import (
    Approval,
    Approved,
    Decision,
    Denied,
    Suspend,
    TerminalApprover,
)
from ._demo_journal import Episode
from ._demo_stage import Stage


SMALL = 50.0  # what the rule lets through
THINKING = 60.0  # seconds that somebody at a terminal has
NOBODY = 0.2  # seconds that are waited for nobody

_NUMBERS = itertools.count(1)


def numbered(calls: Sequence[ToolCall]) -> list[ToolCall]:
    """
    Give calls ids of our own, so that their order can be judged.
    """
    return [replace(call, id=f"demo_{next(_NUMBERS)}") for call in calls]


def small_amounts(request: ToolRequest) -> Decision:
    """
    Approve what is small.
    """
    amount: float = request.arguments["amount"]
    if amount <= SMALL:
        return Approved()

    return Denied(f"{amount:.2f} is more than {SMALL:.2f}.")


async def nobody(request: ToolRequest) -> Decision:
    """
    Never answer, as somebody who has gone home.
    """
    await asyncio.Event().wait()

    return Denied(f"Nobody decides about {request.name}.")


def later(_request: ToolRequest) -> Decision:
    """
    Leave it for tomorrow.
    """
    return Suspend()


def asked_about(stage: Stage) -> Episode:
    """
    Ask at the terminal about a small refund; without one, a rule decides.
    """
    said: list[str] = []
    ask = TerminalApprover(otherwise=small_amounts, tell=said.append)
    approval = Approval(ask, expires=THINKING)
    calls = numbered([_refund(1002, 40.0)])
    with _client(stage, approval) as client:
        results = client.invoke_batch(calls)

    return Episode(
        title="A refund, which is sensitive: whoever sits at the terminal is asked.",
        asked=[call.id or "" for call in calls],
        results=results,
        remark=" ".join(said),
    )


def not_approved(stage: Stage) -> Episode:
    """
    Refuse a refund by the rule, and ask somebody who does not answer.
    """
    rule, silence = Approval(small_amounts), Approval(nobody, expires=NOBODY)
    calls = numbered([_refund(1002, 400.0), _refund(1003, 40.0)])
    with _client(stage, rule, silence) as client:
        results = client.invoke_batch(calls)

    return Episode(
        title=f"A refund that a rule refuses, and one that nobody decides about within "
        f"{NOBODY:g} s.",
        asked=[call.id or "" for call in calls],
        results=results,
    )


def resumed(stage: Stage) -> Episode:
    """
    Let calls wait for tomorrow and for a phone, and go on from JSON in another client.
    """
    calls = numbered([_refund(1001, 49.9), ToolCall("sign", {"order": 1003})])
    ids = [call.id or "" for call in calls]
    with _client(stage, Approval(later)) as client:
        waiting = client.invoke_batch(calls)
    text = "" if waiting.suspension is None else waiting.suspension.to_json()
    # As another process would, which knows the text alone.
    with ToolClient(stage.elsewhere, filters=[Approval(later)]) as client:
        decisions = {ids[0]: Approved(), ids[1]: True}
        done = client.resume(Suspension.from_json(text), decisions)
    words = ", ".join(f"{r.name} {r.status}: {r.content}" for r in done)

    return Episode(
        title="A refund that waits for a decision, and a signature that comes from a "
        "phone.",
        asked=ids,
        results=waiting,
        remark=f"resumed by another client, from {len(text)} characters of JSON: {words}",
    )


def _refund(order: int, amount: float) -> ToolCall:
    return ToolCall("refund", {"order": order, "amount": amount})


def _client(stage: Stage, *approvals: Approval) -> ToolClient:
    return ToolClient(stage.tools.that_wait(), filters=approvals, hooks=[stage.journal])


WAITING = (asked_about, not_approved, resumed)
