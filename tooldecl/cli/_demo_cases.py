"""
The part of the demo that is the same every time: each way in which a call can end.
"""

from __future__ import annotations

import asyncio

from collections.abc import Sequence

from .. import (
    Budget,
    DuplicateToolError,
    ToolCall,
    ToolClient,
    ToolLoop,
    ToolResult,
    Turn,
)
from ..telemetry import Event, Progress
from ..testing import ScriptedModel
from ._demo_journal import Episode, Message
from ._demo_parts import HANGING_ORDER
from ._demo_stage import Stage
from ._demo_tools import ATTEMPTS, PATIENCE, search_the_web
from ._demo_waiting import WAITING, numbered


_HANGING = {"order": HANGING_ORDER}

_NO_PROCESSES = "not shown: this system has no worker processes"


def duplicate(stage: Stage) -> DuplicateToolError | None:
    """
    Build a client with two tools of one name; return its refusal.
    """
    try:
        ToolClient([stage.tools.search_docs, search_the_web])
    except DuplicateToolError as error:
        return error

    return None


def refused_by_the_gate(stage: Stage) -> Episode:
    """
    Let a model make the mistakes that models make, in one turn.
    """
    mistakes = [
        ToolCall("look_up_order", '{"order": 1001, "order": 1002}'),
        ToolCall("look_up_order", {"order": 1001, "colour": "red"}),
        ToolCall("look_up_order", {"order": "1001"}),
        ToolCall("lookup_order", {"order": 1001}),
    ]
    model = ScriptedModel([Turn(calls=mistakes), Turn(text="That is all.")])
    outcome = ToolLoop(stage.shop, model).run("Make four mistakes.")

    return conversation(
        "A key given twice, an invented argument, a wrong type, an unknown tool: "
        "the gate refuses, and no body runs.",
        outcome.messages,
        outcome.results,
    )


def past_the_deadline(stage: Stage) -> Episode:
    """
    Ask about the order that the carrier never answers for, in a thread and in a task.
    """
    return _batch(
        f"The carrier hangs. The limit of {PATIENCE:g} s is declared on both tools; one is "
        "sync, one async.",
        stage.shop,
        [ToolCall("track_parcel", _HANGING), ToolCall("arrival_date", _HANGING)],
    )


def repeated(stage: Stage) -> Episode:
    """
    Count the stock while another program has the database locked: for a while, for good.
    """
    title = (
        f"The database is locked. {ATTEMPTS} attempts are declared; the lock goes "
        "before the last one, then it stays."
    )
    call = [ToolCall("count_stock", {"item": "lamp"})]
    first = _batch(title, stage.shop, call)
    stage.writer.patience = None
    second = _batch(title, stage.shop, call)

    return Episode(
        title=title,
        asked=[*first.asked, *second.asked],
        results=[*first.results, *second.results],
    )


def nothing_to_send(stage: Stage) -> Episode:
    """
    Run bodies that find nothing, that fail, and whose results cannot be sent.
    """
    return _batch(
        "Nothing found, a bug, a result beyond its limit, a result without a JSON form.",
        stage.back_office,
        [
            ToolCall("look_up_order", {"order": 9999}),
            ToolCall("sales_report", {"year": 2030}),
            ToolCall("export_orders"),
            ToolCall("latest_order"),
        ],
    )


def never_started(stage: Stage) -> Episode:
    """
    Use up the time of a batch, then the room of its engine, then trip over a filter.
    """
    title = (
        "The first call uses up its batch's time, and its body stays; then the engine "
        "is full; then a filter fails."
    )
    look_up = ToolCall("look_up_order", {"order": 1001})
    hanging = ToolCall("track_parcel", _HANGING)
    parts = [
        _batch(title, stage.cramped, [hanging, look_up], within=PATIENCE / 2),
        _batch(title, stage.cramped, [look_up]),
        _batch(title, stage.guarded, [look_up]),
    ]

    return Episode(
        title=title,
        asked=[call_id for part in parts for call_id in part.asked],
        results=[result for part in parts for result in part.results],
    )


def over_budget(stage: Stage) -> Episode:
    """
    Give a batch of two calls the budget of one.
    """
    calls = [ToolCall("look_up_order", {"order": order}) for order in (1001, 1002)]

    return _batch(
        "Two calls, and the budget of one.", stage.shop, calls, budget=Budget(calls=1)
    )


def killed_and_abandoned(stage: Stage) -> Episode:
    """
    Compute without end in a thread and in a process, side by side, and crash a library.
    """
    title = (
        "A computation that does not end, on a thread and in a process, side by side; "
        "then a library that crashes its process."
    )
    if stage.heavy is None:
        return Episode(title=title, asked=[], results=[], remark=_NO_PROCESSES)
    thread, process = map(str, stage.notes)
    calls = [
        ToolCall("plan_round", {"stops": 12, "notes": thread}),
        ToolCall("plan_apart", {"stops": 12, "notes": process}),
        ToolCall("scan_label", {"order": 1001}),
    ]

    return _batch(title, stage.heavy, calls)


def cancelled(stage: Stage) -> Episode:
    """
    Cancel the caller of an async tool; the answer goes to the hooks.
    """
    call_id = "cancelled"
    asyncio.run(_cancel(stage, call_id))

    return Episode(
        title="The caller is cancelled while the body waits.",
        asked=[call_id],
        results=stage.journal.answers.get(call_id, []),
    )


async def _cancel(stage: Stage, call_id: str) -> None:
    inside = asyncio.Event()

    def on_progress(event: Event) -> None:
        if isinstance(event, Progress):
            inside.set()

    client = ToolClient([stage.tools.arrival_date], hooks=[stage.journal, on_progress])
    async with client:
        call = asyncio.create_task(
            client.ainvoke("arrival_date", _HANGING, call_id=call_id)
        )
        begun = asyncio.create_task(inside.wait())
        await asyncio.wait({call, begun}, return_when=asyncio.FIRST_COMPLETED)
        for task in (call, begun):
            task.cancel()
        await asyncio.wait({call, begun})


def conversation(
    title: str,
    messages: Sequence[Message],
    results: Sequence[ToolResult],
    remark: str = "",
) -> Episode:
    """
    Note what a loop did.
    """
    return Episode(
        title=title,
        asked=[
            call["id"] for message in messages for call in message.get("tool_calls", ())
        ],
        results=results,
        messages=messages,
        remark=remark,
    )


def _batch(
    title: str,
    client: ToolClient,
    calls: Sequence[ToolCall],
    *,
    within: float | None = None,
    budget: Budget | None = None,
) -> Episode:
    """
    Run a batch under ids of our own, so that their order can be judged.
    """
    named = numbered(calls)

    return Episode(
        title=title,
        asked=[call.id or "" for call in named],
        results=client.invoke_batch(named, within=within, budget=budget),
    )


ALWAYS = (
    refused_by_the_gate,
    past_the_deadline,
    repeated,
    nothing_to_send,
    never_started,
    over_budget,
    *WAITING,
    cancelled,
    killed_and_abandoned,
)
